"""The only place for the options that ask for more than the plan holds: axes, floors, a seed, further rows."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from analysis.frontier import Bound
    from analysis.secondary import Wishes

_FLOOR = re.compile(r"(?P<axis>[a-z][a-z0-9_]*)(?P<sign>>=|<=)(?P<value>[0-9.eE+-]+)")
_EPSILON = re.compile(r"(?P<axis>[a-z][a-z0-9_]*)=(?P<value>[0-9.eE+-]+)")
_LARGEST_SEED = 2**32 - 1
# Rows of the sensitivity table that take long enough to be asked for.
_ON_REQUEST = ("model",)


def wish_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a verb."""
    options = (
        click.option("--axis", "axes", multiple=True, metavar="NAME", help="Axis of the frontier; repeat for more."),
        click.option(
            "--floor", "floors", multiple=True, metavar="AXIS>=X", help="Bound that an arm must meet: >= or <=."
        ),
        click.option(
            "--epsilon", "epsilons", multiple=True, metavar="AXIS=X", help="Smallest difference on it that matters."
        ),
        click.option(
            "--sensitivity", multiple=True, type=click.Choice(_ON_REQUEST), help="Add a row that takes longer."
        ),
        click.option(
            "--seed",
            type=click.IntRange(0, _LARGEST_SEED),
            help="Seed of resampling; default: the plan's, or 1 without a plan.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def wishes_of(options: Mapping[str, Any]) -> "Wishes":
    """Gather the options.

    Raises:
        click.BadParameter: For a floor or an epsilon that cannot be read, for an axis or an epsilon that is given
            twice, and for an epsilon of an axis that is not among those given.
    """
    from analysis.secondary import Wishes

    axes, epsilons = tuple(options["axes"]), tuple(_epsilon(text) for text in options["epsilons"])
    _once(axes, "--axis")
    _once([axis for axis, _ in epsilons], "--epsilon")
    for axis, _ in epsilons:
        if axes and axis not in axes:
            raise click.BadParameter(f"{axis!r} is not among the axes: {', '.join(axes)}", param_hint="--epsilon")
    return Wishes(
        axes=axes,
        floors=tuple(_floor(text) for text in options["floors"]),
        epsilons=epsilons,
        sensitivity=tuple(options["sensitivity"]),
        seed=options["seed"],
    )


def _once(axes: Sequence[str], option: str) -> None:
    twice = sorted({axis for axis in axes if axes.count(axis) > 1})
    if twice:
        raise click.BadParameter(f"{', '.join(twice)}: given twice; give each axis once", param_hint=option)


def wish_words(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the options as they are typed."""
    for name in ("axes", "floors", "epsilons", "sensitivity"):
        for text in options.get(name, ()):
            yield from (_SPELLED[name], text)
    if options.get("seed") is not None:
        yield from ("--seed", str(options["seed"]))


_SPELLED = {"axes": "--axis", "floors": "--floor", "epsilons": "--epsilon", "sensitivity": "--sensitivity"}


def _floor(text: str) -> "Bound":
    from analysis.frontier import Bound

    found = _FLOOR.fullmatch(text)
    if found is None:
        raise click.BadParameter(f"{text!r}: expected AXIS>=NUMBER or AXIS<=NUMBER", param_hint="--floor")
    value = _number(found["value"], text, "--floor")
    return Bound(
        axis=found["axis"],
        at_least=value if found["sign"] == ">=" else None,
        at_most=value if found["sign"] == "<=" else None,
    )


def _epsilon(text: str) -> tuple[str, float]:
    found = _EPSILON.fullmatch(text)
    if found is None:
        raise click.BadParameter(f"{text!r}: expected AXIS=NUMBER", param_hint="--epsilon")
    return found["axis"], _number(found["value"], text, "--epsilon")


def _number(value: str, text: str, option: str) -> float:
    try:
        return float(value)
    except ValueError as fault:
        raise click.BadParameter(f"{text!r}: {value!r} is no number", param_hint=option) from fault
