"""docs/preflight.md: the policy that it shows is all that is asked, and nothing that writes."""

from __future__ import annotations

import json
import re
from pathlib import Path

from triton_fleet.aws.preflight.checks import CHECKS

READS = ("BatchGet", "Describe", "Get", "List")


def test_the_policy_of_the_page_allows_what_is_asked_and_nothing_else(root: Path) -> None:
    page = (root / "docs/preflight.md").read_text()
    (policy,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    (statement,) = json.loads(policy)["Statement"]
    assert statement["Action"] == sorted({action for check in CHECKS for action in check.actions})


def test_no_action_writes() -> None:
    actions = [action.partition(":")[2] for check in CHECKS for action in check.actions]
    assert [action for action in actions if not action.startswith(READS)] == []
