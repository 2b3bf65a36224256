"""The only place for exit codes: which known error ends the command with which number.

An error that is not listed is a fault of ours and shows its traceback.
"""

import sys
from collections.abc import Iterable
from enum import IntEnum
from importlib import import_module


class Exit(IntEnum):
    """What the command's exit code says."""

    DONE = 0
    FINDINGS = 1
    USAGE = 2
    UNREADABLE = 3
    INTERRUPTED = 130


MEANING: dict[Exit, str] = {
    Exit.DONE: "done; compare, report and load end so whatever the verdict or the label",
    Exit.FINDINGS: "findings, a failed check, or integrity: a wrong digest, a plan and a manifest that disagree, arms "
    "with different tasks, undeclared unequal attempts",
    Exit.USAGE: "usage: an option, a selector, a plan or a manifest that does not follow its schema",
    Exit.UNREADABLE: "input or environment missing or unreadable",
    Exit.INTERRUPTED: "interrupted by Ctrl-C; nothing is left half-written",
}

# Spelled as text so that the command starts without importing the rooms.
EXIT_CODES: dict[str, Exit] = {
    "analysis.audit.AuditError": Exit.FINDINGS,
    "analysis.audit.UnreadableEvidenceError": Exit.UNREADABLE,
    "analysis.claim_file.ClaimFileError": Exit.USAGE,
    "analysis.claim_file.ClaimUnreadableError": Exit.UNREADABLE,
    "analysis.contamination.ContaminationError": Exit.USAGE,
    "analysis.evidence.ledger.LedgerError": Exit.UNREADABLE,
    "analysis.evidence.ledger.LedgerKeyError": Exit.USAGE,
    "analysis.evidence.locate.EvidenceError": Exit.UNREADABLE,
    "analysis.evidence.turn_files.TurnFileError": Exit.UNREADABLE,
    "analysis.frontier.FrontierError": Exit.USAGE,
    "analysis.gravity.PolicyError": Exit.USAGE,
    "analysis.pairs.PairError": Exit.FINDINGS,
    "analysis.statistics.sample.SampleError": Exit.USAGE,
    "analysis.warehouse.StatementError": Exit.USAGE,
    "analysis.warehouse.WarehouseError": Exit.UNREADABLE,
    "evenhand.commands.earlier.EarlierStudyError": Exit.UNREADABLE,
    "evenhand.commands.scan.ScanInputError": Exit.UNREADABLE,
    "evenhand.draft.DraftError": Exit.USAGE,
    "evenhand.experiment_file.ExperimentFileError": Exit.USAGE,
    "evenhand.pinned_experiment.ExperimentArmsError": Exit.USAGE,
    "evenhand.pinned_experiment.ExperimentStudyError": Exit.USAGE,
    "evenhand.request.RequestError": Exit.USAGE,
    "evenhand.run_guard.RunFolderTakenError": Exit.FINDINGS,
    "evenhand.task_file.TaskFileError": Exit.USAGE,
    "evenhand.task_file.TaskUnreadableError": Exit.UNREADABLE,
    "evenhand.walk.WalkError": Exit.FINDINGS,
    "harness.journal.JournalError": Exit.FINDINGS,
    "harness.locking.LockedError": Exit.UNREADABLE,
    "evenhand.yaml_fields.YamlFileError": Exit.USAGE,
    "evenhand.yaml_fields.YamlUnreadableError": Exit.UNREADABLE,
    "harness.process.StartError": Exit.UNREADABLE,
    "harness.programs.program.LaunchError": Exit.UNREADABLE,
    "harness.programs.program.RequestRefusedError": Exit.USAGE,
    "harness.run_folder.RunFolderError": Exit.USAGE,
    "manifests.conditions.ConditionError": Exit.USAGE,
    "manifests.digest.DigestError": Exit.USAGE,
    "manifests.manifest.ManifestDigestError": Exit.FINDINGS,
    "manifests.manifest.ManifestError": Exit.USAGE,
    "manifests.manifest.ManifestUnreadableError": Exit.UNREADABLE,
    "manifests.selectors.SelectorError": Exit.USAGE,
    "manifests.suite_file.SuiteFileError": Exit.USAGE,
    "preregistration.attest.AttestationError": Exit.FINDINGS,
    "preregistration.entry.RegistryError": Exit.FINDINGS,
    "preregistration.parse.PlanError": Exit.USAGE,
    "preregistration.parse.PlanManifestError": Exit.FINDINGS,
    "preregistration.parse.PlanUnreadableError": Exit.UNREADABLE,
    "preregistration.schedule.ScheduleError": Exit.USAGE,
    "preregistration.schedule_file.ScheduleMismatchError": Exit.FINDINGS,
    "preregistration.schedule_file.ScheduleUnreadableError": Exit.UNREADABLE,
    "reports.approval.ApprovalError": Exit.FINDINGS,
    "reports.contents.BundleError": Exit.FINDINGS,
    "reports.contents.BundleUnreadableError": Exit.UNREADABLE,
    "reports.privacy.custody.CustodyError": Exit.UNREADABLE,
    "reports.privacy.detectors.EngineError": Exit.UNREADABLE,
    "reports.privacy.leaks.LeakError": Exit.FINDINGS,
    "reports.publication_log.LogError": Exit.FINDINGS,
    "reports.publish.PublishError": Exit.FINDINGS,
    "reports.publish.PublishUnreadableError": Exit.UNREADABLE,
    "reports.signers.SignerError": Exit.FINDINGS,
    "reports.signers.SignersUnreadableError": Exit.UNREADABLE,
}


def known_errors() -> Iterable[type[BaseException]]:
    """Yield every known error class whose module has been imported."""
    for name in EXIT_CODES:
        module, _, attribute = name.rpartition(".")
        if module in sys.modules:
            found = getattr(import_module(module), attribute)
            assert isinstance(found, type)
            yield found


def exit_code_of(error: BaseException) -> Exit | None:
    """Return the exit code of an error; None when it is not a known one."""
    for kind in type(error).__mro__:
        code = EXIT_CODES.get(f"{kind.__module__}.{kind.__qualname__}")
        if code is not None:
            return code
    return None
