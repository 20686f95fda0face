"""Rules for every template of every environment that is shipped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from cdk_nag import AwsSolutionsChecks

from tests.support.app_synth import compile_cache, synth
from tests.support.cfn_linting import cfn_lint
from tests.support.fleet_folder import ROOT, FleetFolder
from triton_endpoints.policy import Statement, policy_of
from triton_fleet.project.spec_files import spec_files

ENVIRONMENTS = ["dev", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("staging", "prod"))]


@dataclass(frozen=True)
class Assembly:
    """The templates that synth wrote for one environment."""

    environment: str
    folder: Path

    @property
    def foundation(self) -> str:
        return f"triton-fleet-{self.environment}"

    @property
    def templates(self) -> dict[str, str]:
        suffix = ".template.json"
        return {file.name.removesuffix(suffix): file.read_text() for file in self.folder.glob(f"*{suffix}")}

    @property
    def artifacts(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / "manifest.json").read_text())["artifacts"])

    @property
    def files(self) -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in self.folder.iterdir() if file.is_file()}


@pytest.fixture(scope="module", params=ENVIRONMENTS)
def assembly(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """The cloud assembly of one shipped environment.

    The CDK's own rules meet that of one here, and those of all in `shipped`, in one process.
    """
    made_assembly = Assembly(request.param, tmp_path_factory.mktemp(request.param) / "cdk.out")
    process = synth(
        made_assembly.folder, made_assembly.environment, validates=made_assembly.environment == "dev"
    )
    assert process.returncode == 0, process.stderr
    return made_assembly


def test_cfn_lint_finds_nothing(assembly: Assembly) -> None:
    assert cfn_lint(sorted(assembly.folder.glob("*.template.json"))) == []


def test_each_endpoint_has_its_own_stack_beside_foundation(assembly: Assembly) -> None:
    endpoints = {f"{assembly.foundation}-{name}" for name in spec_files(ROOT).by_endpoint}
    assert set(assembly.templates) == {assembly.foundation} | endpoints


def test_no_stack_exports_or_imports_anything(assembly: Assembly) -> None:
    for template in assembly.templates.values():
        assert "Fn::ImportValue" not in template
        assert not [
            output for output in json.loads(template).get("Outputs", {}).values() if "Export" in output
        ]


def test_endpoint_stacks_depend_on_no_other_stack(assembly: Assembly) -> None:
    for name in assembly.templates:
        assert not set(assembly.templates) & set(assembly.artifacts[name].get("dependencies", []))


def test_foundation_alone_is_protected_against_being_deleted(assembly: Assembly) -> None:
    stacks = {name: assembly.artifacts[name]["properties"] for name in assembly.templates}
    names = [name for name, properties in stacks.items() if properties.get("terminationProtection")]
    assert names == [assembly.foundation]


@pytest.mark.nightly
def test_synth_twice_gives_the_same_bytes(assembly: Assembly, tmp_path: Path) -> None:
    second = Assembly(assembly.environment, tmp_path / "cdk.out")
    assert synth(second.folder, second.environment, validates=False).returncode == 0
    assert second.files == assembly.files


def test_synth_leaves_no_compiled_code_behind_which_no_other_synth_could_use(assembly: Assembly) -> None:
    assert not compile_cache(assembly.folder).exists()


def test_the_selected_endpoints_alone_are_built_and_foundation_does_not_notice(
    assembly: Assembly, tmp_path: Path
) -> None:
    name = next(iter(spec_files(ROOT).by_endpoint))
    selected_assembly = Assembly(assembly.environment, tmp_path / "cdk.out")
    process = synth(
        selected_assembly.folder, selected_assembly.environment, f"endpoints={name}", validates=False
    )
    assert process.returncode == 0, process.stderr
    assert set(selected_assembly.templates) == {assembly.foundation, f"{assembly.foundation}-{name}"}
    assert selected_assembly.templates.items() <= assembly.templates.items()


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"environment": "dev", "endpoints": "nope"}, "FL120: there is no endpoint 'nope'"),
        *(
            pytest.param(context, text, marks=pytest.mark.nightly)
            for context, text in (
                ({"environment": "qa"}, "FL120: there is no environment 'qa'"),
                ({"environment": ""}, "FL120: no environment was named"),
                ({"environment": "dev", "endpoints": ""}, "FL120: no endpoint was named"),
            )
        ),
    ],
)
def test_wrong_input_ends_synth_with_a_finding_and_no_traceback(
    tmp_path: Path, context: dict[str, str], message: str
) -> None:
    endpoints = [f"endpoints={context['endpoints']}"] if "endpoints" in context else []
    process = synth(tmp_path / "cdk.out", context["environment"], *endpoints)
    assert process.returncode == 1
    assert message in process.stderr
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        ("s3:GetObject", "arn:aws:s3:::bucket/*"),
        ("s3:PutObject", "arn:aws:s3:::bucket/endpoints/sentences/*"),
        ("iam:PassRole", "*"),
    ],
)
def test_a_wildcard_that_nobody_reasoned_about_stops_synth(action: str, resource: str) -> None:
    app = App()
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    stack = Stack(app, "Stack")
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    statement = Statement(sid="Any", actions=[action], resources=[resource])
    policy_of(stack, "Policy", role_name=role.role_name, statements=[statement])
    with pytest.raises(RuntimeError, match="ValidationFailed|Validation failed"):
        app.synth()


def test_a_bucket_that_takes_plain_http_stops_synth(folder: FleetFolder) -> None:
    app = App()
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    s3.Bucket(Stack(app, "Stack"), "Bucket")
    with pytest.raises(RuntimeError, match="ValidationFailed|Validation failed"):
        app.synth()


@pytest.mark.nightly
def test_a_mistyped_selection_is_not_taken_for_all(tmp_path: Path) -> None:
    process = synth(tmp_path / "cdk.out", "dev", "endpoint=sentence-embeddings")
    assert (process.returncode, "FL122: `-c endpoint=` is not read" in process.stderr) == (1, True)


def test_a_node_that_is_too_old_is_told_with_its_version_and_how_to_get_another(tmp_path: Path) -> None:
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho v16.20.0\n")
    node.chmod(0o755)
    command = [sys.executable, str(ROOT / "app.py")]
    process = subprocess.run(
        command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert process.returncode == 2
    assert f"cannot run: {node} is Node.js v16.20.0; 22 or newer is needed" in process.stderr
    assert "remedy: run `make setup`" in process.stderr


def test_a_python_without_the_requirements_is_told_how_to_get_them(tmp_path: Path) -> None:
    command = [sys.executable, "-S", str(ROOT / "app.py")]
    variables = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    process = subprocess.run(
        command, env=variables, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (process.returncode, "Traceback" in process.stderr) == (2, False)
    assert "remedy: run `make setup`, then `source .venv/bin/activate`" in process.stderr
