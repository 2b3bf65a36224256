"""The only place that reads two arms' wall clocks off audited trials; the numbers are those of `evenhand timing`."""

from collections.abc import Iterator, Sequence

from analysis.arm_clocks import ArmClock, ArmClocks
from analysis.audit import AuditedTrials
from analysis.evidence.timed_run import TimedEvidence, TimedTrial
from analysis.timed_rows import trial_key
from analysis.timing import DEFAULT_MAX_RESIDUAL_PCT, ArmTiming, arm_timings, comparison_notes, gate
from manifests.finding import Finding

CAPPED = "turn_cap_reached"


def timed_of(audited: AuditedTrials, arm: str) -> tuple[TimedTrial, ...]:
    """Return the timed runs among an arm's trials."""
    own = {item.trial.trial_id for item in audited.of(arm)}
    return tuple(trial for trial in audited.timed if trial_key(trial) in own)


def measure_arm_clocks(audited: AuditedTrials, *, treatment: str, control: str) -> ArmClocks | None:
    """Return where both arms' wall clocks went; None when no runner timed either."""
    sides = (("treatment", treatment), ("control", control))
    measured: list[ArmTiming] = []
    clocks: list[ArmClock] = []
    for side, arm in sides:
        trials = timed_of(audited, arm)
        for timing in arm_timings(TimedEvidence(trials=trials)):
            own = [one for one in trials if (one.arm, one.harness) == (timing.arm, timing.harness)]
            measured.append(timing)
            clocks.append(_clock(timing, own, side=side, arm=arm))
    if not clocks:
        return None
    untimed = [arm for side, arm in sides if not any(clock.side == side for clock in clocks)]
    return ArmClocks(
        arms=tuple(clocks),
        one_harness=len({clock.harness for clock in clocks}) == 1 and not untimed,
        max_residual_pct=DEFAULT_MAX_RESIDUAL_PCT,
        notes=(*comparison_notes(measured), *(f"{arm}: no runner timed its turns" for arm in untimed)),
    )


def _clock(timing: ArmTiming, trials: Sequence[TimedTrial], *, side: str, arm: str) -> ArmClock:
    verdict = gate(TimedEvidence(trials=tuple(trials)), max_residual_pct=DEFAULT_MAX_RESIDUAL_PCT)
    at_once = [trial.at_once for trial in trials if trial.at_once is not None]
    return ArmClock(
        side=side,
        arm=arm,
        recorded_as=timing.arm,
        harness=timing.harness,
        attempts=timing.trials,
        turns=timing.turns,
        buckets=timing.buckets,
        to_first_delta_first=timing.to_first_delta_first,
        to_first_delta_later=timing.to_first_delta_later,
        cap_units=timing.cap_units,
        cap_limits=timing.cap_limits,
        cap_unit_sources=tuple(
            sorted({trial.cap_unit_source.value for trial in trials if trial.cap_limit is not None})
        ),
        capped=timing.capped,
        cap_flagged=timing.cap_flagged,
        jobs=tuple(sorted({trial.jobs for trial in trials if trial.jobs is not None})),
        at_once=max(at_once, default=None),
        gated=verdict.gated,
        beyond=len(verdict.beyond),
        disagreeing=len(verdict.disagreeing),
        simulated=sum(trial.simulated for trial in trials),
        notes=timing.notes,
    )


def clock_findings(clocks: ArmClocks | None) -> Iterator[Finding]:
    """Yield each arm whose turn cap shapes the result: more than 5 percent of its attempts ended at it."""
    for clock in clocks.arms if clocks else ():
        if clock.cap_flagged:
            units = "/".join(unit.replace("_", " ") for unit in clock.cap_units) or "an unknown unit"
            limits = "/".join(map(str, clock.cap_limits)) or "not recorded"
            detail = f"{clock.capped} of {clock.attempts} attempts ended at the turn cap ({limits}, counted in {units})"
            yield Finding(code=CAPPED, arm=clock.arm, detail=detail)
