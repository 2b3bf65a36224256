-- one row per study and arm: time in which at least one turn of a trial ran, per solved trial, and the turns' own time
-- over it; null as soon as one trial has no joined turn, or a turn of 10^25 milliseconds and more. What was done twice is not recorded: null
create or replace view dimension_orchestration as
with joined as (
    select study, arm, trial, session_id, started_at_epoch_ms as start_ms, started_at_epoch_ms + duration_ms as end_ms
    from turn_trials
    where trial is not null
),
-- The turns of one session follow each other; only sessions whose times overlap run side by side.
spans as (
    select study, trial, session_id, min(start_ms) as start_ms, max(end_ms) as end_ms
    from joined
    group by study, trial, session_id
),
several as (
    select distinct study, trial
    from spans
    qualify
        start_ms < max(end_ms) over (
            partition by study, trial
            order by start_ms, end_ms
            rows between unbounded preceding and 1 preceding
        )
),
busy as (
    select
        study,
        trial,
        greatest(
            0,
            end_ms - greatest(
                start_ms,
                coalesce(
                    max(end_ms) over (
                        partition by study, trial
                        order by start_ms, end_ms
                        rows between unbounded preceding and 1 preceding
                    ),
                    start_ms
                )
            )
        ) as new_ms
    from joined
    semi join several using (study, trial)
),
paths as (
    select study, trial, sum(try_cast(new_ms as decimal(28, 3))) as path_ms
    from busy
    group by study, trial
),
sums as (
    select
        study,
        arm,
        trial,
        case
            when count(try_cast(end_ms - start_ms as decimal(28, 3))) = count(*)
            then sum(try_cast(end_ms - start_ms as decimal(28, 3)))
        end as turn_ms
    from joined
    group by study, arm, trial
),
arms as (
    select
        sums.study,
        sums.arm,
        count(sums.turn_ms) as trials_with_turns,
        sum(coalesce(paths.path_ms, sums.turn_ms)) as path_ms,
        sum(sums.turn_ms) as turn_ms
    from sums
    left join paths using (study, trial)
    group by sums.study, sums.arm
)
select
    own.study, -- name of the study
    own.arm, -- name of the arm; null: no selector named it
    own.solved, -- trials that count as solved, under the policy of the load
    case
        when arms.trials_with_turns = own.trials then cast(arms.path_ms as double) / nullif(own.solved, 0)
    end as critical_path_ms_per_solved, -- milliseconds in which at least one turn of a trial ran, per solved trial; null: none solved, or a trial without a turn
    case
        when arms.trials_with_turns = own.trials then cast(arms.turn_ms as double) / nullif(cast(arms.path_ms as double), 0)
    end as useful_concurrency, -- milliseconds of all turns over those; 1: never two at once; null: a trial without a turn, or no time passed
    cast(null as double) as duplicate_work -- null: no turn records what was done twice
from arm_trials as own
left join arms
    on arms.study = own.study
    and arms.arm is not distinct from own.arm;
