"""The templates of each shipped spec in each environment of an account, as files that a reviewer reads in a diff.

`dev` has its templates whole. A file of another environment has a line for each value of its stacks that differs from
dev's, except by the name of the environment, the account or the region.

A change that is meant is written by `pytest -n0 tests/synth/test_snapshots.py --snapshot-update`, which also
deletes the files of stacks that are no more; a file that no stack uses fails the run. Hashes are left out: of
Lambda code, and of archives, which the locks show. The body of a dashboard is shown as the JSON that it holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from tests.support.fleet_folder import ROOT
from tests.synth.resources import join_strings
from tests.synth.shipped_specs import ENVIRONMENTS, HASH, shipped_spec
from triton_fleet.project.project import open_project
from triton_fleet.project.spec_files import spec_files

WHOLE = "dev"
"""The environment whose templates are shown whole."""
MAX_DIFFERENCES = 200
NAMES = ["", *(f"-{name}" for name in spec_files(ROOT).by_endpoint)]
"""The ends of the names of an environment's stacks."""


DIGEST_OF_CONTENT = re.compile(r"\b([A-Za-z]\w*[0-9A-F]{8}|Policy-)[0-9A-F]{8}\b")
"""A logical id, or a policy's name, whose end is a digest of the resource."""


class Lines(SingleFileSnapshotExtension):
    """A snapshot that is a text file, a line for each difference."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"

    def serialize(self, data: Any, **options: Any) -> str:
        return "".join(f"{line}\n" for line in data)


@pytest.mark.parametrize("name", NAMES, ids=[f"triton-fleet-{WHOLE}{name}" for name in NAMES])
def test_the_template_is_as_reviewed(name: str, snapshot: SnapshotAssertion) -> None:
    snapshot_extension = snapshot.use_extension(JSONSnapshotExtension)
    assert readable(shipped_spec(WHOLE)[f"triton-fleet-{WHOLE}{name}"]) == snapshot_extension


@pytest.mark.parametrize("environment", [name for name in ENVIRONMENTS if name != WHOLE])
def test_another_environment_differs_as_reviewed(environment: str, snapshot: SnapshotAssertion) -> None:
    by_stack = {f"triton-fleet-{environment}{name}": differing_values(environment, name) for name in NAMES}
    assert {stack: lines for stack, lines in by_stack.items() if len(lines) > MAX_DIFFERENCES} == {}
    sections = [[stack, *lines, ""] for stack, lines in by_stack.items()]
    assert list(chain(*sections)) == snapshot.use_extension(Lines)


def test_every_stack_has_a_snapshot_of_its_own() -> None:
    for environment in ENVIRONMENTS:
        assert {f"triton-fleet-{environment}{name}" for name in NAMES} == set(shipped_spec(environment))


def test_a_difference_names_its_path_and_both_values() -> None:
    before = {"Resources": {"Model": {"Count": 1, "Image": "a", "Tags": []}}}
    after = {"Resources": {"Model": {"Count": 2, "Tags": [], "Name": "b"}}}
    assert list(differences(dict(leaves(before)), dict(leaves(after)))) == [
        "Resources.Model.Count: 1 -> 2",
        'Resources.Model.Image: "a" -> nothing',
        'Resources.Model.Name: nothing -> "b"',
    ]


def test_a_snapshot_shows_everything_but_hashes() -> None:
    body = {"Fn::Join": ["", ['{"widgets":[{"title":"', {"Fn::GetAtt": ["Endpoint", "Name"]}, '"}]}']]}
    answer = {"Code": {"S3Key": f"{'a1' * 32}.zip"}, "Size": 0, "DashboardBody": body}
    assert readable(answer) == {
        "Code": {"S3Key": "HASH.zip"},
        "Size": 0,
        "DashboardBody": {"widgets": [{"title": "${Endpoint.Name}"}]},
    }


def readable(value: Any) -> Any:
    """A template without hashes, and with the bodies of dashboards as JSON."""
    match value:
        case {"DashboardBody": body, **others}:
            return {"DashboardBody": readable(json.loads(join_strings(body))), **readable(others)}
        case dict():
            return {readable(key): readable(inner) for key, inner in value.items()}
        case list():
            return [readable(inner) for inner in value]
        case str():
            return HASH.sub("HASH", value)
    return value


def differing_values(environment: str, name: str) -> Sequence[str]:
    """The differences of a stack from the one of `WHOLE`."""
    before, after = (values(of, f"triton-fleet-{of}{name}") for of in (WHOLE, environment))
    return list(differences(before, after))


def values(environment: str, stack: str) -> Mapping[str, str]:
    """The values of a template by their paths, with words for its environment, account and region."""
    place = open_project(ROOT, environment).environment
    text = json.dumps(readable(shipped_spec(environment)[stack]))
    for name, word in ((place.account, "ACCOUNT"), (place.region, "REGION"), (environment, "ENVIRONMENT")):
        text = re.sub(rf"\b{name}\b", word, text)
    return dict(leaves(json.loads(DIGEST_OF_CONTENT.sub(r"\1", text))))


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """The numbers, texts and empty lists in a value, as JSON, with their paths."""
    inner = value if isinstance(value, dict) else dict(enumerate(value)) if isinstance(value, list) else {}
    for key, item in inner.items():
        yield from leaves(item, (*path, str(key)))
    if not inner:
        yield ".".join(path), json.dumps(value)


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """A line for each path whose value differs."""
    for path in sorted({**before, **after}):
        old, new = before.get(path, "nothing"), after.get(path, "nothing")
        if old != new:
            yield f"{path}: {old} -> {new}"
