-- one row per study and arm: what no recorder of turns or trials writes down; null until evidence of it is loaded
create or replace view dimension_maintainability as
select
    study, -- name of the study
    arm, -- name of the arm; null: no selector named it
    cast(null as double) as complexity, -- null: not recorded
    cast(null as double) as module_size_debt, -- null: not recorded
    cast(null as double) as gate_health -- null: not recorded
from arm_trials;
