-- one row per study and arm: what no recorder of turns or trials writes down; null until evidence of it is loaded
create or replace view dimension_safety as
select
    study, -- name of the study
    arm, -- name of the arm; null: no selector named it
    cast(null as double) as policy_violations_per_trial, -- null: not recorded
    cast(null as double) as unauthorized_effects_per_trial, -- null: not recorded
    cast(null as double) as false_positive_block_rate -- null: not recorded
from arm_trials;
