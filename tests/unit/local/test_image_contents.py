"""A local model finds its image's packages: the release's by the image's name, one's own by the spec."""

from __future__ import annotations

import pytest

from fleet_emulator.hosting import DeployedContainer, DeployedEndpoint, EndpointId
from tests.support.fleet_folder import FleetFolder
from tests.support.own_images import BUILT_IMAGE, DIGEST, OWN_IMAGE, REGISTRY, lock_image
from triton_fleet.local.image_contents import ImageContents, fleet_contents, named_contents
from triton_fleet.local.triton.runtime import RELEASE
from triton_fleet.spec.environment import ENVIRONMENT_TAG

LOCAL_FILE = 'environment: local\naccount: "123456789012"\nregion: us-east-1\n'
OWN = f"{REGISTRY}/triton-fleet-dev@{DIGEST}"


def deployed_endpoint(image: str, environment: str = "dev") -> DeployedEndpoint:
    container = DeployedContainer(
        model_name="model", image=image, mode="SingleModel", model_data_url="s3://b/k", environment={}
    )
    return DeployedEndpoint(
        id=EndpointId(account="111122223333", region="us-east-1", name="sentences"),
        config_name="config",
        variant_name="main",
        role="arn:aws:iam::111122223333:role/sentences",
        container=container,
        tags={ENVIRONMENT_TAG: environment},
    )


@pytest.mark.parametrize(
    ("image", "release"),
    [
        (f"{REGISTRY}/sagemaker-tritonserver:25.04-py3", "25.04"),
        (f"{REGISTRY}/sagemaker-tritonserver:24.09-py3-cpu", "24.09"),
        (f"{REGISTRY}/triton-fleet-dev:0123abcd", RELEASE),
    ],
)
def test_the_release_is_that_of_the_images_name(image: str, release: str) -> None:
    assert named_contents(deployed_endpoint(image)) == ImageContents(release)


def test_the_release_of_an_image_that_is_named_by_its_digest_is_the_specs(folder: FleetFolder) -> None:
    folder.spec(f"image_digest: {DIGEST}\n")
    image = deployed_endpoint(f"{REGISTRY}/sagemaker-tritonserver@{DIGEST}")
    assert fleet_contents(folder.root, image) == ImageContents("25.04")


def test_an_image_of_ones_own_has_the_specs_release_and_the_locks_packages(folder: FleetFolder) -> None:
    folder.spec(OWN_IMAGE)
    lock_image(folder, packages={"pillow": "13.0.0"})
    assert fleet_contents(folder.root, deployed_endpoint(OWN)) == ImageContents("25.04", {"pillow": "13.0.0"})


def test_local_has_the_packages_that_another_environments_lock_records(folder: FleetFolder) -> None:
    folder.spec(OWN_IMAGE)
    lock_image(folder, packages={"pillow": "13.0.0"})
    folder.write("environments/local.yaml", LOCAL_FILE)
    assert fleet_contents(folder.root, deployed_endpoint(OWN, "local")).packages == {"pillow": "13.0.0"}


def test_the_packages_of_a_shared_container_are_those_that_its_argument_pins(folder: FleetFolder) -> None:
    folder.spec(
        "mode: shared-container\nroutes: {one: embed}\n"
        'image: {args: {PACKAGES: "Pillow==13.0.0 --hash=sha256:00\\nfilelock>=3"}}\n'
    )
    assert fleet_contents(folder.root, deployed_endpoint(OWN)).packages == {"pillow": "13.0.0"}


@pytest.mark.parametrize("environment", ["", "../dev", "qa"])
def test_what_no_environment_of_the_fleet_declares_is_taken_by_its_name(
    folder: FleetFolder, environment: str
) -> None:
    folder.spec(BUILT_IMAGE)
    assert fleet_contents(folder.root, deployed_endpoint(OWN, environment)) == ImageContents(RELEASE)
