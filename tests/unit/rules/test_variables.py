"""Unknown variables of the container: which one was meant, or where an option of tritonserver belongs."""

from __future__ import annotations

import pytest

from triton_fleet.rules.example import REGION, Case
from triton_fleet.rules.registry import rules
from triton_fleet.rules.rule import Problem

PREFIX = "SAGEMAKER_TRITON_"


def problem(name: str) -> Problem:
    """The one problem of a variable that does not exist."""
    spec = {"environment": {f"{PREFIX}{name}": "1"}}
    case = Case(spec=spec, region=REGION, models=None, archive_size=1 << 20)
    (problem,) = case.problems(rules()["FL236"])
    return problem


@pytest.mark.parametrize(
    ("name", "variable"), [("THREAD_CNT", "THREAD_COUNT"), ("DEFAULT_MODEL", "DEFAULT_MODEL_NAME")]
)
def test_a_typing_error_is_an_error_with_the_variable_that_was_meant(name: str, variable: str) -> None:
    assert (problem(name).hint, problem(name).certain) == (f"did you mean `{PREFIX}{variable}`?", True)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("HTTP_PORT", "--http-port"),
        ("ALLOW_VERTEX_AI", "--allow-vertex-ai"),
        ("MODEL_CONTROL_MODE", "--model-control-mode"),
        ("STRICT_READINESS", "--strict-readiness"),
    ],
)
def test_an_option_of_tritonserver_without_a_variable_has_no_hint_to_another_one(
    name: str, option: str
) -> None:
    assert problem(name).hint == (
        f"leave it out: tritonserver has {option}, which only `container.additional_args` can set"
    )
    assert not problem(name).certain


def test_what_is_like_no_variable_is_a_warning_with_all_of_them() -> None:
    assert problem("WORKERS").hint.startswith(f"known: {PREFIX}ADDITIONAL_ARGS, ")
    assert not problem("WORKERS").certain
