"""A plan from a file, held against the study it is to be released for."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from rowspace.exceptions import FileError
from rowspace.planning import Plan
from rowspace.privacy import Privacy
from rowspace.study import Study
from rowspace.workload import Workload


def load_plan(plan_file: Path, study: Study) -> Plan:
    """A saved plan that answers the study's queries and promises at least as much privacy.

    Importance weights may differ, and ε or ρ may be smaller: ``plan --target`` and ``--epsilon`` find such plans.
    """
    plan = Plan.load(plan_file)
    if _queries(plan.workload) != _queries(study.workload.reduced()):
        raise FileError(f"{plan_file.name} was made for other queries than the study's; plan again")
    if not _as_private(plan.privacy, study.privacy):
        raise FileError(
            f"{plan_file.name} promises {plan.privacy}, the study {study.privacy}; plan again, or change the study"
        )
    return plan


def _queries(workload: Workload) -> Workload:
    """What is asked, however important."""
    return Workload(workload.domain, [dataclasses.replace(part, weight=1.0) for part in workload.parts])


def _as_private(offered: Privacy, wanted: Privacy) -> bool:
    """Whether the promises are of one kind, and the first is no weaker."""
    offered_tree, wanted_tree = offered.to_dict(), wanted.to_dict()
    amounts = [
        (offered_tree.pop(name, 0.0), wanted_tree.pop(name, 0.0)) for name in ("epsilon", "rho", "delta")
    ]
    return offered_tree == wanted_tree and all(have <= want for have, want in amounts)
