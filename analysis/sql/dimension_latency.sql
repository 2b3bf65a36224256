-- one row per study and arm: wall time of solved trials by nearest rank, milliseconds; null as soon as one lacks it
create or replace view dimension_latency as
select
    study, -- name of the study
    arm, -- name of the arm; null: no selector named it
    count(*) filter (where counts_as = 'solved') as solved, -- trials that count as solved, under the policy of the load
    case
        when count(wall_ms) filter (where counts_as = 'solved') = count(*) filter (where counts_as = 'solved')
        then percentile_disc(0.5) within group (order by wall_ms) filter (where counts_as = 'solved')
    end as wall_ms_p50_solved, -- median milliseconds of the solved trials, nearest rank; null: none solved, or one was not timed
    case
        when count(wall_ms) filter (where counts_as = 'solved') = count(*) filter (where counts_as = 'solved')
        then percentile_disc(0.95) within group (order by wall_ms) filter (where counts_as = 'solved')
    end as wall_ms_p95_solved -- 95th percentile of the same; null: the same
from trials
group by study, arm;
