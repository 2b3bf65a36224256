-- one row per study and arm: trials and solved trials; the arm is null where no selector named one
create or replace view arm_trials as
select
    study, -- name of the study
    arm, -- name of the arm; null: no selector named it
    count(*) as trials, -- trials of the arm
    count(*) filter (where counts_as = 'solved') as solved, -- trials that count as solved, under the policy of the load
    count(cost_usd) as trials_with_cost, -- trials that have a cost
    count(distinct cost_method) as cost_methods, -- in how many ways they were priced
    sum(cost_usd) as cost_usd, -- US dollars of the trials that have a cost; null: none
    count(input_tokens + output_tokens) as trials_with_tokens, -- trials whose prompt-side and generated tokens were counted
    sum(input_tokens + output_tokens) as tokens -- prompt-side and generated tokens of those; null: none
from trials
group by study, arm;
