"""No text of a template becomes a dynamic reference that the product did not write, however it is put together."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from aws_cdk import App
from hypothesis import given
from hypothesis import strategies as st

from fleet_stacks.dynamic_references import dynamic_references
from fleet_stacks.fleet_app import synthesise
from tests.support.cloudformation_text import NO_VALUE, Deployment, texts
from tests.support.fleet_folder import FleetFolder
from triton_fleet.context.raw import path_names
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.findings import FindingsError
from triton_fleet.project.project import open_project
from triton_fleet.project.reader import parse_source
from triton_fleet.rules.example import ARCHIVE_SIZE, REGION, Case
from triton_fleet.rules.registry import rules
from triton_fleet.spec.values import DYNAMIC

REFERENCE = "{{resolve:ssm:/secret}}"
PIECES = (
    "{",
    "{{",
    "}",
    "}}",
    "$",
    "${",
    "!",
    "resolve",
    "resolve:",
    "ssm:/a",
    ":",
    "-",
    "A",
    "AWS::Region",
    NO_VALUE,
)
DEPLOYMENTS = [
    Deployment(reference, {"Yes": yes})
    for reference, yes in product(
        ("", "resolve:", "resolve", ":ssm", "e", "arn:aws:iam::111122223333:role/a"), (True, False)
    )
]
"""What references yield has no braces: names, ARNs, numbers."""

PLAIN = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
NAMES = st.sampled_from(["A", "AWS::Region", NO_VALUE])


def functions(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Functions of CloudFormation, keys and lists around other values."""
    return st.one_of(
        st.fixed_dictionaries({"Ref": NAMES}),
        st.just({"Fn::GetAtt": ["A", "Arn"]}),
        st.tuples(PLAIN).map(lambda result: {"Fn::Sub": result[0]}),
        st.tuples(PLAIN, st.dictionaries(NAMES, inner, max_size=2)).map(
            lambda result: {"Fn::Sub": list(result)}
        ),
        st.tuples(PLAIN, st.lists(inner, max_size=4)).map(lambda result: {"Fn::Join": list(result)}),
        st.tuples(PLAIN, PLAIN, st.sampled_from(PIECES)).map(
            lambda result: {"Fn::Join": [result[0], {"Fn::Split": [result[2], result[1]]}]}
        ),
        st.tuples(inner, inner).map(lambda result: {"Fn::If": ["Yes", *result]}),
        st.lists(inner, max_size=2),
        st.dictionaries(PLAIN, inner, max_size=2),
    )


VALUES = st.recursive(PLAIN, functions, max_leaves=8)
SCALARS = st.one_of(PLAIN, st.booleans(), st.none(), st.integers(), st.floats(allow_nan=False, width=16))
RAW = st.dictionaries(
    st.one_of(
        st.just("A.B"), st.sampled_from(["A.Fn::Sub", "A.Fn::If.1", "A.Ref", "A\\.Fn::Sub", "Fn::Sub"])
    ),
    st.recursive(SCALARS, functions, max_leaves=6),
    min_size=1,
    max_size=2,
)


def template(value: object) -> dict[str, Any]:
    return {"Resources": {"Model": {"Type": "A::B::C", "Properties": {"A": value}}}}


def places(value: object) -> list[str]:
    return list(dynamic_references(template(value)))


def yields_reference(value: object) -> bool:
    """Whether a deploy exists in which CloudFormation resolves a part of the value."""
    return any(DYNAMIC in text for deployment in DEPLOYMENTS for text in texts(deployment.value(value)))


@pytest.mark.parametrize("name", ["Fn::Transform", "Fn::ForEach::Each"])
def test_what_a_macro_writes_beside_other_keys_may_be_one(name: str) -> None:
    assert places({"Other": "x", name: {}}) == [f"Model.Properties.A.{name}"]


@given(VALUES)
def test_whatever_becomes_a_reference_in_some_deploy_is_found(value: Any) -> None:
    if yields_reference(value):
        assert places(value) != []


@given(RAW)
def test_raw_properties_that_the_rules_accept_become_no_reference_in_any_deploy(raw: dict[str, Any]) -> None:
    if any(DYNAMIC in text for text in texts(raw)):
        return  # the reader refuses the file
    spec = {"cloudformation": {"Model": raw}}
    case = Case(spec=spec, region=REGION, models=None, archive_size=ARCHIVE_SIZE)
    if case.problems(rules()["FL561"]):
        return
    for key, value in raw.items():
        for name in reversed(path_names(key)):
            value = {name: value}
        assert not yields_reference(value)
        assert places(value) == []


