"""A repository of container images in an embedded AWS, and a fleet that builds its images in one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.container_images import ContainerRepository
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.stacks import Stacks
from tests.support.fleet_folder import SPEC, FleetFolder
from tests.support.foundation_parts import foundation_parts
from tests.support.image_fleet import ACCOUNT, DEPLOYMENT, DOCKERFILE, IMAGE, ImageFleet
from tests.support.running_aws import running_aws

NUMBERS = count()


@pytest.fixture
def repository(ecr: Any) -> ContainerRepository:
    return ContainerRepository(ecr, f"team/triton{next(NUMBERS)}")


@pytest.fixture(scope="module")
def image_account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    ours = foundation_parts(DEPLOYMENT, tmp_path_factory.mktemp("cdk.out"), "ImageBuild", "AlarmTopics")
    with running_aws() as aws:
        client(aws, "s3").create_bucket(Bucket=DEPLOYMENT.bucket)
        assert Stacks(aws).create(DEPLOYMENT.stack, ours) == "CREATE_COMPLETE"
        assert aws.skipped_resources == ()
        yield aws


@pytest.fixture
def fleet(image_account: EmbeddedAws, folder: FleetFolder) -> ImageFleet:
    file = folder.root / "environments/dev.yaml"
    file.write_text(file.read_text().replace("111122223333", ACCOUNT))
    (folder.root / "app.py").write_text("")
    folder.write("repository/embed/1/model.py", "class TritonPythonModel: pass\n")
    folder.write("repository/embed/config.pbtxt", 'backend: "python"\n')
    folder.spec(IMAGE, base=SPEC)
    folder.write("images/detector/labels.txt", "cat\ndog\n")
    made_fleet = ImageFleet(folder, image_account)
    made_fleet.dockerfile(DOCKERFILE)
    return made_fleet
