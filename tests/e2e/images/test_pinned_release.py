"""A digest in `image_digest` is compared with the registry of the release that the spec names."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from hashlib import sha256
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.container_images import TRITON, ContainerRepository, layer
from tests.support.embedded_keys import KEYS
from tests.support.fleet_folder import FleetFolder
from tests.support.running_aws import running_aws
from triton_fleet.awsapi.emulator import local_session
from triton_fleet.awsapi.images.pinned_release import pinned_release_findings
from triton_fleet.findings import Finding, Severity
from triton_fleet.project.project import open_project

TAG = "25.04-py3"


@pytest.fixture(scope="module")
def ecr() -> Iterator[Any]:
    with running_aws() as aws:
        yield local_session("us-east-1", KEYS).client("ecr", endpoint_url=aws.url)


class OfAws:
    """The account's repository in place of AWS's; refuses the operations that are named."""

    def __init__(self, repository: ContainerRepository, *denied_text: str) -> None:
        self._repository, self._denied_digest, self.meta = repository, denied_text, repository.ecr.meta

    def batch_get_image(self, *, registryId: str, **request: Any) -> Any:
        return self._call("BatchGetImage", self._repository.ecr.batch_get_image, request)

    def get_download_url_for_layer(self, *, registryId: str, **request: Any) -> Any:
        return self._call("GetDownloadUrlForLayer", self._repository.ecr.get_download_url_for_layer, request)

    def _call(self, name: str, call: Any, request: dict[str, Any]) -> Any:
        if name in self._denied_digest:
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, name)
        return call(**request | {"repositoryName": self._repository.name})


@pytest.fixture
def release(ecr: Any, request: pytest.FixtureRequest) -> ContainerRepository:
    return ContainerRepository(ecr, f"release-{sha256(request.node.name.encode()).hexdigest()[:16]}")


def config(triton: str | None) -> dict[str, Any]:
    actual_triton = deepcopy(TRITON)
    actual_triton["config"]["Env"] = [] if triton is None else [f"NVIDIA_TRITON_SERVER_VERSION={triton}"]
    return actual_triton


def findings(folder: FleetFolder, digest: str, registry: OfAws, image: str = "") -> list[Finding]:
    folder.spec(f"image_digest: {digest}\n{image}")
    project = open_project(folder.root, "dev")
    return pinned_release_findings(lambda: registry, project.environment, [project.load("sentences")])


def test_what_the_releases_tag_names_is_the_release(
    folder: FleetFolder, release: ContainerRepository
) -> None:
    digest = release.push([layer(["a"])], config(None), tag=TAG)
    assert findings(folder, digest, OfAws(release, "GetDownloadUrlForLayer")) == []


def test_what_the_tag_named_before_is_known_by_its_configuration(
    folder: FleetFolder, release: ContainerRepository
) -> None:
    digest = release.push([layer(["a"])], config("25.04"))
    release.push([layer(["b"])], config("25.04"), tag=TAG)
    assert findings(folder, digest, OfAws(release)) == []


@pytest.mark.parametrize("image", ["", "image: {build: ../images/detector}\n"])
def test_another_release_is_refused_at_its_line_also_as_the_base_of_a_build(
    folder: FleetFolder, release: ContainerRepository, image: str
) -> None:
    digest = release.push([layer([f"a{len(image)}"])], config("23.01"), tag=f"old{len(image)}")
    (finding,) = findings(folder, digest, OfAws(release), image)
    assert (finding.code, finding.severity, finding.line) == ("FL849", Severity.ERROR, 6)
    assert finding.message == f"{digest} is Triton 23.01, and `triton` of the spec is 25.04"


def test_a_digest_that_the_repository_lacks_is_refused(
    folder: FleetFolder, release: ContainerRepository
) -> None:
    (finding,) = findings(folder, f"sha256:{'5' * 64}", OfAws(release))
    assert (finding.code, finding.severity) == ("FL849", Severity.ERROR)
    assert "does not have" in finding.message


@pytest.mark.parametrize("denied_text", ["BatchGetImage", "GetDownloadUrlForLayer"])
def test_what_the_credentials_do_not_show_is_a_warning(
    folder: FleetFolder, release: ContainerRepository, denied_text: str
) -> None:
    digest = release.push([layer([denied_text])], config("25.04"))
    (finding,) = findings(folder, digest, OfAws(release, denied_text))
    assert (finding.code, finding.severity) == ("FL849", Severity.WARNING)
    assert "sagemaker-tritonserver" in finding.hint


def test_a_configuration_that_names_no_release_is_a_warning(
    folder: FleetFolder, release: ContainerRepository
) -> None:
    digest = release.push([layer(["a"])], config(None))
    (finding,) = findings(folder, digest, OfAws(release))
    assert finding.severity is Severity.WARNING
    assert "the image's configuration does not show" in finding.message
