"""docs/spec.md, docs/environment.md and docs/policy.md: every key, what it takes and what holds without it, as the types have it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

from tests.support.fleet_folder import SPEC
from triton_fleet.project.reader import read_source
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.policy import Policy
from triton_fleet.spec.prices import FleetPrices
from triton_fleet.spec.problems import validate
from triton_fleet.spec.reference.keys import sections
from triton_fleet.spec.reference.page import beside, environment_page, policy_page, prices_page, spec_page
from triton_fleet.spec.reference.words import words
from triton_fleet.spec.schema import endpoint_schema, environment_schema, policy_schema, prices_schema
from triton_fleet.spec.source import Source
from triton_fleet.spec.values import Document, Seconds

PAGES: Mapping[str, tuple[type[Document], str]] = {
    "endpoint": (EndpointSpec, spec_page()),
    "environment": (Environment, environment_page()),
    "policy": (Policy, policy_page()),
    "prices": (FleetPrices, prices_page()),
}
PLACE = re.compile(r'^\| (?:<a id="([^"]+)"></a>|\[`\w+`\]\(#([^)]+)\))', re.MULTILINE)
EXAMPLES = [
    (kind, path) for kind in PAGES for path, told_beside in beside(kind).items() if told_beside.example
]
REST = {
    "endpoint": yaml.safe_load(SPEC),
    "environment": yaml.safe_load(beside("environment")[""].example),
    "policy": {},
    "prices": {},
}
"""What a part of a file needs beside itself to be one."""
MAPS = {"Times", "Shares", "Durations", "Counts"}
"""What stands for one value of each severity; the pages write it out in place of a section."""


def documents(type_: object) -> Iterator[type[Document]]:
    """The mapping of a key's own."""
    if isinstance(type_, type) and issubclass(type_, Document) and type_.__name__ not in MAPS:
        yield type_
    for inner in get_args(type_):
        yield from documents(inner)


def keys(document: type[Document], path: str = "") -> Iterator[str]:
    for name, field in document.model_fields.items():
        yield f"{path}{name}"
        for inner in documents(field.annotation):
            yield from keys(inner, f"{path}{name}.")


def row(page: str, key: str) -> str:
    return next(line for line in page.splitlines() if f'id="{key}"' in line or f"](#{key}) |" in line)


@pytest.mark.parametrize("kind", PAGES)
def test_every_key_stands_on_its_page_once_with_a_place_to_link_to(kind: str) -> None:
    document, page = PAGES[kind]
    assert sorted(own or section for own, section in PLACE.findall(page)) == sorted(keys(document))


def test_the_alarm_of_a_rollout_that_outlives_those_of_the_spec_is_mentioned() -> None:
    assert "`null` disables all alarms but that of a `rollout` on 1% of failed calls" in PAGES["endpoint"][1]


@pytest.mark.parametrize("key", ["scaling.min", "scaling.schedules.min"])
def test_the_fewest_instances_are_those_that_the_rules_accept(key: str) -> None:
    assert "| whole number, 1 or more |" in row(PAGES["endpoint"][1], key)


@pytest.mark.parametrize(("kind", "path"), EXAMPLES)
def test_an_example_is_read_as_part_of_such_a_file(kind: str, path: str, tmp_path: Path) -> None:
    document, _ = PAGES[kind]
    file = tmp_path / "shown.yaml"
    file.write_text(beside(kind)[path].example)
    read = validate(document, Source(file, {**REST[kind], **read_source(file).data}))
    assert {re.split(r"[.\[]", path)[0]} - {""} <= read.model_fields_set


@pytest.mark.parametrize("kind", PAGES)
def test_every_example_and_every_further_page_is_of_a_section(kind: str) -> None:
    schemas: dict[str, Callable[[], dict[str, Any]]] = {
        "endpoint": endpoint_schema,
        "environment": environment_schema,
        "policy": policy_schema,
        "prices": prices_schema,
    }
    schema = schemas[kind]()
    assert set(beside(kind)) <= {section.path for section in sections(schema)}


def test_a_key_says_what_it_takes_what_holds_without_it_and_what_it_means() -> None:
    _, page = PAGES["endpoint"]
    assert row(page, "endpoint").split(" | ")[1:3] == ["name", "**required**"]
    assert row(page, "mode").split(" | ")[1:3] == [
        "`single`, `multi-model` or `shared-container`",
        "`single`",
    ]
    assert row(page, "scaling").split(" | ")[1:3] == ["mapping", "always `instance.count` instances"]
    assert row(page, "scaling.scale_in").split(" | ")[1:3] == ["duration", "`600s`"]
    assert row(page, "models.engines.shapes").split(" | ")[1] == "mapping to list of 3 shapes"
    assert row(page, "alarms.errors").split(" | ")[1:3] == [
        "share, or `{warning: …, critical: …}`",
        "`{warning: 1%, critical: 5%}`",
    ]
    assert row(page, "container.metrics_port").split(" | ")[1] == "whole number, 1024 to 65535"
    assert row(page, "rollout.rollback_on").endswith(
        "| What rolls back the deployment, at the thresholds of `alarms`. `[]` turns rollbacks off, for"
        " emergencies. |"
    )


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 100}, "number, above 0, up to 100"),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 1e9}, "number, above 0"),
        ({"type": "array", "items": {"type": "string"}, "maxItems": 16}, "list of texts, at most 16"),
        ({"type": "object", "additionalProperties": True}, "mapping"),
        ({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]}, "whole number, 0 or more"),
        ({"enum": ["only"]}, "`only`"),
    ],
)
def test_limits_are_told_where_somebody_meets_them(schema: dict[str, Any], message: str) -> None:
    assert words(schema, schema) == message


def constraints(metadata: Iterable[object]) -> list[object]:
    """Of a type, those in its `Field(...)` as well."""
    return [
        inner for item in metadata for inner in (item.metadata if isinstance(item, FieldInfo) else [item])
    ]


def limited_durations(document: type[Document], path: str = "") -> Iterator[tuple[str, int, int]]:
    """Keys that take a duration, with the least and the most seconds of their types."""
    for name, field in document.model_fields.items():
        for metadata in (field.metadata, *(get_args(item)[1:] for item in get_args(field.annotation))):
            limits = constraints(metadata)
            if get_args(Seconds)[1] in limits:
                numbers = [int(str(limit.ge)) for limit in limits if isinstance(limit, Ge)]
                [number] = [int(str(limit.le)) for limit in limits if isinstance(limit, Le)]
                yield f"{path}{name}", max(numbers, default=0), number
        for below in documents(field.annotation):
            yield from limited_durations(below, f"{path}{name}.")


def spoken(seconds: int) -> str:
    hours, minutes = seconds // 3600, seconds % 3600 // 60
    if seconds < 300:
        return f"{seconds}s"
    return " ".join([*([f"{hours}h"] if hours else []), *([f"{minutes}m"] if minutes else [])])


@pytest.mark.parametrize("kind", PAGES)
def test_the_limits_of_every_duration_are_told(kind: str) -> None:
    document, page = PAGES[kind]
    rows = list(limited_durations(document))
    assert len(rows) >= {"endpoint": 7, "environment": 1}.get(kind, 0)
    for key, minimum, maximum in rows:
        text = f"{spoken(minimum)} to {spoken(maximum)}" if minimum else f"at most {spoken(maximum)}"
        assert text in row(page, key), f"{key}: {text}"
