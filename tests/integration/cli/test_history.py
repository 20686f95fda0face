"""`fleet history`: the releases of an endpoint as an account has recorded them."""

from __future__ import annotations

import json

import pytest

from tests.support.embedded_keys import KEYS
from tests.support.fleet_folder import ENVIRONMENT, SPEC, FleetFolder
from tests.support.typed_command import RunFleet
from triton_fleet.awsapi.actor import Actor
from triton_fleet.awsapi.emulator import local_session, local_variables
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.project.project import open_project
from triton_fleet.selection.checkout import Checkout
from triton_fleet.store.releases import record_release, release_source

ACCOUNT, REGION = "123456789012", "us-east-1"
LARGER = "instance: {type: ml.g5.xlarge, count: 2}"


@pytest.fixture
def released_fleet(two: FleetFolder, aws_url: str, monkeypatch: pytest.MonkeyPatch) -> FleetFolder:
    """`sentences` was deployed twice, the second time with more instances; nothing serves it now."""
    for name, value in local_variables({}, region=REGION, url=aws_url, keys=KEYS).items():
        monkeypatch.setenv(name, value)
    two.write("environments/dev.yaml", ENVIRONMENT.replace("111122223333", ACCOUNT))
    s3 = local_session(REGION, KEYS).client("s3", endpoint_url=aws_url)
    bucket = f"triton-fleet-dev-{ACCOUNT}-{REGION}"
    s3.create_bucket(Bucket=bucket)
    for content in s3.list_objects_v2(Bucket=bucket).get("Contents", []):
        s3.delete_object(Bucket=bucket, Key=content["Key"])
    for text in (SPEC, SPEC.replace("instance: {type: ml.g5.xlarge}", LARGER)):
        two.spec(base=text)
        project = open_project(two.root, "dev", ["sentences"])
        (endpoint,) = resolve_project(project).endpoints
        anna = Actor(arn=f"arn:aws:iam::{ACCOUNT}:user/anna")
        source = release_source(project, "sentences", anna, Checkout(commit="c" * 40))
        record_release(s3, endpoint, source=source)
    return two


def test_the_releases_are_listed_newest_first_with_what_cannot_be_restored(
    released_fleet: FleetFolder, run_fleet: RunFleet
) -> None:
    result = run_fleet("history", "sentences", "--env", "dev", "--limit", "1")
    assert (result.code, result.err) == (0, "")
    title, newest, *lines, text, rest = result.out.splitlines()
    assert title == "2 releases of sentences in dev, the newest first:"
    assert newest.split()[1:] == ["deleted"]
    assert lines == ["  by: user/anna", "  commit: cccccccccccc", "  `instance.count`: 1 → 2"]
    assert text.startswith("  cannot be restored: the bucket no longer has archives/")
    assert rest == "and 1 more: `--limit 2` lists all"


def test_programs_get_a_version_and_the_same_entries(
    released_fleet: FleetFolder, run_fleet: RunFleet
) -> None:
    document = json.loads(run_fleet("history", "sentences", "--env", "dev", "--format", "json").out)
    assert (document["version"], document["endpoint"], document["environment"]) == (1, "sentences", "dev")
    assert [release["changes"] for release in document["releases"]] == [["`instance.count`: 1 → 2"], []]
    assert document["releases"][0]["actor"] == {
        "arn": f"arn:aws:iam::{ACCOUNT}:user/anna",
        "claimed_by_ci": None,
    }


def test_an_endpoint_without_a_release_is_no_error_and_one_without_a_name_is(
    released_fleet: FleetFolder, run_fleet: RunFleet
) -> None:
    result = run_fleet("history", "images", "--env", "dev")
    assert (result.code, result.out) == (
        0,
        "no release of images in dev is recorded; `fleet deploy --env dev images` records one\n",
    )
    process = run_fleet("history", "sentence", "--env", "dev")
    assert process.code == 1
    assert "FL120: there is no endpoint 'sentence'" in process.err


def test_the_releases_of_an_endpoint_that_has_no_spec_any_more_are_listed(
    released_fleet: FleetFolder, run_fleet: RunFleet
) -> None:
    (released_fleet.root / "model_specs/sentences.yaml").unlink()
    assert run_fleet("history", "sentences", "--env", "dev").out.startswith("2 releases of sentences in dev")
