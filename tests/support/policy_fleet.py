"""A fleet folder with a policy, and what it says of the endpoints on a day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from textwrap import indent

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.findings import Finding
from triton_fleet.project.project import open_project
from triton_fleet.rules.policies.check import policy_findings

TODAY = date(2026, 11, 23)
HEAD = """\
policy: platform
owner: {team: platform, contact: platform@example.com}
statements:
  - name: affordable
"""
"""The keys of the statement follow from line 5."""
BY = "(`affordable`, of platform, platform@example.com)"
ASK = ", or ask platform (platform@example.com) for an exception"

POOLS = """\
cloudformation:
  EndpointConfig:
    ProductionVariants.0.InstancePools:
      - {InstanceType: ml.g5.xlarge, Priority: 1}
      - {InstanceType: ml.p5.48xlarge, Priority: 2}
"""
SHADOW = """\
cloudformation:
  EndpointConfig:
    ShadowProductionVariants:
      - {VariantName: next, ModelName: x, InitialInstanceCount: 100, InstanceType: ml.p5.48xlarge}
"""


@dataclass(frozen=True)
class PolicyFleet:
    """One endpoint, `sentences`, in one environment, `dev`, unless a test adds others."""

    folder: FleetFolder

    def policy(self, keys: str, rest: str = "", name: str = "platform") -> None:
        """A policy of one statement, `affordable`, and what follows it in the file."""
        text = HEAD.replace("platform", name) + indent(keys.rstrip("\n"), "    ") + "\n" + rest
        path = self.folder.root / f"policies/{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def spec(self, text: str = "", name: str = "sentences", instance: str = "ml.g5.xlarge") -> None:
        base = SPEC.replace("endpoint: sentences", f"endpoint: {name}").replace("ml.g5.xlarge", instance)
        self.folder.spec(text, name, base=base)

    def findings(self, *endpoints: str, environment: str = "dev", today: date = TODAY) -> list[Finding]:
        project = open_project(self.folder.root, environment, endpoints)
        return policy_findings(project, [project.load(name) for name in project.endpoints], today)

    def finding_lines(self, *endpoints: str, environment: str = "dev", today: date = TODAY) -> list[str]:
        """A line for each finding: file, line, code, message."""
        return [
            f"{finding.file.name if finding.file else ''}:{finding.line} {finding.code} {finding.message}"
            for finding in self.findings(*endpoints, environment=environment, today=today)
        ]

    def codes(self, *endpoints: str, environment: str = "dev", today: date = TODAY) -> list[str]:
        return [finding.code for finding in self.findings(*endpoints, environment=environment, today=today)]
