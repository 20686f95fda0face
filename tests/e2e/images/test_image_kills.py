"""`fleet images build`, killed at random moments, each time finished by the next one.

FLEET_KILLS is how many builds are killed, FLEET_SEED makes the same moments again.
"""

from __future__ import annotations

import time

import pytest

from tests.support.embedded_app.clients import client
from tests.support.image_fleet import DOCKERFILE, ImageFleet
from tests.support.kills import KILLS, Tally, Victims, has_died, kill_after, kills, needs_kills

pytestmark = pytest.mark.nightly
BUILD = ("images", "build", "--env", "dev")


@needs_kills
def test_a_build_that_was_killed_at_any_moment_is_finished_by_the_next(fleet: ImageFleet) -> None:
    start = time.monotonic()
    fleet.succeed(*BUILD)
    seconds, tally = time.monotonic() - start, Tally()
    for number, kill in enumerate(kills([Victims.WHOLE_GROUP])):
        fleet.dockerfile(f"{DOCKERFILE}ENV NUMBER={number}\n")
        process = fleet.start(*BUILD)
        kill_after(process, kill.share * seconds, kill.victims)
        tally.ended_before += not has_died(process)
        fleet.succeed(*BUILD)  # where the killed one had the lease, it ends after five minutes
        fleet.succeed("lock", "--env", "dev")
        images = client(fleet.aws, "ecr").describe_images(
            repositoryName="triton-fleet-dev", imageIds=[{"imageDigest": fleet.lock["image"]["digest"]}]
        )
        assert len(images["imageDetails"]) == 1, kill
        tally.continuations += 1
    print(tally)
    assert tally.continuations == KILLS
