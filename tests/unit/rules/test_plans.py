"""A spec's words on the GPU that TensorRT plans were built on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from triton_fleet.context.context import EndpointContext
from triton_fleet.rules.example import ARCHIVE_SIZE, REGION, Case
from triton_fleet.rules.registry import rules
from triton_fleet.rules.rule import Problem
from triton_fleet.spec.lock import Lock

DIGEST = f"sha256:{0:064}"
WITH_PLAN = {"m": {"backend": "tensorrt", "plans": {"1/model.plan": "10.9.0.34"}}}
WITHOUT = {"m": {"backend": "onnxruntime"}}


def endpoint_context(built_on: dict[str, str | None], locked_values: dict[str, Any]) -> EndpointContext:
    """An endpoint on an A10G: what each archive's `built_on` says, and the models of those that are locked."""
    models = [
        {"archive": name, "repository": f"../{name}", **({} if value is None else {"built_on": value})}
        for name, value in built_on.items()
    ]
    case = Case(
        spec={"mode": "multi-model", "models": models}, region=REGION, models=None, archive_size=ARCHIVE_SIZE
    )
    archives = {name: {"digest": DIGEST, "size": 1, "models": facts} for name, facts in locked_values.items()}
    return replace(case.context(), lock=Lock.model_validate({"endpoint": "example", "archives": archives}))


def plan_findings(built_on: dict[str, str | None], locked_values: dict[str, Any]) -> list[Problem]:
    return list(rules()["FL297"].check(endpoint_context(built_on, locked_values)))


@pytest.mark.parametrize(("other_text", "gpu"), [("ml.g4dn.xlarge", "T4"), ("ml.g6.xlarge", "L4")])
def test_plans_of_another_gpu_are_refused_with_both_gpus(other_text: str, gpu: str) -> None:
    (problem,) = plan_findings({"a": other_text}, {"a": WITH_PLAN})
    assert problem.certain
    assert f"were built on {other_text} ({gpu}), and ml.g5.xlarge (A10G) has to load them" in problem.message
    assert problem.hint == f"build them on ml.g5.xlarge, or use an instance with the GPU {gpu}"


def test_no_plan_was_built_where_there_is_no_gpu() -> None:
    (problem,) = plan_findings({"a": "ml.c5.xlarge"}, {"a": WITH_PLAN})
    assert "ml.c5.xlarge (no GPU)" in problem.message
    assert problem.hint == "build them on ml.g5.xlarge"


def test_plans_of_an_unknown_gpu_are_warned_of() -> None:
    (problem,) = plan_findings({"a": None}, {"a": WITH_PLAN})
    assert (problem.certain, problem.path) == (False, ("models", 0))
    assert problem.hint == "write `built_on: ml.g5.xlarge`, if its GPU (A10G) built them"


def test_an_archive_is_judged_by_its_own_models() -> None:
    """Any GPU may be named, whatever the others hold."""
    (problem,) = plan_findings({"a": "ml.g5.xlarge", "b": "ml.g6.xlarge"}, {"a": WITH_PLAN, "b": WITHOUT})
    assert (problem.path, problem.certain) == (("models", 1, "built_on"), False)
    assert problem.message == "'b' contains no TensorRT plan, so `built_on` has no effect"


def test_nothing_is_said_of_the_models_of_an_archive_that_is_not_locked() -> None:
    assert plan_findings({"a": None, "b": "ml.g5.xlarge"}, {"a": WITHOUT}) == []


def test_an_instance_type_that_does_not_exist_is_told() -> None:
    (problem,) = plan_findings({"a": "ml.g5.huge"}, {"a": WITH_PLAN})
    assert problem.message == "the catalog has no instance type ml.g5.huge"
