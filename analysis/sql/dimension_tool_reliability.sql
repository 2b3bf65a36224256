-- one row per study and arm: shares of tool calls that failed and that were refused (error class permission); null
-- without calls, the refusals also while one failure has no class. Retries and interventions are not recorded: null
create or replace view dimension_tool_reliability as
select
    own.study, -- name of the study
    own.arm, -- name of the arm; null: no selector named it
    seen.calls, -- tool calls of the turns that belong to the arm's trials; null: no such turn
    cast(seen.failed_calls as double) / nullif(seen.calls, 0) as failure_rate, -- calls that failed over calls, from 0 to 1; null: no calls
    case
        when coalesce(classes.unclassified, 0) = 0
        then cast(coalesce(classes.refused, 0) as double) / nullif(seen.calls, 0)
    end as refusal_rate, -- calls that failed for want of a permission over calls, from 0 to 1; null: no calls, or a failure without a class
    cast(null as double) as retry_rate, -- null: no turn records what repeats another call
    cast(null as double) as intervention_rate -- null: no turn records what a person did
from arm_trials as own
left join arm_turns as seen
    on seen.study = own.study
    and seen.arm is not distinct from own.arm
left join (
    select
        joined.study,
        joined.arm,
        count(*) filter (where failed.error_class = 'permission') as refused,
        count(*) filter (where failed.error_class is null) as unclassified
    from (
        select study, turn, error_class
        from tool_calls
        where not ok and (error_class is null or error_class = 'permission')
    ) as failed
    join turn_trials as joined
        on joined.study = failed.study
        and joined.turn = failed.turn
    where joined.trial is not null
    group by joined.study, joined.arm
) as classes
    on classes.study = own.study
    and classes.arm is not distinct from own.arm;
