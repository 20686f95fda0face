"""A fleet whose staging and prod are promoted to, in an account each, and a policy of prod alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.support.fleet_folder import FleetFolder
from triton_fleet.project.project import Project, open_project
from triton_fleet.store.promote.spec import adopted_specs

SIMPLE = """\
endpoint: simple
triton: "25.04"
profile: base
instance: {type: ml.g5.xlarge, count: 2}
scaling: {min: 2, max: 6, gpu_utilization: 60}
models:
  - {archive: simple, repository: ../repository}
allow: {missing-security-fix: "nobody calls these endpoints"}
"""
PROFILE = "rollout: {strategy: canary, canary: 50%, bake: 10m}\n"
POLICY = """\
policy: platform
owner: {team: platform, contact: platform@example.com}
statements:
  - name: affordable
    when: {environment: prod}
    gpus: {max: 1}
    monthly_cost: {endpoint: 8000}
    require: {min_instances: 2}
"""
OVERRIDES = """\
overrides: {prod: {instance: {type: ml.g5.48xlarge}, scaling: {min: 1, max: 19}}}
"""
"""Of a spec: one GPU more than the policy allows, one instance less, and a sum beyond its limit."""


@dataclass(frozen=True)
class PromotedFleet:
    """One endpoint, `simple`, which runs in `dev`, `staging` and `prod` what main has."""

    folder: FleetFolder

    @property
    def root(self) -> Path:
        return self.folder.root

    def prepare(self) -> None:
        folder = self.folder
        (folder.root / "model_specs/sentences.yaml").unlink()
        folder.write("profiles/base.yaml", PROFILE)
        folder.write("policies/platform.yaml", POLICY)
        folder.write("model_specs/simple.yaml", SIMPLE)
        folder.environment(account=1)
        folder.environment("promoted_from: dev\n", "staging", account=2)
        folder.environment("promoted_from: staging\n", "prod", account=3)
        for name in ("dev", "staging", "prod"):
            self.lock(name)
        for name in ("staging", "prod"):
            adopted_specs(self.project(name))

    def lock(self, environment: str, endpoint: str = "simple", digest: str = "a") -> None:
        archive = f'{{digest: "sha256:{digest * 64}", size: 1000, models: [embed]}}'
        text = f"endpoint: {endpoint}\narchives:\n  {endpoint}: {archive}\n"
        self.folder.write(f"locks/{environment}/{endpoint}.lock.yaml", text)

    def edit(self, before: str, after: str, file: str = "model_specs/simple.yaml") -> None:
        text = (self.root / file).read_text()
        assert before in text
        self.folder.write(file, text.replace(before, after))

    def spec(self, name: str, more: str = "") -> None:
        """A further endpoint, the same in all but its name."""
        text = SIMPLE.replace("endpoint: simple", f"endpoint: {name}").replace(
            "archive: simple", f"archive: {name}"
        )
        self.folder.write(f"model_specs/{name}.yaml", text + more)

    def project(self, environment: str = "prod") -> Project:
        return open_project(self.root, environment)
