-- one row per arm: totals beside the number of trials that know each part; an unknown part makes the sum unknown,
-- and prices of different methods have no sum
create or replace view trial_cost as
select
    study, -- name of the study
    arm, -- name of the arm
    count(*) as trials, -- trials of the arm
    count(*) filter (where counts_as = 'solved') as solved, -- trials that count as solved, under the policy of the load
    count(*) filter (where outcome = 'ungraded') as ungraded, -- trials without a grade
    count(*) filter (where exception_type is not null) as errored, -- trials with a recorded exception
    count(cost_usd) as cost_usd_known, -- trials that have a cost
    case when count(distinct cost_method) <= 1 then sum(cost_usd) end as cost_usd_sum, -- US dollars of those; null: none has a cost, or they were priced in two ways
    count(input_tokens) as input_tokens_known, -- trials whose prompt-side tokens were counted
    sum(input_tokens) as input_tokens_sum, -- prompt-side tokens of those, cache reads included; null: none
    count(cache_tokens) as cache_tokens_known, -- trials whose cache reads were counted
    sum(cache_tokens) as cache_tokens_sum, -- tokens read from a cache by those; null: none
    count(output_tokens) as output_tokens_known, -- trials whose generated tokens were counted
    sum(output_tokens) as output_tokens_sum, -- generated tokens of those; null: none
    count(wall_ms) as wall_ms_known, -- trials with a start and an end
    sum(wall_ms order by trial) as wall_ms_sum, -- milliseconds from start to end of those; null: none
    count(agent_ms) as agent_ms_known, -- trials whose agent was timed
    sum(agent_ms order by trial) as agent_ms_sum, -- milliseconds of the agents' execution of those; null: none
    list_sort(list(distinct cost_method) filter (where cost_method is not null)) as cost_methods, -- who priced the trials, sorted; null: no cost is known
    list_sort(list(distinct concat_ws(' ', agent, agent_version))) as harness -- names and versions of the agents, sorted
from trials
where arm is not null
group by study, arm;
