"""The only place for how a number is written in a report, on a terminal or in a picture.

Rounding may never invent a certainty: what is not exactly 0, 1, 0 % or 100 % is never written so, and a p-value never
crosses its alpha by rounding. None is written "not measured"; NaN and infinities are refused.
"""

import math
from decimal import ROUND_HALF_EVEN, Decimal

NOT_MEASURED = "not measured"
MINUS = "\u2212"
_LEVEL_DIGITS = 3
THIN = "\u202f"  # narrow no-break space: groups of digits stay on one line

Number = Decimal | float | int


class NumberError(ValueError):
    """A value cannot be written: it is not finite, or outside the range that its kind has."""


def percent(proportion: Number | None, *, digits: int = 1) -> str:
    """Write a proportion in [0, 1] as percent: 0.7 is "70.0%".

    Raises:
        NumberError: Outside [0, 1], NaN or infinite.
    """
    if proportion is None:
        return NOT_MEASURED
    exact = _within(proportion, low=0, high=1, kind="proportion") * 100
    step = Decimal(1).scaleb(-digits)
    shown = _rounded(exact, digits)
    if shown == 0 and exact != 0:
        return f"<{step}%"
    if shown == 100 and exact != 100:
        return f">{100 - step}%"
    return f"{shown}%"


def level(proportion: Number) -> str:
    """Write a confidence level: 0.95 is "95%", 0.975 is "97.5%", what planned looks leave of one is "95.374%".

    A level below 1 is never written as 100%, nor one above 0 as 0%.

    Raises:
        NumberError: Outside [0, 1], NaN or infinite.
    """
    exact = _within(proportion, low=0, high=1, kind="level") * 100
    shown = _rounded(exact, _LEVEL_DIGITS)
    return f"{_plain(exact if shown in (0, 100) else shown)}%"


def alpha(value: Number) -> str:
    """Write a significance level: 0.05, and what planned looks leave of one to four figures, 0.04626.

    Raises:
        NumberError: NaN or infinite.
    """
    return f"{_finite(value):.4g}"


def points(difference: Number | None) -> str:
    """Write a difference of proportions in [-1, 1] as percentage points: -0.15 is "−15.0 pp", 0.0925 is "+9.25 pp".

    Raises:
        NumberError: Outside [-1, 1], NaN or infinite.
    """
    if difference is None:
        return NOT_MEASURED
    text = _signed_points(difference)
    return f"{text[:-1] if text.endswith('0') and '.' in text and text[-2] != '.' else text} pp"


def column_points(difference: Number | None) -> str:
    """Write a difference for a column or an interval: always two decimals, no unit."""
    return NOT_MEASURED if difference is None else _signed_points(difference)


def plain(value: Number) -> str:
    """Write a number with the digits that it has: an alpha, for instance.

    Raises:
        NumberError: NaN or infinite.
    """
    return _plain(_finite(value)).replace("-", MINUS)


def signed(value: Number) -> str:
    """Write a number with its sign and the digits that it has, for an axis: "+5", "−2.5", "0"."""
    exact = _finite(value)
    return f"{'+' if exact > 0 else MINUS if exact < 0 else ''}{_plain(abs(exact))}"


def threshold(difference: Number | None) -> str:
    """Write a minimum effect or a margin, a proportion above 0, with the digits that it has: 0.05 is "5 pp"."""
    if difference is None:
        return "not set"
    return f"{_plain(_within(difference, low=0, high=1, kind='threshold') * 100)} pp"


def interval(low: Number, high: Number) -> str:
    """Write an interval of differences: "[−20.83, +12.50] pp".

    Raises:
        NumberError: When an end is outside [-1, 1], NaN or infinite, or the ends are out of order.
    """
    if high < low:
        raise NumberError(f"interval low={low!r} lies above high={high!r}")
    return f"[{_signed_points(low)}, {_signed_points(high)}] pp"


def p_value(p: Number | None, *, alpha: float = 0.05, name: str = "p") -> str:
    """Write a p-value: "p = 0.25", "p = 0.0148", "p < 0.001"; "p = 1" only when it is exactly 1.

    Args:
        p: In [0, 1]; None when there was no test. A 0 can only be an underflow and is written as "< 0.001" too.
        alpha: Digits are added until the written value stands on the same side of alpha as the value itself.
        name: What stands before the sign, for instance "mid-p".

    Raises:
        NumberError: Outside [0, 1], NaN or infinite.
    """
    if p is None:
        return f"{name} {NOT_MEASURED}"
    exact = _within(p, low=0, high=1, kind="p")
    if exact < Decimal("0.001"):
        return f"{name} < 0.001"
    if exact == 1:
        return f"{name} = 1"
    shown = _significant(exact, Decimal(repr(alpha)))
    return f"{name} > 0.999" if shown >= 1 else f"{name} = {_plain(shown)}"


