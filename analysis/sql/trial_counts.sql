-- one row per arm and task: trials, solved, ungraded, and sums that are null as soon as one part is unknown
create or replace view trial_counts as
select
    study, -- name of the study
    arm, -- name of the arm
    task, -- public task name
    count(*) as trials, -- trials of the arm on the task
    count(*) filter (where counts_as = 'solved') as solved, -- trials that count as solved, under the policy of the load
    count(*) filter (where counts_as = 'excludes_task') as excluding, -- trials that exclude the task, under the policy of the load
    count(*) filter (where outcome = 'ungraded') as ungraded, -- trials without a grade
    count(*) filter (where exception_type is not null) as errored, -- trials with a recorded exception
    case
        when count(cost_usd) = count(*) and count(distinct cost_method) <= 1 then sum(cost_usd)
    end as cost_usd, -- US dollars of all of them; null: one has no cost, or they were priced in two ways
    case when count(input_tokens) = count(*) then sum(input_tokens) end as input_tokens, -- prompt-side tokens of all of them; null: one was not counted
    case when count(output_tokens) = count(*) then sum(output_tokens) end as output_tokens, -- generated tokens of all of them; null: one was not counted
    case when count(wall_ms) = count(*) then sum(wall_ms order by trial) end as wall_ms, -- milliseconds of all of them; null: one was not recorded
    list_sort(list(distinct exception_type) filter (where exception_type is not null)) as exceptions -- classes of the recorded exceptions, sorted; null: none
from trials
where arm is not null
group by study, arm, task;
