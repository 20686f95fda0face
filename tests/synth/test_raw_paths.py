"""Raw properties are checked at the places where CDK puts them."""

from __future__ import annotations

from typing import Any

from aws_cdk import App, CfnResource, Stack
from aws_cdk.assertions import Template
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_fleet.context.raw import raw_properties
from triton_fleet.rules.example import ARCHIVE_SIZE, REGION, Case

SPELLINGS = [
    "KmsKeyId",
    "Kms\\KeyId",
    "\\KmsKeyId",
    "KmsKeyId\\",
    "A.B",
    "A\\.B",
    "A\\\\.B",
    "A\\\\\\.B",
    "Production\\Variants.\\0.Instance\\Type",
    "A..B",
    ".A",
    "A.",
]
NAMES = st.text(st.sampled_from("AB0\\."), min_size=1, max_size=8)


def case(resource: str, raw: dict[str, Any]) -> Case:
    spec = {"cloudformation": {resource: raw}}
    return Case(spec=spec, region=REGION, models=None, archive_size=ARCHIVE_SIZE)


def places(template: Any, at: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Where the single values of a template are."""
    if not isinstance(template, dict):
        return [at]
    return [place for key, value in template.items() for place in places(value, (*at, key))]


@settings(max_examples=3)
@given(st.lists(NAMES, min_size=20, max_size=20))
def test_a_path_is_divided_as_cdk_divides_it_however_it_is_escaped(random: list[str]) -> None:
    paths = dict.fromkeys([*SPELLINGS, *random])
    stack = Stack(App(), "stack")
    for number, path in enumerate(paths):
        CfnResource(stack, f"R{number}", type="A::B::C").add_property_override(path, 1)
    resources = Template.from_stack(stack).to_json()["Resources"]
    for number, path in enumerate(paths):
        spec = case("Model", {path: 1}).context().spec
        (raw,) = raw_properties(spec, "Model")
        assert places(resources[f"R{number}"]["Properties"]) == [raw.parts], path