def small_p_value(p: Number | None) -> str | None:
    """Write a p-value below 0.001 in powers of ten, "3.93e-10"; None for every other p-value."""
    if p is None or not 0 < p < 0.001:
        return None
    return f"{p:.2e}"


def count(value: Number | None) -> str:
    """Write a whole number in groups of three: 1904551 is "1 904 551", with narrow spaces.

    Raises:
        NumberError: Negative, fractional, NaN or infinite.
    """
    if value is None:
        return NOT_MEASURED
    exact = _finite(value)
    if exact < 0 or exact != exact.to_integral_value():
        raise NumberError(f"count={value!r} must be a whole number, 0 or more")
    return f"{int(exact):,}".replace(",", THIN)


def share(part: int, whole: int) -> str:
    """Write a count out of a count: "14 of 20"."""
    return f"{count(part)} of {count(whole)}"


def usd(value: Number | None) -> str:
    """Write US dollars: two decimals from 1 dollar on, four below; never "$", which Markdown may read as mathematics.

    Raises:
        NumberError: Negative, NaN or infinite.
    """
    if value is None:
        return NOT_MEASURED
    exact = _finite(value)
    if exact < 0:
        raise NumberError(f"cost_usd={value!r} must be 0 or more")
    if 0 < exact < Decimal("0.0001"):
        return "<0.0001 USD"
    digits = 2 if exact == 0 or exact >= 1 else 4
    return f"{_rounded(exact, digits):,} USD".replace(",", THIN)


def duration(milliseconds: Number | None) -> str:
    """Write a duration: "350 ms", "4.2 s", "2 min 05 s", "1 h 02 min", "3 d 04 h".

    Raises:
        NumberError: Negative, NaN or infinite.
    """
    if milliseconds is None:
        return NOT_MEASURED
    exact = _finite(milliseconds)
    if exact < 0:
        raise NumberError(f"duration_ms={milliseconds!r} must be 0 or more")
    if 0 < exact < 1:
        return "<1 ms"
    if exact < Decimal("999.5"):
        return f"{_rounded(exact, 0)} ms"
    if exact < Decimal(59_950):
        return f"{_rounded(exact / 1000, 1)} s"
    return _long_duration(int(_rounded(exact / 1000, 0)))


def milliseconds(value: Number | None) -> str:
    """Write milliseconds to the microsecond, in groups of three: 1904.5512 is "1 904.551"; a unit stands beside it.

    Raises:
        NumberError: NaN or infinite.
    """
    if value is None:
        return NOT_MEASURED
    exact = _rounded(_finite(value), 3)
    sign = "\u2212" if exact < 0 else ""
    return sign + f"{abs(exact):,.3f}".replace(",", THIN)


def quantity(value: Number | None, unit: str) -> str:
    """Write a value in its unit: proportion (of ...), USD, milliseconds; any other unit stands behind the value.

    Raises:
        NumberError: As the writer of the unit does.
    """
    if value is None:
        return NOT_MEASURED
    match unit.split(" ", maxsplit=1)[0].casefold():
        case "proportion":
            return percent(value)
        case "usd":
            return usd(value)
        case "ms" | "milliseconds":
            return duration(value)
        case _:
            return f"{_figures(_finite(value))} {unit}"


def ratio(value: Number | None) -> str:
    """Write a ratio with three figures, and more where it would seem to be 1 and is not: 0.8126 is "0.813".

    Raises:
        NumberError: Negative, NaN or infinite.
    """
    if value is None:
        return NOT_MEASURED
    exact = _finite(value)
    if exact < 0:
        raise NumberError(f"ratio={value!r} must be 0 or more")
    return _plain(_significant(exact, Decimal(1))) if exact else "0"


def ratio_interval(low: Number | None, high: Number | None) -> str:
    """Write an interval of ratios, open ends in words: "[0.648, 1.02]", "0.57 or more", "any ratio".

    Raises:
        NumberError: When the ends are out of order, or as ratio.
    """
    if low is not None and high is not None:
        if high < low:
            raise NumberError(f"interval low={low!r} lies above high={high!r}")
        return f"[{ratio(low)}, {ratio(high)}]"
    if low is not None:
        return f"{ratio(low)} or more"
    return "any ratio" if high is None else f"{ratio(high)} or less"


