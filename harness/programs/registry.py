"""The only place that knows which program starts which harness."""

from harness.kinds import Harness
from harness.programs.folders import part
from harness.programs.program import Program

PROGRAMS: dict[Harness, Program] = {harness: part(harness, "launch").PROGRAM for harness in Harness}
