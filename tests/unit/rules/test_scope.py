"""A rule that takes models finds its mistake in a repository as in an endpoint of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from triton_fleet.check.repositories import RepositoryTarget, model_rule_findings
from triton_fleet.findings import Finding
from triton_fleet.rules.example import Case, examples
from triton_fleet.rules.registry import rules
from triton_fleet.rules.rule import MODEL, MODEL_ON_INSTANCE, MODELS, MODELS_ON_INSTANCE
from triton_fleet.spec.lock import LockedModel
from triton_fleet.spec.source import Mark

OF_MODELS = [
    code
    for code, rule in rules().items()
    if rule.scope in (MODEL, MODEL_ON_INSTANCE, MODELS, MODELS_ON_INSTANCE)
]
REPOSITORY = Path("models")
KNOWN_KEYS = {"triton", "instance", "mode", "default_model"}
"""The keys of a spec that `fleet check PATH` has options for."""


def of_repository(case: Case) -> list[Finding]:
    """The findings about a case's models in a repository, by what the case's spec says of the container."""
    spec = case.context().spec
    target = RepositoryTarget(
        mode=spec.mode,
        release=spec.triton,
        instance=spec.instance.type,
        default_model=spec.default_model,
    )
    models = {name: LockedModel.model_validate(facts) for name, facts in (case.models or {}).items()}
    return list(
        model_rule_findings(models, target, lambda name, fields: Mark(REPOSITORY / name, 1, 1), REPOSITORY)
    )


@pytest.mark.parametrize(
    ("code", "case"),
    [
        pytest.param(code, case, id=f"{code}-{name}")
        for code in OF_MODELS
        for name, case in vars(examples()[code]).items()
        if set(case.spec) <= KNOWN_KEYS
    ],
)
def test_a_rule_finds_of_models_in_a_repository_what_it_finds_of_an_endpoint(code: str, case: Case) -> None:
    of_models = [finding for finding in of_repository(case) if finding.code == code]
    assert [replace(model, file=None, line=None, column=None) for model in of_models] == [
        replace(finding, file=None, line=None, column=None) for finding in case.findings(rules()[code])
    ]


def test_shared_memory_of_a_repository_goes_by_the_default_of_triton() -> None:
    models = {"a": LockedModel.model_validate({"backend": "python", "instances": [{"count": 600}]})}
    target = RepositoryTarget(instance="ml.g5.xlarge")
    (result,) = model_rule_findings(models, target, lambda *_: Mark(REPOSITORY, 9, 9), REPOSITORY)
    assert (result.code, result.line) == ("FL250", 1)
    assert "600 instances of Python models (a) take 9.4 GiB of shared memory" in result.message


@pytest.mark.parametrize("code", OF_MODELS)
def test_a_finding_is_at_its_model_or_at_the_repository_of_several(code: str) -> None:
    case = examples()[code].wrong
    places = {finding.file for finding in of_repository(case) if finding.code == code}
    alone = rules()[code].scope in (MODEL, MODEL_ON_INSTANCE) or rules()[code].fields
    assert places <= ({REPOSITORY / name for name in case.models or {}} if alone else {REPOSITORY})


def test_only_rules_that_take_models_name_fields_of_a_configuration() -> None:
    assert {code for code, rule in rules().items() if rule.fields} <= set(OF_MODELS)


def test_nothing_is_found_of_an_image_and_an_instance_that_nobody_named() -> None:
    (facts,) = (examples()["FL257"].wrong.models or {}).values()
    models = {"bert": LockedModel.model_validate(facts)}
    result = model_rule_findings(models, RepositoryTarget(), lambda *_: Mark(REPOSITORY, 1, 1), REPOSITORY)
    assert list(result) == []
