"""checkov on every shipped template and on each kind of stack: each finding has its reason, and each reason its finding.

Both lists are compared here, so that the reasons stand in `acknowledgements.py` alone and templates without them.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.fleet_folder import ROOT
from tests.synth.shipped_specs import ENVIRONMENTS, shipped_spec
from tests.synth.stack_kinds import stack_kinds
from triton_endpoints.acknowledgements import CHECKOV, Checkov

pytestmark = pytest.mark.nightly

COMMAND = ROOT / ".venv-checkov" / "bin" / "checkov"
OPEN = {
    "Type": "AWS::EC2::SecurityGroup",
    "Properties": {
        "GroupDescription": "open",
        "SecurityGroupIngress": [
            {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "CidrIp": "0.0.0.0/0", "Description": "all"}
        ],
    },
}
"""What nobody would acknowledge."""


@dataclass(frozen=True)
class FailedCheck:
    check: str
    resource: str
    stack: str

    def is_meant(self, by: Checkov) -> bool:
        return self.check == by.check and re.fullmatch(by.form, self.resource) is not None


def failed_checks(templates: dict[str, Any], folder: Path) -> set[FailedCheck]:
    """Findings of checkov in templates, without a word to Prisma Cloud."""
    folder.mkdir()
    for stack, template in templates.items():
        (folder / f"{stack}.json").write_text(json.dumps(template))
    options = ["--framework", "cloudformation", "--skip-download", "--quiet", "--compact", "--output", "json"]
    # Neither the user's home nor the repository has settings for it.
    run = subprocess.run(
        [COMMAND, *options, "--directory", folder],
        cwd=folder.parent,
        env={"HOME": str(folder.parent), "PATH": "/usr/bin:/bin", "LOG_LEVEL": "ERROR"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in (0, 1), run.stderr
    document = json.loads(run.stdout)
    assert document["summary"]["parsing_errors"] == 0
    assert document["summary"]["resource_count"] > 0
    return {
        FailedCheck(check=check["check_id"], resource=check["resource"], stack=Path(check["file_path"]).stem)
        for check in document["results"]["failed_checks"]
    }


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> set[FailedCheck]:
    """One process for all templates: it takes seconds to start. One of the stacks is not ours, and is open."""
    environments = {
        stack: value for environment in ENVIRONMENTS for stack, value in shipped_spec(environment).items()
    }
    templates = {**environments, **stack_kinds(), "open": {"Resources": {"Open": OPEN}}}
    return failed_checks(templates, tmp_path_factory.mktemp("checkov") / "in")


def test_what_it_finds_and_nobody_reasoned_about_is_nothing_but_what_was_left_open(
    findings: set[FailedCheck],
) -> None:
    unreasoned_findings = {finding for finding in findings if not any(finding.is_meant(by) for by in CHECKOV)}
    assert unreasoned_findings == {FailedCheck("CKV_AWS_24", "AWS::EC2::SecurityGroup.Open", "open")}


def test_each_reason_has_a_finding(findings: set[FailedCheck]) -> None:
    assert [by for by in CHECKOV if not any(finding.is_meant(by) for finding in findings)] == []


def test_nothing_is_reasoned_about_twice() -> None:
    assert len({(by.check, by.form) for by in CHECKOV}) == len(CHECKOV)
