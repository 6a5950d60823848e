"""Releasing from the studio: a price first, then one confirmed step, which is `rowspace release` itself.

The id of the request is a digest of the study's text, the data's address and the budget: the same study is paid for
once, whatever is pressed, and however often the studio is started.

Guarantees
- Nothing is charged but by a confirmed release, and the same study once
  (tests/studio/test_releasing.py::test_the_same_study_is_paid_for_once).
- A draft, and a study that is not saved, are not released (tests/studio/test_releasing.py::test_what_is_not_released).
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rowspace.exceptions import BudgetExceeded, InvalidInput
from rowspace.ledger import Ledger, at_least, at_most
from rowspace.report import parameters

from .document import Document
from .settings import Settings


def price(settings: Settings, document: Document) -> dict[str, Any]:
    """What a release costs, what there is and what remains; one clear error where it cannot be."""
    if settings.data is None or settings.ledger is None:
        raise InvalidInput("this studio was started without DATA and --ledger, so it releases nothing")
    document.study.require_public()
    if not document.is_saved:
        raise InvalidInput(
            "the study has changes that are not saved; what is released is the file: save it first"
        )
    key = _key(settings, document)
    ledger = Ledger(settings.ledger)
    found = ledger.budget(settings.dataset)
    paid = ledger.request(key, found.dataset) is not None
    cost = found.amount(found.filter.cost_of(document.study.privacy))
    if not paid and cost > found.remaining:
        raise BudgetExceeded(
            f"the budget of {found.dataset!r} has {at_most(found.remaining)} {found.unit} left, and this release "
            f"costs {at_least(cost)}"
        )
    return {
        "key": key,
        "charge": f"{at_least(cost)} {found.unit}",
        "promise": parameters(document.study.privacy),
        "dataset": found.dataset,
        "left": f"{at_most(found.remaining)} of {at_most(found.limit)} {found.unit}",
        "after": f"{at_most(found.remaining if paid else found.remaining - cost)} {found.unit}",
        "paid": paid,
    }


def _key(settings: Settings, document: Document) -> str:
    """The id of the request."""
    address = settings.data or ""
    address = address if "://" in address else str(Path(address).resolve())
    about = json.dumps([document.text, address, settings.table, settings.dataset])
    return f"studio-{hashlib.sha256(about.encode()).hexdigest()[:24]}"


def release_study(settings: Settings, key: str, effort: str | None) -> Iterator[dict[str, Any]]:
    """Release and write the report, by the commands that do it in a terminal.

    effort: that of the plan on the page, which is the one that is released; None where it was paid for before.
    """
    name = f"{settings.study.stem}-{key[7:15]}"
    release, page = (settings.study.with_name(f"{name}.{ending}") for ending in ("release", "html"))
    yield {"doing": "Planning, counting, adding noise"}
    words = [str(settings.study), str(settings.data), "--ledger", str(settings.ledger), "--request-id", key]
    for option, value in (("--dataset", settings.dataset), ("--table", settings.table)):
        words += [] if value is None else [option, value]
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "study.plan"
        if effort is not None:
            _run("plan", str(settings.study), "--effort", effort, "--save", str(plan))
            words += ["--plan", str(plan)]
        done = _run("release", *words, "-o", str(release))
    yield {"doing": "Writing the report"}
    _run("report", str(release), "-o", str(page), "--force")
    charge = done.get("charge") or {}
    yield {"released": {"files": [release.name, page.name], "page": str(page), "charge": charge.get("id")}}


def _run(*words: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "rowspace", *words, "--json"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise InvalidInput(
            f"`rowspace {words[0]}` ended early; press again: what was paid is not paid twice"
        ) from None
    if "error" in found:
        raise InvalidInput(str(found["error"]["message"]))
    return found
