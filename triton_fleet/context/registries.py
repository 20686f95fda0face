"""The registries that container images come from: which an environment allows, and what a role may pull."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from triton_fleet.catalog.images import TRITON_REPOSITORY, partition_of, registry_accounts
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.raw import raw_properties
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.image_name import ImageName, image_name

IMAGE = "PrimaryContainer.Image"
"""The raw property of a Model that names an image."""
DOCKER_HUB = "docker.io"
"""The registry of an image that names none. Source: github.com/distribution/reference."""
DOCKER_LIBRARY = "library"
"""Where Docker Hub has the images that are named by one word."""
NVIDIA = "nvcr.io/nvidia/tritonserver"
_FLEET_REPOSITORY = re.compile(r"(.*/)?triton-fleet-[a-z][a-z0-9]*(-[0-9a-f]{8})?")


@dataclass(frozen=True)
class Repository:
    """A repository of Amazon ECR in the region of an endpoint; `arn` is that of a construct of an app."""

    account: str
    name: str
    arn: str | None = None


def literal_name(image: object) -> ImageName | None:
    """The parts of a literal image name, always with a registry; None of anything else."""
    name = image_name(image) if isinstance(image, str) else None
    return replace(name, registry=name.registry or DOCKER_HUB) if name is not None else None


def ecr_account(registry: str, region: str) -> str | None:
    """The account whose ECR a registry is, in the endpoint's own region; None of every other host."""
    # The whole host: a name that only begins like one of ECR's belongs to another registry.
    dns = re.escape(partition_of(region).dns)
    match = re.fullmatch(rf"([0-9]{{12}})\.dkr\.ecr(?:-fips)?\.{re.escape(region)}\.{dns}", registry)
    return match[1] if match else None


def is_allowed(registry: str, repository: str, environment: Environment) -> bool:
    """Whether an endpoint may run an image: SageMaker's own of Triton, or one of an allowed registry."""
    registries, account = environment.allowed_registries, ecr_account(registry, environment.region)
    if account in registry_accounts(environment.region) and repository == TRITON_REPOSITORY:
        return True
    return registry in registries or (account is not None and account in registries)


def is_own_or_allowed(registry: str, repository: str, environment: Environment) -> bool:
    """Whether an image is in the environment's own account, or an endpoint may run it from elsewhere."""
    is_own = ecr_account(registry, environment.region) == environment.account
    return is_own or is_allowed(registry, repository, environment)


def is_fleet_repository(repository: str) -> bool:
    """Whether a repository has the name of an environment's own, whichever account, region or mirror has it.

    `repository_of` makes such names.
    """
    return _FLEET_REPOSITORY.fullmatch(repository) is not None


def build_place(name: ImageName) -> str:
    """Registry and repository of an image as Docker reads its name, with the defaults of Docker Hub."""
    registry, repository = name.registry.lower() or DOCKER_HUB, name.repository
    if registry == DOCKER_HUB and "/" not in repository:
        repository = f"{DOCKER_LIBRARY}/{repository}"
    return f"{registry}/{repository}"


def is_allowed_in_build(name: ImageName, environment: Environment) -> bool:
    """Whether the build of an image may read from another one.

    Images of Triton by NVIDIA and SageMaker are allowed, and what the environment allows: another account's
    registry in the region, or a registry, or a path in one. The environment's own account has no image that
    is made for builds.
    """
    place = build_place(name)
    registry, _, repository = place.partition("/")
    account = ecr_account(registry, environment.region)
    if (
        account is not None
        and repository == TRITON_REPOSITORY
        and account in registry_accounts(environment.region)
    ):
        return True
    if account in environment.allowed_accounts:
        return True
    return place == NVIDIA or any(
        f"{place}/".startswith(f"{allowed_registry}/") for allowed_registry in environment.allowed_registries
    )


def pulled_repositories(endpoint: EndpointContext) -> tuple[Repository, ...]:
    """Images that the endpoint's role may pull: that of its release, and one that the spec names instead.

    Nothing from a registry that is not ECR's, or that the environment does not allow; of the images that
    fleets have built, only what the spec builds.
    """
    image, repositories, own = endpoint.image, list[Repository](), endpoint.spec.own_image
    is_built = own is None or own.uri is None or not is_fleet_repository(own.uri.partition("/")[2])
    if (
        image is not None
        and is_built
        and is_own_or_allowed(image.registry, image.repository, endpoint.environment)
    ):
        repositories.append(Repository(image.account, image.repository))
    for raw in raw_properties(endpoint.spec, "Model"):
        reference = literal_name(raw.value) if raw.name == IMAGE else None
        if reference is not None and is_allowed(
            reference.registry, reference.repository, endpoint.environment
        ):
            account = ecr_account(reference.registry, endpoint.region)
            repositories += [Repository(account, reference.repository)] if account else []
    return tuple(dict.fromkeys(repositories))
