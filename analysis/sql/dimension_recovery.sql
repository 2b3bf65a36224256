-- one row per study and arm: mean over repeated tasks of the sample variance of solved; null where no task was attempted
-- twice. Whether an interrupted run resumed rightly is not recorded: null
create or replace view dimension_recovery as
select
    study, -- name of the study
    arm, -- name of the arm; null: no selector named it
    count(*) filter (where attempts > 1) as repeated_tasks, -- tasks attempted at least twice
    avg(variance order by task) filter (where attempts > 1) as repeated_run_variance, -- mean over those of the sample variance of solved (1) and not solved (0); null: no such task
    cast(null as double) as resume_accuracy -- null: no trial records whether it was resumed rightly
from (
    select
        study,
        arm,
        task,
        count(*) as attempts,
        cast(count(*) filter (where counts_as = 'solved') * count(*) filter (where counts_as <> 'solved') as double)
            / nullif(count(*) * (count(*) - 1), 0) as variance
    from trials
    group by study, arm, task
)
group by study, arm;
