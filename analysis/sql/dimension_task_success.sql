-- one row per study and arm: solved trials and the share of trials that are solved
create or replace view dimension_task_success as
select
    study, -- name of the study
    arm, -- name of the arm; null: no selector named it
    trials, -- trials of the arm
    solved, -- trials that count as solved, under the policy of the load
    cast(solved as double) / trials as pass_rate -- solved over trials, from 0 to 1
from arm_trials;
