"""The only place that finds the folder of a harness: a harness is its name in `harness.kinds` and one folder.

A folder holds the parts launch, reducer, capability, facts, vocabulary and script; what a registry gathers it finds by
this rule, so that a further harness changes no registry.
"""

from importlib import import_module
from types import ModuleType

from harness.kinds import Harness


def part(harness: Harness, name: str) -> ModuleType:
    """Return a part of a harness's folder.

    Raises:
        ModuleNotFoundError: When the folder, or this part of it, is not there.
    """
    return import_module(f"harness.programs.{harness.value.replace('-', '_')}.{name}")
