-- one statement per table of timed runs; times inside a turn count from the turn's earliest recorded stamp

-- one row per timed trial
create table if not exists timed_trials (
    study varchar not null,                      -- name of the study
    trial_id varchar not null,                   -- identity of the trial, that of the table trials
    location varchar not null,                   -- place of the task document inside the study, relative and posix
    layout varchar not null,                     -- coder_eval | coder_eval_legacy | evenhand_harness
    arm varchar not null,                        -- the recorder's variant
    harness varchar not null,                    -- the recorder's agent type; an open set of words
    task varchar not null,                       -- public task name
    attempt integer,                             -- replicate from 0; null when the layout has none
    model varchar,                               -- model label; null when not recorded
    started_at varchar,                          -- as recorded, ISO 8601; without a zone it is the recorder's local time; null when absent
    duration_ms double,                          -- whole attempt, wall; null when not timed (a recorded 0 is not a time)
    setup_ms double,                             -- before the agent phase; coder_eval includes version probing (about 733 ms), ours does not; null
    grading_ms double,                           -- sum of all criteria checks; null when ungraded
    retry_wait_ms double,                        -- waits between a failed turn and its repetition; null where the recorder does not say
    probe_ms double,                             -- version probing that this attempt paid for; null where nobody took it
    agent_wall_ms double,                        -- sum of the turns' positive durations; null when no turn has one
    unaccounted_ms double,                       -- duration - setup - grading - retry waits - probing - the turns' buckets; null without a duration
    final_status varchar,                        -- the recorder's word; an open set; null when absent
    category varchar,                            -- succeeded | failed | error | ungraded; null for a word that nobody classified
    time_limited boolean not null,               -- true for a task timeout and for a turn timeout, which coder_eval puts in two categories
    capped boolean not null,                     -- true when a turn ended at the turn cap
    cap_unit varchar,                            -- tool_calls | steps | agent_loop | model_calls; null without a cap or for an unknown harness
    cap_unit_source varchar not null,            -- recorded | version (of the recorder) | assumed (from the parity contract)
    cap_limit integer,                           -- max_turns; null without a cap
    score double,                                -- weighted score in [0, 1]; null when unmeasured
    ignored_fields varchar[],                    -- fields of the request that the harness cannot honour; null where the recorder does not say
    max_output_tokens integer,                   -- output tokens that each request was asked to keep to; null: the provider's default, or not recorded
    output_limit_standing varchar,               -- what is known of that limit, in the recorder's words; null when not recorded
    jobs integer,                                -- attempts that the run was allowed to run at once; null when not recorded
    at_once integer,                             -- most attempts of the run that ran at any time during this one, itself included; null when not recorded
    simulated boolean not null,                  -- true when the recorder says that no real model ran
    sha256 varchar not null                      -- digest of the task document's bytes
);

-- one row per turn of a timed trial
create table if not exists timed_turns (
    study varchar not null,                      -- name of the study
    trial_id varchar not null,                   -- the trial it belongs to
    turn_index integer not null,                 -- place in the list from 0: the key, since a retry repeats the iteration number
    iteration integer,                           -- the driver's turn number; null when absent
    session_id varchar,                          -- session of the harness; metadata, not anonymised; null when not recorded
    first_turn boolean not null,                 -- true for the first iteration and its retries; heads of later ones hold a session's replay
    crashed boolean not null,                    -- true when it ended in a crash or a turn timeout
    max_turns_exhausted boolean not null,        -- true when it ended at the turn cap
    duration_ms double,                          -- the driver's monotonic measurement; null when not timed
    head_ms double,                              -- turn start to first window, without tool time; its content differs between harnesses; null
    generation_ms double,                        -- sum over main-thread messages, net of tool time; null when none was measured
    tool_union_ms double,                        -- union of bounded main-thread tool spans; null when there is none
    tail_ms double,                              -- last window to turn end, without tool time; null when an end is missing
    accounted_ms double,                         -- head + generation + tool union + tail, without what was not measured; null when nothing was
    residual_ms double,                          -- duration - accounted; negative when the buckets hold more than the turn; null when not timed
    turn_to_first_delta_ms double,               -- turn start to the first model delta; null where the recorder has no deltas
    orphan_wait_ms double,                       -- wait for calls that nothing ended, outside the identity; null
    model_calls bigint,                          -- model calls of the main thread as the recorder counts them; null
    tool_calls bigint not null,                  -- resolved tool calls of the main thread
    uncached_input_tokens bigint,                -- prompt tokens without cache; a legacy record's input_tokens; null when not counted
    cache_write_tokens bigint,                   -- prompt tokens written to a cache; null when not counted
    cache_read_tokens bigint,                    -- prompt tokens read from a cache; null when not counted
    output_tokens bigint,                        -- generated tokens, reasoning included; null when not counted
    cost_usd double,                             -- the turn's cost as recorded, US dollars; null when unknown
    start_us bigint,                             -- turn start, from the turn's earliest stamp; null where the recorder does not stamp it
    end_us bigint,                               -- turn end, from the turn's earliest stamp; null where the recorder does not stamp it
    quality varchar[] not null                   -- flags, see TimingQuality
);

-- one row per assistant message of a timed turn
create table if not exists timed_messages (
    study varchar not null,                      -- name of the study
    trial_id varchar not null,                   -- the trial it belongs to
    turn_index integer not null,                 -- the turn it belongs to
    message_index integer not null,              -- place among the turn's assistant messages, from 0
    message_id varchar,                          -- identity of the generation within the turn; null where the stream omitted it
    parent varchar,                              -- tool call whose sub-agent wrote it; null on the main thread
    start_us bigint,                             -- window start, from the turn's earliest stamp; null when not bounded
    close_us bigint,                             -- window close, from the turn's earliest stamp; null when not bounded
    raw_ms double,                               -- its part of the window with tool time inside; null when not measured or not told apart
    generation_ms double,                        -- the same without tool time; null when not measured
    first_delta_latency_ms double,               -- window start to first delta of any kind; fuses tool time, queueing, prefill; null
    uncached_input_tokens bigint,                -- prompt tokens without cache; null when not counted
    cache_write_tokens bigint,                   -- prompt tokens written to a cache; null when not counted
    cache_read_tokens bigint,                    -- prompt tokens read from a cache; null when not counted
    output_tokens bigint,                        -- generated tokens, reasoning included; null when not counted
    tool_ids varchar[] not null                  -- tool calls it carries
);

-- one row per tool call of a timed turn
create table if not exists timed_spans (
    study varchar not null,                      -- name of the study
    trial_id varchar not null,                   -- the trial it belongs to
    turn_index integer not null,                 -- the turn it belongs to
    call_id varchar not null,                    -- identity of the tool call within the turn
    sequence integer not null,                   -- order of first sight, from 0
    tool varchar not null,                       -- tool name as recorded
    status varchar,                              -- success | error | unknown, or null as recorded
    main_thread boolean not null,                -- false for a sub-agent's call, which no bucket reads
    start_us bigint,                             -- first instant, from the turn's earliest stamp; null when not observed
    end_us bigint,                               -- last instant, from the turn's earliest stamp; null when not observed
    duration_ms double                           -- recorded duration, with or without bounds; null when not measured
);
