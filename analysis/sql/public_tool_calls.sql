-- one row per study, arm and tool: calls, failures and durations in milliseconds; a name only when the privacy scan
-- found nothing in it
create or replace view public_tool_calls as
select
    case when any_value(study.public) then calls.study else '[withheld]' end as study, -- name of the study, or [withheld]
    case when turns.arm is null then null when any_value(arm.public) then turns.arm else '[withheld]' end as arm, -- arm of the calls' trials, or [withheld]; null: no trial declares the session, or no selector named one
    case when tool.public then calls.tool else '[withheld]' end as tool, -- name of the tool, or [withheld]
    count(*) as calls, -- calls of it
    count(*) filter (where not calls.ok) as failures, -- the part of calls that failed
    percentile_disc(0.5) within group (order by calls.duration_ms) as duration_ms_p50, -- median milliseconds of a call, nearest rank
    percentile_disc(0.95) within group (order by calls.duration_ms) as duration_ms_p95, -- 95th percentile of the same
    case
        when count(try_cast(calls.duration_ms as decimal(28, 3))) = count(*)
        then sum(try_cast(calls.duration_ms as decimal(28, 3)))
    end as duration_ms_sum -- milliseconds of all of them; null: one took 10^25 and more
from tool_calls as calls
join turn_trials as turns
    on turns.study = calls.study
    and turns.turn = calls.turn
left join turn_names as study
    on study.study = calls.study
    and study.name = calls.study
left join turn_names as arm
    on arm.study = calls.study
    and arm.name = turns.arm
left join turn_names as tool
    on tool.study = calls.study
    and tool.name = calls.tool
group by calls.study, turns.arm, case when tool.public then calls.tool else '[withheld]' end;
