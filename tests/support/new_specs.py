"""Small model repositories, and the specs that are proposed for them, checked as `fleet check` does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.fleet_folder import FleetFolder
from tests.support.onnx_graphs import FLOAT, add, graph_bytes
from triton_fleet.check.run import all_findings
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.new.proposal.spec import proposed_spec
from triton_fleet.new.proposal.writer import new_file, placed_elsewhere, projects_with, write_spec
from triton_fleet.project.fleet_files import environment_names
from triton_fleet.project.project import Fleet, open_project
from triton_fleet.spec.endpoint import EndpointSpec, Mode

NAME = "fresh"
TENSORS = """
max_batch_size: 8
input [ { name: "x" data_type: TYPE_FP32 dims: [ 2 ] } ]
output [ { name: "y" data_type: TYPE_FP32 dims: [ 2 ] } ]
"""
CODE = b"""
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse([]) for _ in requests]
"""
GRAPH = graph_bytes({"x": (FLOAT, ["n", 2])}, {"y": (FLOAT, ["n", 2])}, nodes=[add("x", "x", "y")])
NO_LOCK = "FL301"
PROD = 'environment: prod\naccount: "777788889999"\nregion: us-west-2\n'


def plan(*version: int) -> bytes:
    """A plan that such a TensorRT built, as far as its header goes."""
    return b"ftrt" + bytes(4) + b"\xab" * 16 + bytes(version)


def ensemble(*steps: str) -> str:
    """Of models that have x and y: one after another."""
    names = ["x", *(f"t{number}" for number in range(1, len(steps))), "y"]
    text = "\n".join(
        f'step {{ model_name: "{step}" model_version: -1'
        f' input_map {{ key: "x" value: "{before}" }} output_map {{ key: "y" value: "{after}" }} }}'
        for step, before, after in zip(steps, names, names[1:], strict=False)
    )
    return f'platform: "ensemble" {TENSORS} ensemble_scheduling {{ {text} }}'


@dataclass(frozen=True)
class NewSpecs:
    """A fleet of two environments, and a folder of models beside it."""

    fleet: FleetFolder

    @property
    def models(self) -> Path:
        """The folder that specs are proposed for."""
        return self.fleet.root / "new"

    def model(self, name: str, config: str, files: Mapping[str, bytes]) -> None:
        """A model; a path that ends in a slash is a folder."""
        folder = self.models / name
        folder.mkdir(parents=True)
        (folder / "config.pbtxt").write_text(config)
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            if not path.endswith("/"):
                (folder / path).write_bytes(content)
            else:
                (folder / path).mkdir()

    def python(self, name: str, more: str = "", code: bytes = CODE) -> None:
        self.model(name, f'backend: "python" {TENSORS} {more}', {"1/model.py": code})

    def onnx(self, name: str, more: str = "") -> None:
        self.model(name, f'platform: "onnxruntime_onnx" {TENSORS} {more}', {"1/model.onnx": GRAPH})

    def tensorrt(self, name: str, files: Mapping[str, bytes], more: str = "") -> None:
        self.model(name, f'platform: "tensorrt_plan" {TENSORS} {more}', files)

    def ensemble(self, name: str, *steps: str) -> None:
        self.model(name, ensemble(*steps), {"1/README.md": b"nothing"})

    def text(
        self, folder: Path | str | None = None, mode: Mode | None = None, profiles: Sequence[str] = ()
    ) -> str:
        """The proposal, having been written."""
        file = new_file(self.fleet.root, NAME)
        projects = projects_with(Fleet(self.fleet.root), NAME)
        place = str(folder or self.models)
        try:
            text = proposed_spec(NAME, file, place, projects, mode, profiles)
            write_spec(file, text, projects)
        except FindingsError as error:
            raise FindingsError(placed_elsewhere(error.findings, file, Path(place))) from error
        return text

    def spec(self, environment: str = "dev") -> EndpointSpec:
        """The spec that was written, as it holds in an environment."""
        return open_project(self.fleet.root, environment, [NAME]).load(NAME).spec

    def findings(self) -> list[Finding]:
        """Findings of `fleet check` in all environments, except the lock that is not there yet."""
        actual_findings = [
            finding
            for name in environment_names(self.fleet.root)
            for finding in all_findings(open_project(self.fleet.root, name, [NAME]))
        ]
        return list(
            dict.fromkeys(
                actual_finding for actual_finding in actual_findings if actual_finding.code != NO_LOCK
            )
        )

    def refusal_text(self, text: str) -> str:
        """The text with each comment in one line."""
        return " ".join(re.sub(r"\n *# +", " ", text).split())

    def passes(self, text: str) -> bool:
        """Whether `fleet check` finds no error, and nothing that the text does not speak of."""
        said_text = self.refusal_text(text)
        return all(
            finding.severity is Severity.WARNING and f"({finding.code}): {finding.message}" in said_text
            for finding in self.findings()
        )
