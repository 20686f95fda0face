"""`null` takes a key away, unless it is a value of the key."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import ALLOWED_FINDINGS, FleetFolder
from tests.support.layered_spec import spec
from triton_fleet.project.layers import takes_null
from triton_fleet.spec.endpoint import EndpointSpec


@pytest.mark.parametrize(
    ("below", "above", "key", "rest"),
    [
        ("scaling: {min: 1, max: 2, gpu_utilization: 60}", "scaling: null", "scaling", None),
        (
            "container: {thread_count: 4}",
            "container: null",
            "container",
            EndpointSpec.model_fields["container"].default,
        ),
        ("tags: {a: b, c: d}", "tags: {a: null}", "tags", {"c": "d"}),
        ("alarms: {errors: 1%}", "alarms: null", "alarms", None),
    ],
)
def test_null_takes_away_what_is_below(
    folder: FleetFolder, below: str, above: str, key: str, rest: object
) -> None:
    folder.write("profiles/base.yaml", f"{below}\n")
    folder.spec(f"profile: base\n{above}\n")
    assert getattr(spec(folder), key) == rest


@pytest.mark.parametrize(
    "keys", ["container: null", "tags: {gpu: null}", "tags: null", "profile: null", "overrides: null"]
)
@pytest.mark.parametrize("place", ["spec", "profile", "folder"])
def test_null_over_nothing_takes_nothing_away(folder: FleetFolder, keys: str, place: str) -> None:
    folder.spec()
    before = spec(folder)
    if place == "spec":
        folder.spec(f"{keys}\n")
    elif place == "folder":
        folder.write("model_specs/_folder.yaml", f"{ALLOWED_FINDINGS}{keys}\n")
    else:
        folder.write("profiles/base.yaml", f"{keys}\n")
        folder.environment("defaults: {profile: base}\n")
    assert spec(folder) == before


@pytest.mark.parametrize("keys", ["scalling: null", "container: {thread_cuont: null}"])
def test_null_at_an_unknown_key_is_refused_like_any_value(folder: FleetFolder, keys: str) -> None:
    folder.spec(f"{keys}\n")
    assert "sentences.yaml:6 FL110 unknown key `" in folder.finding_lines()[0]


def test_null_for_a_tag_of_the_environment_itself_is_reported_with_the_remedy(folder: FleetFolder) -> None:
    folder.environment("tags: {stage: dev}\ndefaults: {tags: {tier: low}}\n")
    folder.write("profiles/base.yaml", "tags:\n  tier: null\n  stage: null\n")
    folder.spec("profile: base\n")
    assert folder.finding_lines() == [
        "base.yaml:3 FL517 `null` does not remove the tag 'stage': it is in the top-level `tags` of"
        " environments/dev.yaml | write another value here, or move the tag to `defaults.tags` of"
        " environments/dev.yaml"
    ]
    folder.spec("profile: base\ntags: {stage: own}\n")
    assert spec(folder).tags == {"stage": "own"}


def test_a_needed_key_that_is_taken_away_is_missing(folder: FleetFolder) -> None:
    folder.environment("overrides: {sentences: {instance: null}}\n")
    assert "FL111 the key `instance` is missing" in folder.finding_lines()[0]


@pytest.mark.parametrize(
    ("path", "is_value"),
    [
        (("scaling",), True),
        (("alarms", "errors"), True),
        (("rollout", "canary"), True),
        (("cloudformation", "Model", "Path"), True),
        (("container",), False),
        (("container", "thread_count"), True),
        (("tags", "team"), False),
        (("environment", "A"), False),
        (("instance", "type"), False),
        (("instance", "ami"), True),
        (("nothing", "known"), True),
    ],
)
def test_null_stays_at_keys_that_may_be_without_a_value_and_at_unknown_ones(
    path: tuple[str, ...], is_value: bool
) -> None:
    assert takes_null(path) is is_value