def figures(value: Number | None) -> str:
    """Write a number of no special kind with four figures: 20.487 is "20.49", 1234.5 is "1 234".

    Raises:
        NumberError: NaN or infinite.
    """
    return NOT_MEASURED if value is None else _figures(_finite(value))


def signed_figures(value: Number) -> str:
    """Write a number of no special kind with its sign and four figures: 0.12345 is "+0.1235".

    Raises:
        NumberError: NaN or infinite.
    """
    exact = _finite(value)
    return f"{'+' if exact > 0 else ''}{_figures(exact)}" if exact else "0"


def wide_points(difference: Number | None) -> str:
    """Write a difference of differences, in [-2, 2], as percentage points: 1.25 is "+125.00 pp".

    Raises:
        NumberError: Outside [-2, 2], NaN or infinite.
    """
    if difference is None:
        return NOT_MEASURED
    exact = _within(difference, low=-2, high=2, kind="difference") * 100
    shown = _rounded(exact, 2)
    sign = MINUS if exact < 0 else "+"
    if exact == 0:
        return "0.00 pp"
    return f"{'<' if exact > 0 else '>'} {sign}0.01 pp" if shown == 0 else f"{sign}{abs(shown)} pp"


def correlation(value: Number | None) -> str:
    """Write a correlation in [-1, 1] with two decimals; 1 and 0 only when it is exactly that.

    Raises:
        NumberError: Outside [-1, 1], NaN or infinite.
    """
    if value is None:
        return NOT_MEASURED
    exact = _within(value, low=-1, high=1, kind="correlation")
    shown = _rounded(exact, 2)
    sign = MINUS if exact < 0 else "+"
    if exact == 0:
        return "0.00"
    if shown == 0:
        return f"{'<' if exact > 0 else '>'} {sign}0.01"
    if abs(shown) == 1 and abs(exact) != 1:
        return f"{'>' if exact > 0 else '<'} {sign}0.99"
    return f"{sign}{abs(shown)}"


def _figures(exact: Decimal) -> str:
    if exact == exact.to_integral_value() or abs(exact) >= 1000:
        return f"{int(_rounded(exact, 0)):,}".replace(",", THIN).replace("-", MINUS)
    return _plain(_rounded(exact, 3 - exact.adjusted())).replace("-", MINUS)


def _long_duration(seconds: int) -> str:
    minutes = (seconds + 30) // 60
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02d} s"
    if minutes < 24 * 60:
        return f"{minutes // 60} h {minutes % 60:02d} min"
    hours = (minutes + 30) // 60
    return f"{hours // 24} d {hours % 24:02d} h"


def _signed_points(difference: Number) -> str:
    exact = _within(difference, low=-1, high=1, kind="difference") * 100
    shown = _rounded(exact, 2)
    sign = MINUS if exact < 0 else "+"
    if exact == 0:
        return "0.00"
    if shown == 0:
        return f"{'<' if exact > 0 else '>'} {sign}0.01"
    if abs(shown) == 100 and abs(exact) != 100:
        return f"{'>' if exact > 0 else '<'} {sign}99.99"
    return f"{sign}{abs(shown)}"


def _significant(exact: Decimal, alpha: Decimal) -> Decimal:
    for figures in range(3, 17):
        shown = _rounded(exact, figures - 1 - exact.adjusted())
        if (shown <= alpha) == (exact <= alpha) and (shown == alpha) == (exact == alpha):
            return shown
    return exact


def _rounded(exact: Decimal, digits: int) -> Decimal:
    return exact.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_EVEN)


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _finite(value: Number) -> Decimal:
    if isinstance(value, float) and not math.isfinite(value):
        raise NumberError(f"{value!r} is not a number that can be written")
    # repr, not the binary expansion: 0.285 is the number that was meant, not 0.28499999...
    exact = value if isinstance(value, Decimal) else Decimal(repr(float(value)) if isinstance(value, float) else value)
    if not exact.is_finite():
        raise NumberError(f"{value!r} is not a number that can be written")
    return exact


def _within(value: Number, *, low: int, high: int, kind: str) -> Decimal:
    exact = _finite(value)
    if not low <= exact <= high:
        raise NumberError(f"{kind}={value!r} must lie in [{low}, {high}]")
    return exact
