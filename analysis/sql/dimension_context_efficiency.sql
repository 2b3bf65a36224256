-- one row per study and arm: tokens and compactions per solved trial, from the turns of every trial of the arm; null as
-- soon as one trial has no joined turn or one turn lacks the part. Turn lines do not record tool output: null
create or replace view dimension_context_efficiency as
select
    own.study, -- name of the study
    own.arm, -- name of the arm; null: no selector named it
    own.solved, -- trials that count as solved, under the policy of the load
    case when whole then cast(input_tokens as double) / nullif(own.solved, 0) end as input_tokens_per_solved, -- prompt tokens that no cache held, per solved trial; null: none solved, a trial without a turn, or a turn without a usage
    case when whole then cast(cache_read_tokens as double) / nullif(own.solved, 0) end as cache_read_tokens_per_solved, -- prompt tokens read from a cache, per solved trial; null: the same
    case when whole then cast(cache_write_tokens as double) / nullif(own.solved, 0) end as cache_write_tokens_per_solved, -- prompt tokens written to a cache, per solved trial; null: the same
    case
        when seen.trials_with_turns = own.trials and seen.turns_with_compaction_known = seen.turns
        then cast(seen.compactions as double) / nullif(own.solved, 0)
    end as compactions_per_solved, -- turns with a compaction, per solved trial; null: none solved, a trial without a turn, or a turn that does not say
    cast(null as double) as tool_output_tokens_per_solved -- null: no turn records the size of tool outputs
from arm_trials as own
left join (
    select *, turns_with_usage = turns as whole_usage from arm_turns
) as seen
    on seen.study = own.study
    and seen.arm is not distinct from own.arm
cross join lateral (
    select seen.trials_with_turns = own.trials and seen.whole_usage as whole
);
