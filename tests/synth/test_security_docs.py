"""docs/security.md has each statement of an endpoint's role; docs/roles.md has those of all roles."""

from __future__ import annotations

import re

from tests.support.fleet_folder import ROOT, SPEC, FleetFolder
from tests.synth.conftest import templates
from tests.synth.resources import STACK
from tests.synth.stack_kinds import ALLOWED_NETWORKS

KEYS = """\
network: {subnets: [subnet-00000001, subnet-00000002], security_groups: [sg-00000001]}
capture: {sample: 10%}
rollout: {strategy: all-at-once}
"""
ROW = re.compile(r"^\| `([A-Za-z]+)` \| (.+?) \|", re.MULTILINE)


def test_the_table_has_every_statement_of_the_endpoints_role_and_no_other(folder: FleetFolder) -> None:
    folder.environment(f"kms_key: arn:aws:kms:us-east-1:111122223333:key/1\n{ALLOWED_NETWORKS}")
    folder.spec(KEYS, base=SPEC.replace("ml.g5.xlarge", "ml.c5.xlarge"))
    policies = templates(folder)[STACK].find_resources("AWS::IAM::Policy").values()
    granted_actions = {
        statement["Sid"]: [statement["Action"]]
        if isinstance(statement["Action"], str)
        else statement["Action"]
        for policy in policies
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    }
    matches = dict(ROW.findall(section("What the endpoint's role may do")))
    assert set(matches) == set(granted_actions)
    for sid, actions in granted_actions.items():
        missing_actions = [action for action in actions if action.split(":")[1] not in matches[sid]]
        assert missing_actions == [], sid


def section(title: str) -> str:
    """The text below a title of the document, up to the next."""
    text = (ROOT / "docs" / "security.md").read_text()
    return text.split(f"## {title}\n")[1].split("\n## ")[0]
