-- one statement per table of turn metrics; every column says its unit or meaning, every nullable column why it may be null

-- one row per turns file of a study, whatever its name is today
create table if not exists turn_files (
    study varchar not null,             -- name of the study
    file integer not null,              -- number of the file within the study, from 1; it stays when the file is renamed
    place varchar not null,             -- place inside the study where the file was seen last
    start_bytes integer not null,       -- bytes under start_digest, at most 65,536
    start_digest varchar not null,      -- SHA-256 of the first bytes, by which the file is known again
    loaded_bytes bigint not null,       -- bytes of (unpacked) whole lines that were read
    end_digest varchar not null,        -- SHA-256 of the up to 4,096 bytes before loaded_bytes
    lines bigint not null,              -- whole lines that were read, blank and malformed ones included
    open_bytes bigint not null,         -- bytes behind them that were read as a line without its line feed; they are read again
    old_turns bigint not null           -- turns of version 1: the file wants review before it is shared
);

-- one row per accepted turn line
create table if not exists turns (
    study varchar not null,             -- name of the study
    turn bigint not null,               -- number of the turn within the study, from 0; it orders nothing
    file integer not null,              -- file that holds the line
    line bigint not null,               -- line of the file, from 1
    version tinyint not null,           -- version of the line's schema: 1 or 2
    session_id varchar not null,        -- session; metadata, not anonymised
    turn_index bigint not null,         -- number of the turn within its session, as recorded
    provider varchar,                   -- provider as recorded; null: not recorded
    model varchar,                      -- model as recorded; null: not recorded
    started_at_epoch_ms double not null, -- start, milliseconds since 1970-01-01 UTC by the recorder's clock
    ended_at_epoch_ms double not null,  -- end, milliseconds since 1970-01-01 UTC by the recorder's clock
    duration_ms double not null,        -- milliseconds from start to end; 0 where the end lies before the start
    first_chunk_ms double,              -- milliseconds to the first chunk of the answer; null: not recorded
    input_tokens bigint,                -- prompt tokens that no cache held; null: usage not recorded
    output_tokens bigint,               -- generated tokens; null: usage not recorded
    cache_read_tokens bigint,           -- prompt tokens read from a cache; null: usage not recorded
    cache_write_tokens bigint,          -- prompt tokens written to a cache; null: usage not recorded
    cost_usd decimal(18, 9),            -- US dollars to the nano-dollar; null: usage not recorded, or 10^9 dollars and more
    stop_reason varchar,                -- stop, length, toolUse, error or aborted; null: not recorded
    calls integer not null,             -- tool calls of the turn
    failed_calls integer not null,      -- the part of calls that failed
    compacted boolean,                  -- whether the context was compacted in this turn; null: not recorded
    failovers bigint,                   -- provider failovers in this turn; null: not recorded
    plan_hit boolean,                   -- whether the prompt's plan was in the context cache; null: not recorded
    cache_hits bigint,                  -- hits of the context cache; null: not recorded
    cache_misses bigint,                -- misses of the context cache; null: not recorded
    requested_model varchar,            -- model asked for; null: no trusted provenance
    selected_model varchar,             -- model selected; null: no trusted provenance
    response_model varchar,             -- model that answered; null: no trusted provenance
    requested_thinking varchar,         -- thinking level asked for; null: no trusted provenance
    effective_thinking varchar          -- thinking level used; null: no trusted provenance
);

-- one row per tool call of a turn
create table if not exists tool_calls (
    study varchar not null,             -- name of the study
    turn bigint not null,               -- number of the turn that made the call
    call integer not null,              -- place of the call within its turn, from 0
    tool varchar not null,              -- name of the tool
    duration_ms double not null,        -- milliseconds that the call took
    ok boolean not null,                -- whether the call succeeded
    error_class varchar                 -- timeout, aborted, permission, not_found, invalid_input or unknown; null: it succeeded, or no class was recorded
);

-- one row per malformed line
create table if not exists turn_rejects (
    study varchar not null,             -- name of the study
    file integer not null,              -- file that holds the line
    line bigint not null,               -- line of the file, from 1
    reason varchar not null             -- the field and the rule, in words of ours; never a value of the line
);

-- one row per session that a trial's own documents declare
create table if not exists trial_sessions (
    study varchar not null,             -- name of the study
    trial varchar not null,             -- identity of the trial
    session_id varchar not null,        -- session that the trial's own documents declare
    declared_by varchar not null,       -- document that says so: result, trajectory or task
    joins boolean not null              -- no other trial declares it; only then do its turns belong to the trial
);

-- one row per name that the public views ask for: of the study, its arms, and the providers, models and tools of its turns
create table if not exists turn_names (
    study varchar not null,             -- name of the study
    name varchar not null,              -- the name
    public boolean not null             -- the privacy scan finds nothing in it; else it is withheld from public views
);
