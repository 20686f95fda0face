"""Findings of a release of Triton that lacks security fixes of the SageMaker front end."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.fleet_folder import FleetFolder
from triton_fleet.context.context import EndpointContext
from triton_fleet.findings import Severity
from triton_fleet.project.project import open_project
from triton_fleet.rules.apply import rule_findings
from triton_fleet.rules.example import ARCHIVE_SIZE, REGION, Case
from triton_fleet.rules.registry import rules
from triton_fleet.rules.rule import Problem

RULE = rules()["FL520"]


def problems(region: str = REGION, facts: dict[str, Any] | None = None, **spec: Any) -> list[Problem]:
    """Findings of the rule in a spec."""
    case = Case(spec=spec, region=region, models=None, archive_size=ARCHIVE_SIZE, image=facts)
    return case.problems(RULE)


def test_a_release_without_fixes_is_a_warning_with_the_release_that_has_them() -> None:
    (problem,) = problems(triton="25.04")
    assert RULE.severity is Severity.WARNING
    assert problem.path == ("triton",)
    assert problem.message == (
        "Triton 25.04 lacks security fixes for `mode: single`: chunked-request (critical, 25.07),"
        " large-json (high, 25.10), decompression (high, 26.01), integer-bounds (high, 26.02) and 2 more"
    )
    assert problem.hint == (
        'write `triton: "26.05"`, the first release with all of these fixes for ml.g5.xlarge in us-east-1;'
        ' or write `allow: {missing-security-fix: "…"}` with the reason'
    )


def test_a_release_with_all_fixes_of_the_mode_is_no_finding() -> None:
    assert problems(triton="26.05") == []
    assert problems(triton="26.05", mode="shared-container") == []


def test_where_no_image_has_a_fix_the_hint_names_what_helps_instead() -> None:
    (problem,) = problems(triton="26.05", mode="multi-model")
    assert (
        problem.message
        == "Triton 26.05 lacks security fixes for `mode: multi-model`: load-path (medium, 26.06)"
    )
    assert problem.hint.startswith(
        "no image of SageMaker for ml.g5.xlarge in us-east-1 has load-path: by `image`, build one with Triton's"
        " pull request 8791, or load archives that you know alone; or write `allow"
    )


def test_a_later_release_that_has_a_part_of_the_fixes_is_named_with_what_it_lacks() -> None:
    (problem,) = problems(triton="25.04", mode="multi-model")
    assert problem.hint.startswith(
        'write `triton: "26.05"`, the first release with all of them except load-path for'
    )
    assert "pull request 8791" in problem.hint


def test_the_release_of_the_hint_is_in_the_region_and_runs_on_the_instance() -> None:
    (china,) = problems(region="cn-north-1", triton="25.04", instance={"type": "ml.g4dn.xlarge"})
    assert "write `triton" not in china.hint
    assert china.hint.startswith(
        "no image of SageMaker for ml.g4dn.xlarge in cn-north-1 has chunked-request, "
    )
    (cpu,) = problems(triton="25.04", instance={"type": "ml.c5.xlarge"})
    assert cpu.hint.startswith('write `triton: "26.05"`')


def test_a_restriction_that_the_release_ignores_is_named_where_the_spec_sets_one() -> None:
    flags = ["--http-restricted-api=inference:key=a"]
    (problem,) = problems(triton="26.05", mode="multi-model", container={"additional_args": flags})
    assert "restricted-invoke (medium, 26.07)" in problem.message


URI = {
    "uri": "111122223333.dkr.ecr.us-east-1.amazonaws.com/triton",
    "digest": f"sha256:{'0' * 63}2",
}


@pytest.mark.parametrize(("facts", "count"), [({}, 0), ({"triton": "25.04"}, 1)])
def test_of_an_image_of_ones_own_the_release_in_it_counts(facts: dict[str, Any], count: int) -> None:
    assert len(problems(facts=facts, triton="25.04", image=URI)) == count


def test_the_local_environment_runs_another_triton(folder: FleetFolder) -> None:
    folder.write("model_specs/_folder.yaml", "owner: {team: search}\n")
    folder.environment(name="local")
    codes = {}
    for environment in ("dev", "local"):
        project = open_project(folder.root, environment)
        findings = rule_findings(
            EndpointContext(loaded_spec=project.load("sentences"), environment=project.environment, lock=None)
        )
        codes[environment] = "FL520" in [finding.code for finding in findings]
    assert codes == {"dev": True, "local": False}
