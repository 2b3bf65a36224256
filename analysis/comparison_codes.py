"""The only place that lists the finding codes of two arms side by side: run order, schedule, methods."""

from manifests.finding import Code, note, warning

COMPARISON_CODES: tuple[Code, ...] = (
    warning(
        "order_unbalanced",
        "One arm started first in nearly every pair.",
        "Counterbalance the order: evenhand schedule writes one.",
    ),
    warning(
        "block_order",
        "One arm ran in a block of its own in time, so drift of the provider or the machine can look like an effect.",
        "Interleave the arms: evenhand schedule writes an order.",
    ),
    warning(
        "schedule_missing_trial",
        "The schedule has a trial that the evidence does not show started.",
        "Run it, or say in the report why it was not run.",
    ),
    warning(
        "schedule_unexpected_trial",
        "A trial was started that the schedule does not have.",
        "Find out who started it; a trial beyond the schedule was not promised.",
    ),
    warning(
        "schedule_unknown_start",
        "A trial has no recorded start, so its place in the schedule cannot be checked.",
        "Check the recorder.",
    ),
    warning(
        "schedule_arms_turned",
        "The arms of a task were started in another order than scheduled.",
        "Run the schedule's own script; with several turned pairs the counterbalancing is lost.",
    ),
    warning(
        "schedule_order_changed",
        "Trials were started out of the scheduled order.",
        "Run the schedule's own script; the detail says how many trials would have to move.",
    ),
    warning(
        "cost_methods_differ",
        "Costs were priced by different methods, between the arms or inside one. They are never added up or compared.",
        "Price every trial by one method, for instance by one ledger.",
    ),
    warning(
        "cap_units_differ",
        "The caps of the arms count different things, so the same number bounds different amounts of work.",
        "Cap both arms in one unit, or by time.",
    ),
    warning(
        "turn_cap_reached",
        "More than 5 percent of an arm's attempts ended at their turn cap: the cap shapes the result.",
        "Raise the cap, or bound the arms by time; the same number counts different things on two harnesses.",
    ),
    warning(
        "cache_state_differs",
        "Some trials ran with warm caches and others with cold ones.",
        "Run every trial in one state; cost, tokens and time of the two are no one measurement.",
    ),
    warning(
        "task_route_differs",
        "Tasks were got by different routes, git, package or a local folder, whose copies may differ.",
        "Get the tasks of both arms by one route.",
    ),
    warning(
        "working_directory_differs",
        "Trials of one task started in different folders of the container.",
        "Start every agent in the same folder.",
    ),
    warning(
        "task_revision_differs",
        "Trials of one task ran on different revisions of it.",
        "Run every trial on the revision that the manifest pins.",
    ),
    warning(
        "grading_rules_differ",
        "Trials were graded by Harbor versions with different rules: up to 0.25 an exception could leave a trial "
        "ungraded that 0.26 grades.",
        "Grade every trial by one version; a newer Harbor can grade older work again.",
    ),
    warning(
        "order_effect",
        "Which arm goes first changes the result (p below 0.01): one run leaves something behind for the next.",
        "Start each trial from the same state; counterbalance the order and report both halves.",
    ),
    warning(
        "results_drift",
        "The difference between the arms moves with the time of the run (p below 0.01).",
        "Look at provider and machine over that time; with interleaved arms the mean difference stays fair.",
    ),
    warning(
        "rounds_differ",
        "The difference is not the same in every round of attempts (p below 0.01).",
        "Find out what changed between the rounds.",
    ),
    warning(
        "label_changes_mid_study",
        "A label of an arm does not stay the same from its first trial to its last.",
        "Compare only the stretch of time in which nothing changed.",
    ),
    warning(
        "suite_version_differs",
        "The tasks come from selections of more than one version, whose rules of choosing differ.",
        "Choose the tasks anew by one version and pin that selection in the manifest.",
    ),
    warning(
        "unplanned_look",
        "The decision stands on fewer trials than the plan promises, and the plan allows no look before the end.",
        "Finish the study before deciding; a look that was not planned makes false positives likelier.",
    ),
    note(
        "interim_look",
        "The decision stands on fewer trials than the plan promises: one of the looks that it allows.",
        "It is held to the boundary of that look, which the report prints; finish the study for the final analysis.",
    ),
)
