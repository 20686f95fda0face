"""The embedded AWS serves the release's images and shared containers; it says of all others that it cannot."""

from __future__ import annotations

import pytest

import triton_fleet.local.limitations as module
from triton_fleet.context.shared_container import ROUTES
from triton_fleet.local.limitations import image_limit

RELEASE = "763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:25.04-py3"
PINNED_RELEASE = f"763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver@sha256:{'d' * 64}"
REPOSITORY = "123456789012.dkr.ecr.us-east-1.amazonaws.com/triton-fleet-dev"
BUILT_URI = f"{REPOSITORY}:{'a' * 64}"
PINNED_URI = f"{REPOSITORY}@sha256:{'d' * 64}"
LIKE_A_RELEASE = "123456789012.dkr.ecr.us-east-1.amazonaws.com/mirror/sagemaker-tritonserver:25.04-py3"
FOREIGN = "123456789012.dkr.ecr.us-east-1.amazonaws.com/detector:1"
SHARED_SETTINGS = {ROUTES: "{}"}


@pytest.mark.parametrize(
    ("uri", "environment"),
    [(RELEASE, {}), (PINNED_RELEASE, {}), (BUILT_URI, SHARED_SETTINGS), (PINNED_URI, SHARED_SETTINGS)],
    ids=["release", "digest of a release", "tag", "digest"],
)
def test_this_machine_serves_a_release_and_a_shared_container_that_a_fleet_built(
    monkeypatch: pytest.MonkeyPatch, uri: str, environment: dict[str, str]
) -> None:
    monkeypatch.setattr(module, "missing_program", lambda: None)
    assert image_limit(uri, environment) == ""


@pytest.mark.parametrize(
    ("uri", "environment"),
    [(BUILT_URI, {}), (PINNED_URI, {}), (FOREIGN, SHARED_SETTINGS), (LIKE_A_RELEASE, {})],
)
def test_any_other_image_is_named(uri: str, environment: dict[str, str]) -> None:
    assert image_limit(uri, environment) == (
        f"only sagemaker-tritonserver images and shared containers are served on this machine, not {uri}"
    )


def test_a_shared_container_needs_the_programs_of_its_router(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "missing_program", lambda: "nginx")
    expected_text = "a shared container needs nginx, which this machine does not have"
    assert image_limit(BUILT_URI, SHARED_SETTINGS) == expected_text
    assert image_limit(RELEASE, SHARED_SETTINGS) == ""
