"""A fleet folder of one endpoint in one environment, to be changed by each test."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from triton_fleet.check.run import all_findings
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import open_project
from triton_fleet.store.lock import write_locks

ROOT = Path(__file__).resolve().parents[2]

SPEC = """\
endpoint: sentences
triton: "25.04"
instance: {type: ml.g5.xlarge}
models:
  - {archive: sentences, repository: ../repository}
"""
ENVIRONMENT = """\
environment: dev
account: "111122223333"
region: us-east-1
"""
ALLOWED_FINDINGS = 'allow: {missing-security-fix: "nobody calls these endpoints"}\n'
"""For the release of SPEC; in a file of its own, so that the lines of specs stay as tests write them."""
LOCK = f"""\
endpoint: sentences
archives:
  sentences: {{digest: "sha256:{"a" * 64}", size: 1000, models: [embed]}}
"""


@dataclass(frozen=True)
class FleetFolder:
    """A folder with a spec, an environment and a lock; writing replaces a file."""

    root: Path

    def write(self, file: str, text: str) -> Path:
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return path

    def spec(self, text: str = "", name: str = "sentences", *, base: str = SPEC) -> None:
        """The base spec with further keys."""
        self.write(f"model_specs/{name}.yaml", base + dedent(text))
        if not (self.root / "model_specs/_folder.yaml").exists():
            self.write("model_specs/_folder.yaml", ALLOWED_FINDINGS)

    def environment(self, text: str = "", name: str = "dev", *, account: int = 3) -> None:
        """The base environment with further keys; the number is the last one of its account."""
        base = ENVIRONMENT.replace("dev", name).replace("3333", f"333{account}")
        self.write(f"environments/{name}.yaml", base + dedent(text))

    def lock(self, environment: str = "dev") -> None:
        """A small model in the repository, and the lock that is true of it."""
        self.write("repository/embed/config.pbtxt", 'backend: "python"\n')
        self.write("repository/embed/1/model.py", "class TritonPythonModel: x = 1\n")
        write_locks(open_project(self.root, environment))

    def resolve(self, environment: str = "dev", *endpoints: str) -> ResolvedEndpoint:
        """The one endpoint of an environment."""
        return resolve_project(open_project(self.root, environment, endpoints)).endpoints[0]

    def warnings(self, environment: str = "dev") -> tuple[Finding, ...]:
        """Warnings about an environment that can be resolved."""
        return resolve_project(open_project(self.root, environment)).warnings

    def findings(self, environment: str = "dev", *endpoints: str) -> list[Finding]:
        """Findings of an environment; empty where nothing is wrong."""
        try:
            resolve_project(open_project(self.root, environment, endpoints))
        except FindingsError as error:
            return error.findings
        return []

    def check(self, environment: str = "dev", *endpoints: str) -> list[Finding]:
        """All findings of `fleet check`, warnings too."""
        return all_findings(open_project(self.root, environment, endpoints))

    def finding_lines(self, environment: str = "dev", *endpoints: str) -> list[str]:
        """The findings, one line each: file name, line, code, message, hint."""
        return [
            f"{f.file.name if f.file else ''}:{f.line} {f.code} {f.message} | {f.hint}"
            for f in self.findings(environment, *endpoints)
        ]
