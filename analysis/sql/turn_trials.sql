-- one row per turn, with the trial and arm that its session belongs to by declaration; null: none declares it, or two do
create or replace view turn_trials as
select
    turns.*,
    trials.trial, -- identity of the trial whose own documents declare the session; null: none does, or two do
    trials.arm, -- arm of that trial; null: no trial, or no selector named it
    trials.counts_as -- solved, unsolved or excludes_task, of that trial; null: no trial
from turns
left join trial_sessions as declared
    on declared.study = turns.study
    and declared.session_id = turns.session_id
    and declared.joins
left join trials
    on trials.study = declared.study
    and trials.trial = declared.trial;