@pytest.mark.parametrize(
    "value",
    [
        REFERENCE,
        {REFERENCE: 1},
        [{"A": REFERENCE}],
        {"Fn::Sub": "${!{resolve:ssm:/secret}}"},
        {"Fn::Sub": "{${AWS::NoValue}{resolve:ssm:/secret}}"},
        {"Fn::Sub": "{{${A}:ssm:/secret}}"},
        {"Fn::Sub": ["${A}{resolve:a}}", {"A": "{"}]},
        {"Fn::Sub": ["${A}{resolve:a}}", {"A": {"Fn::If": ["Yes", "a", "{"]}}]},
        {"Fn::Join": ["", ["{", "{resolve:a}}"]]},
        {"Fn::Join": ["{", ["a", "{resolve:a}}"]]},
        {"Fn::Join": ["-", ["{", {"Ref": NO_VALUE}, "{resolve:a}}"]]},
        {"Fn::Join": ["", ["{", {"Ref": "A"}, "{res", {"Ref": "A"}, "a}}"]]},
        {"Fn::Join": ["{", {"Fn::Split": ["|", "{|resolve:a}}"]}]},
        {"Fn::If": ["Yes", "a", {"Fn::Join": ["", ["{", "{resolve:a"]]}]},
        {"Fn::ImportValue": "a"},
        {"Fn::FindInMap": ["A", "B", "C"]},
        {"Fn::Transform": {"Name": "AWS::Include"}},
    ],
)
def test_a_text_that_may_become_a_reference_is_found_at_its_place(value: object) -> None:
    (place,) = places(value)
    assert place.startswith("Model.Properties.A")


@pytest.mark.parametrize(
    "value",
    [
        "{{name}} ${HOME} {resolve:a} {{resolve",
        {"Fn::Sub": "${A}:${B.C}-${AWS::Region}"},
        {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":resolve:", {"Fn::GetAtt": ["A", "Arn"]}]]},
        {"Fn::Join": ["", ['{"a":{"b":', {"Ref": "A"}, "}}"]]},
        {"Fn::Select": [5, {"Fn::Split": [":", {"Fn::GetAtt": ["A", "Arn"]}]}]},
        [1, 1.5, True, None],
    ],
)
def test_other_texts_are_not_taken_for_references(value: object) -> None:
    assert places(value) == []


def test_outputs_parameters_and_other_sections_are_searched() -> None:
    result = dynamic_references(
        {"Outputs": {"A": {"Value": REFERENCE}}, "Parameters": {"B": {"Default": REFERENCE}}}
    )
    assert list(result) == ["Outputs.A.Value", "Parameters.B.Default"]


def test_the_stacks_of_a_fleet_with_alarms_of_an_owner_have_no_reference(
    folder: FleetFolder,
) -> None:
    folder.environment(
        "notifications: {critical: [a@example.com], owners: {search: {critical: [b@example.com]}}}\n"
    )
    folder.spec("owner: {team: search, contact: search@example.com}\n")
    assembly = synthesise(App(), resolve_project(open_project(folder.root, "dev")))
    text = str([stack.template for stack in assembly.stacks])
    assert "/triton-fleet/dev/alarm-topic/search/critical" in text
    assert DYNAMIC not in text


def test_synth_fails_with_the_resource_and_the_place_of_a_reference_that_no_rule_saw(
    folder: FleetFolder,
) -> None:
    fleet = resolve_project(open_project(folder.root, "dev"))
    (endpoint,) = fleet.endpoints
    raw = {"Model": {"PrimaryContainer.ContainerHostname": {"Fn::Sub": "${!{resolve:ssm:/secret}}"}}}
    spec = endpoint.spec.model_copy(update={"cloudformation": raw})
    with pytest.raises(FindingsError) as error:
        synthesise(App(), replace(fleet, endpoints=(replace(endpoint, spec=spec),)))
    (finding,) = error.value.findings
    assert finding.code == "FL565"
    assert finding.message.startswith(
        "Model0301700E.Properties.PrimaryContainer.ContainerHostname of stack triton-fleet-dev-sentences may become"
    )


@pytest.mark.parametrize("text", ["${!{resolve:ssm:/secret}}", "{${AWS::NoValue}{resolve:ssm:/secret}}"])
def test_a_spec_that_splits_a_reference_for_fn_sub_is_refused_at_its_line(
    folder: FleetFolder, text: str
) -> None:
    folder.spec(f"cloudformation:\n  Model:\n    PrimaryContainer.ContainerHostname: {{Fn::Sub: '{text}'}}\n")
    (line,) = [line for line in folder.finding_lines() if " FL561 " in line]
    assert line.startswith(
        "sentences.yaml:8 FL561 PrimaryContainer.ContainerHostname of Model uses Fn::Sub with "
    )
    assert parse_source(folder.root / "a.yaml", f"a: '{text}'").data  # the reader alone does not see it
