"""The ledger has every member of SageMaker's calls, as botocore and CloudFormation's schema have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from botocore.model import ListShape, ServiceModel, Shape, StringShape, StructureShape
from botocore.session import Session

from triton_fleet.catalog.api_ledger import (
    FILE,
    Decision,
    Member,
    ledger,
    ledger_resources,
    values_of_the_api,
)
from triton_fleet.catalog.properties import property_at
from triton_fleet.rules.example import ARCHIVE_SIZE, REGION, Case
from triton_fleet.rules.raw import RESOURCES
from triton_fleet.rules.registry import rules
from triton_fleet.spec.endpoint import EndpointSpec

ENTRY = "{decision: key | raw | refused | ours, why: …}"


@pytest.fixture(scope="session")
def sagemaker() -> ServiceModel:
    """SageMaker as the pinned botocore knows it."""
    return Session().get_service_model("sagemaker")


def difference(
    members: Mapping[str, Member], outer: str, api: set[str], cloudformation: set[str]
) -> Iterator[str]:
    """The entry of the ledger that has the members of one shape."""
    prefix = f"{outer}." if outer else ""
    known_members = {
        path.removeprefix(prefix): member for path, member in members.items() if path.startswith(prefix)
    }
    known_values = {name: member for name, member in known_members.items() if "." not in name}
    place = f"{FILE}, {outer or 'the resource'}"
    for name in sorted((api | cloudformation) - known_values.keys()):
        lacks = "" if name in cloudformation else ", with `in_cloudformation: false`"
        yield f"{place}: write `{name}: {ENTRY}`{lacks}"
    for name in sorted(known_values.keys() - (api | cloudformation)):
        yield f"{place}: take `{name}` out, which neither the API nor CloudFormation has"
    for name in sorted(known_values.keys() & (api | cloudformation)):
        if known_values[name].in_cloudformation is not (name in cloudformation):
            way = "take `in_cloudformation: false` out of" if name in cloudformation else "write it for"
            yield f"{place}: {way} `{name}`"


def members_of(sagemaker: ServiceModel, shapes: tuple[str, ...]) -> set[str]:
    """The names of the members of all shapes."""
    result = set[str]()
    for name in shapes:
        shape = sagemaker.shape_for(name)
        assert isinstance(shape, StructureShape)
        result |= set(shape.members)
    return result


def properties_of(resource: str, path: str) -> set[str]:
    """The properties below a path that CloudFormation lets be set."""
    parts = tuple("0" if part == "*" else part for part in path.split(".")) if path else ()
    names = property_at(resource, parts).property.names
    return {name for name in names if parts or not property_at(resource, (name,)).property.is_read_only}


@pytest.mark.parametrize("resource", RESOURCES)
def test_the_ledger_has_every_member_and_no_other(resource: str, sagemaker: ServiceModel) -> None:
    members = ledger(resource)
    api = members_of(sagemaker, ledger_resources()[resource])
    assert [*difference(members, "", api, properties_of(resource, ""))] == []


@pytest.mark.parametrize(
    ("resource", "outer"),
    [
        ("Model", "PrimaryContainer"),
        ("EndpointConfig", "ProductionVariants.*"),
        ("EndpointConfig", "ShadowProductionVariants.*"),
    ],
)
def test_the_ledger_has_every_member_of_container_and_variant(
    resource: str, outer: str, sagemaker: ServiceModel
) -> None:
    shape = ledger(resource)[outer.removesuffix(".*")].inside
    api = members_of(sagemaker, (shape,))
    assert [*difference(ledger(resource), outer, api, properties_of(resource, outer))] == []


def test_a_member_that_the_ledger_lacks_is_told_with_what_to_write() -> None:
    members = {"Old": Member(path="Old", decision=Decision.RAW, reason="it is old")}
    assert [*difference(members, "", {"New"}, set())] == [
        f"api_ledger.yaml, the resource: write `New: {ENTRY}`, with `in_cloudformation: false`",
        "api_ledger.yaml, the resource: take `Old` out, which neither the API nor CloudFormation has",
    ]


def test_a_member_that_cloudformation_has_got_is_told() -> None:
    members = {"A": Member(path="A", decision=Decision.REFUSED, reason="x", in_cloudformation=False)}
    assert [*difference(members, "", {"A"}, {"A"})] == [
        "api_ledger.yaml, the resource: take `in_cloudformation: false` out of `A`"
    ]


def test_a_path_below_a_member_is_a_property_of_cloudformation() -> None:
    for resource in RESOURCES:
        for path in ledger(resource):
            parts = tuple("0" if part == "*" else part for part in path.split("."))
            reached_path = property_at(resource, parts)
            assert not reached_path.rest or not ledger(resource)[path].in_cloudformation, path


def test_the_rules_and_keys_that_it_names_exist() -> None:
    for resource in RESOURCES:
        for member in ledger(resource).values():
            assert member.rule in {"", *rules()}
            assert member.key.partition(".")[0].partition(" ")[0] in {
                "",
                "kms_key",
                *EndpointSpec.model_fields,
            }
            assert member.reason and not member.reason.endswith(".")


def test_a_key_beside_another_decision_is_refused() -> None:
    with pytest.raises(ValueError, match="A is decided by raw and names the key 'models'"):
        Member(path="A", decision=Decision.RAW, reason="x", key="models")


def enums(shape: Shape, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], set[str]]]:
    """The values of each text below a shape, as the API takes them, by its path in CloudFormation."""
    if isinstance(shape, StructureShape):
        for name, below in shape.members.items():
            yield from enums(below, (*path, name))
    elif isinstance(shape, ListShape):
        yield from enums(shape.member, (*path, "0"))
    elif isinstance(shape, StringShape) and shape.enum:
        yield path, set(shape.enum)


def test_a_value_that_the_api_alone_has_is_in_the_ledger(sagemaker: ServiceModel) -> None:
    missing_values = {}
    for resource, *outer, name in (
        ("EndpointConfig", "ProductionVariants", "0", "ProductionVariant"),
        ("EndpointConfig", "DataCaptureConfig", "DataCaptureConfig"),
        ("Model", "PrimaryContainer", "ContainerDefinition"),
        ("Endpoint", "DeploymentConfig", "DeploymentConfig"),
    ):
        rows = list(enums(sagemaker.shape_for(name), tuple(outer)))
        assert rows
        for path, values in rows:
            reached_path = property_at(resource, path)
            allowed_names = set(map(str, reached_path.property.allowed_values))
            # Where the catalog leaves an enum out, another of its files has it.
            if not reached_path.rest and allowed_names and values - allowed_names:
                missing_values[".".join(path[len(outer) :])] = values - allowed_names
    assert missing_values == {member: set(values) for member, values in values_of_the_api().items()}


def test_a_value_that_the_api_alone_has_is_refused_with_what_it_needs() -> None:
    raw = {"ProductionVariants.0.RoutingConfig.RoutingStrategy": "KV_AWARE"}
    spec = {"cloudformation": {"EndpointConfig": raw}}
    case = Case(spec=spec, region=REGION, models=None, archive_size=ARCHIVE_SIZE)
    (problem,) = case.problems(rules()["FL269"])
    assert "only the API accepts it, and SageMaker routes so only to containers" in problem.message
    assert problem.hint == "write one of LEAST_OUTSTANDING_REQUESTS, PREFIX_AWARE, RANDOM"
