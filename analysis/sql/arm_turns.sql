-- one row per study and arm with joined turns: sums, and how many turns carried each part
create or replace view arm_turns as
select
    study, -- name of the study
    arm, -- name of the arm; null: no selector named it
    count(distinct trial) as trials_with_turns, -- trials that at least one turn belongs to
    count(*) as turns, -- turns of those
    count(input_tokens) as turns_with_usage, -- turns that recorded their tokens
    sum(input_tokens) as input_tokens, -- prompt tokens that no cache held; null: no usage recorded
    sum(output_tokens) as output_tokens, -- generated tokens; null: no usage recorded
    sum(cache_read_tokens) as cache_read_tokens, -- prompt tokens read from a cache; null: no usage recorded
    sum(cache_write_tokens) as cache_write_tokens, -- prompt tokens written to a cache; null: no usage recorded
    count(cost_usd) as turns_with_cost, -- turns that recorded their cost
    sum(cost_usd) as cost_usd, -- US dollars; null: no cost recorded
    count(compacted) as turns_with_compaction_known, -- turns that say whether the context was compacted
    count(*) filter (where compacted) as compactions, -- turns in which it was
    sum(calls) as calls, -- tool calls
    sum(failed_calls) as failed_calls -- the part of calls that failed
from turn_trials
where trial is not null
group by study, arm;
