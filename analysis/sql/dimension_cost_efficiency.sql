-- one row per study and arm: US dollars and tokens per solved trial, by the trials' own results and by their turns;
-- null without a solved trial, and as soon as one trial (or one of its turns) lacks the part
create or replace view dimension_cost_efficiency as
select
    own.study, -- name of the study
    own.arm, -- name of the arm; null: no selector named it
    own.solved, -- trials that count as solved, under the policy of the load
    case
        when own.trials_with_cost = own.trials and own.cost_methods = 1
        then cast(own.cost_usd as double) / nullif(own.solved, 0)
    end as cost_usd_per_solved, -- US dollars of all trials per solved one; null: none solved, one has no cost, or priced in two ways
    case
        when own.trials_with_tokens = own.trials then cast(own.tokens as double) / nullif(own.solved, 0)
    end as tokens_per_solved, -- prompt-side and generated tokens of all trials per solved one; null: none solved, or one was not counted
    case
        when seen.trials_with_turns = own.trials and seen.turns_with_cost = seen.turns
        then cast(seen.cost_usd as double) / nullif(own.solved, 0)
    end as turn_cost_usd_per_solved, -- US dollars of all turns per solved trial; null: none solved, a trial without a turn, or a turn without a cost
    case
        when seen.trials_with_turns = own.trials and seen.turns_with_usage = seen.turns
        then cast(seen.input_tokens + seen.output_tokens + seen.cache_read_tokens + seen.cache_write_tokens as double)
            / nullif(own.solved, 0)
    end as turn_tokens_per_solved -- tokens of all four kinds of all turns per solved trial; null: none solved, a trial without a turn, or a turn without a usage
from arm_trials as own
left join arm_turns as seen
    on seen.study = own.study
    and seen.arm is not distinct from own.arm;
