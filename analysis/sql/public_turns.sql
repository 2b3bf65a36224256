-- one row per turn without what tells who or where: no session id, file, line or instant; a name only when the privacy
-- scan found nothing in it
create or replace view public_turns as
select
    case when study.public then turns.study else '[withheld]' end as study, -- name of the study, or [withheld]
    case when turns.arm is null then null when arm.public then turns.arm else '[withheld]' end as arm, -- arm of the turn's trial, or [withheld]; null: no trial declares its session, or no selector named one
    sessions.session, -- number of the session within the study, from 1
    turns.turn_index,
    case when turns.provider is null then null when provider.public then turns.provider else '[withheld]' end as provider, -- provider as recorded, or [withheld]; null: not recorded
    case when turns.model is null then null when model.public then turns.model else '[withheld]' end as model, -- model as recorded, or [withheld]; null: not recorded
    turns.duration_ms,
    turns.first_chunk_ms,
    turns.input_tokens,
    turns.output_tokens,
    turns.cache_read_tokens,
    turns.cache_write_tokens,
    turns.cost_usd,
    turns.stop_reason,
    turns.calls,
    turns.failed_calls,
    turns.compacted,
    turns.failovers,
    turns.plan_hit
from turn_trials as turns
join (
    select study, session_id, row_number() over (partition by study order by min(turn)) as session
    from turns
    group by study, session_id
) as sessions
    on sessions.study = turns.study
    and sessions.session_id = turns.session_id
left join turn_names as study
    on study.study = turns.study
    and study.name = turns.study
left join turn_names as arm
    on arm.study = turns.study
    and arm.name = turns.arm
left join turn_names as provider
    on provider.study = turns.study
    and provider.name = turns.provider
left join turn_names as model
    on model.study = turns.study
    and model.name = turns.model;
