-- one statement per table; every column says its unit or meaning, every nullable column why it may be null

-- one row per study
create table if not exists studies (
    study varchar not null,             -- name of the study
    evidence_digest varchar not null,   -- SHA-256 over the digests of all recorded results
    manifest_digest varchar,            -- SHA-256 of the pinned manifest; null: loaded without one
    simulated boolean not null,         -- the evidence says that it was generated
    n_trials integer not null           -- trials loaded
);

-- one row per job or run folder of a study
create table if not exists jobs (
    study varchar not null,             -- name of the study
    job varchar not null,               -- place of the job or run folder inside the study
    format varchar not null,            -- harbor, terminal_bench or swe_bench
    recorder_version varchar,           -- version of the recorder; null: not recorded
    n_planned integer,                  -- trials the job meant to run; null: not recorded
    n_retries integer,                  -- attempts deleted and repeated by the recorder; null: not recorded
    finished boolean                    -- false while running or interrupted; null: the format does not say
);

-- one row per trial
create table if not exists trials (
    study varchar not null,             -- name of the study
    trial varchar not null,             -- identity given by the recorder, unique in the study
    place varchar not null,             -- place of the result inside the study
    job varchar not null,               -- place of the job or run folder inside the study
    format varchar not null,            -- harbor, terminal_bench or swe_bench
    arm varchar,                        -- name of the arm; null: no selector named it
    task varchar not null,              -- public task name
    task_digest varchar,                -- content digest the pairing stands on; null: the format has none
    attempt integer not null,           -- 1, 2, ... by start within arm and task
    agent varchar not null,             -- name of the agent
    agent_version varchar,              -- version of the agent; null: unknown
    model varchar,                      -- model label as configured; null: the evidence does not say
    provider varchar,                   -- who served the model; null: the evidence does not say
    outcome varchar not null,           -- solved, unsolved or ungraded
    ending varchar not null,            -- kind of ending, as the plan's missing-data policy names it
    counts_as varchar not null,         -- solved, unsolved or excludes_task, under the policy of this load
    reward double,                      -- reward as recorded; null: absent
    exception_type varchar,             -- class of the recorded exception or failure mode; null: none
    started_at timestamp,               -- UTC; null: not recorded
    finished_at timestamp,              -- UTC; null: not recorded
    wall_ms double,                     -- milliseconds from start to end; null: not recorded
    setup_ms double,                    -- milliseconds of environment and agent set-up; null: not recorded
    agent_ms double,                    -- milliseconds of the agent's execution; null: not recorded
    verifier_ms double,                 -- milliseconds of grading; null: never graded or not recorded
    input_tokens bigint,                -- prompt-side tokens, cache reads included; null: not counted
    cache_tokens bigint,                -- part of input_tokens read from a cache; null: not counted
    output_tokens bigint,               -- generated tokens; null: not counted
    cost_usd decimal(18, 9),            -- US dollars to the nano-dollar; null: unknown, never zero
    cost_method varchar,                -- who priced it; null: cost unknown
    requests bigint,                    -- requests to the model, failed ones included; null: not counted
    requests_failed bigint,             -- part of requests that failed; null: not counted
    tool_calls bigint,                  -- calls of tools; null: not counted
    simulated boolean not null,         -- the evidence says that it was generated
    result_digest varchar not null      -- SHA-256 of the recorded result
);

-- one row per trial and factor that a comparison must hold
create table if not exists trial_conditions (
    study varchar not null,             -- name of the study
    trial varchar not null,             -- identity of the trial
    factor varchar not null,            -- factor that a comparison must hold
    value varchar not null              -- value that the evidence shows
);

-- one row per finding of the audit
create table if not exists findings (
    study varchar not null,             -- name of the study
    code varchar not null,              -- finding code
    place varchar not null,             -- place inside the study; empty: the study as a whole
    arm varchar,                        -- arm; null: not about one arm
    task varchar,                       -- task; null: not about one task
    detail varchar not null             -- words and numbers of ours
);
