"""The only place for what a usable sample is: every statistic checks its arrays here, so a bad value has one answer."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

# Products of two checked values must stay inside a signed 64-bit integer.
LARGEST_WHOLE_NUMBER = 2**31 - 1


class SampleError(ValueError):
    """The data or an argument cannot be used; the message names the value."""


def whole_numbers(values: IntArray | Sequence[int], *, name: str, minimum: int | None = None) -> IntArray:
    """Return the values as a one-dimensional integer array.

    Floating-point numbers are refused even when they are whole: ties that decide an exact p-value are lost in them.

    Args:
        values: Shape (n,), n >= 1.
        name: What the caller calls them, for the message.
        minimum: Smallest value allowed; None for no bound.

    Raises:
        SampleError: No value, more than one dimension, anything but integers, or a value out of range.
    """
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0:
        raise SampleError(f"{name} has shape {array.shape}, expected (n,) with n >= 1")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        i = int(np.argmin(np.isfinite(array)))
        raise SampleError(f"{name}[{i}]={array[i]} must be finite")
    if array.dtype.kind not in "iu":
        raise SampleError(f"{name}[0]={array[0]!r} is of type {array.dtype}, expected integers")
    low = -LARGEST_WHOLE_NUMBER if minimum is None else max(minimum, -LARGEST_WHOLE_NUMBER)
    # Compared as Python integers, which an unsigned or a smallest value cannot overflow.
    if int(array.min()) < low or int(array.max()) > LARGEST_WHOLE_NUMBER:
        i = next(at for at, value in enumerate(array.tolist()) if not low <= value <= LARGEST_WHOLE_NUMBER)
        raise SampleError(f"{name}[{i}]={array[i]} must lie in {low}..{LARGEST_WHOLE_NUMBER}")
    return array.astype(np.int64)


def finite_numbers(
    values: FloatArray | Sequence[float], *, name: str, low: float = -np.inf, high: float = np.inf
) -> FloatArray:
    """Return the values as a one-dimensional array of finite numbers.

    Args:
        values: Shape (n,), n >= 1.
        name: What the caller calls them, for the message.
        low: Smallest value allowed.
        high: Largest value allowed.

    Raises:
        SampleError: No value, more than one dimension, booleans, text, NaN, an infinity, or a value out of range.
    """
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0:
        raise SampleError(f"{name} has shape {array.shape}, expected (n,) with n >= 1")
    if array.dtype.kind not in "iuf":
        raise SampleError(f"{name}[0]={array[0]!r} is of type {array.dtype}, expected numbers")
    array = array.astype(np.float64)
    bad = ~np.isfinite(array) | (array < low) | (array > high)
    if bad.any():
        i = int(np.argmax(bad))
        raise SampleError(f"{name}[{i}]={array[i]} must be finite and lie in [{low:g}, {high:g}]")
    return array


def open_unit(value: float, *, name: str) -> float:
    """Return a level or alpha that lies strictly between 0 and 1.

    Raises:
        SampleError: It does not.
    """
    # A comparison with NaN is false, so this form refuses it too.
    if isinstance(value, bool) or not 0 < value < 1:
        raise SampleError(f"{name}={value!r} must lie strictly between 0 and 1")
    return float(value)


def same_length(**arrays: NDArray[np.int64] | NDArray[np.float64]) -> None:
    """Check that arrays which run over the same tasks have the same length.

    Raises:
        SampleError: They do not.
    """
    lengths = {name: array.size for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name}: {size}" for name, size in lengths.items())
        raise SampleError(f"arrays differ in length ({found}), expected one value per task in each")
