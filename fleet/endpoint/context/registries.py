"""The registries that container images come from: which an environment allows, and what a role may pull."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fleet.catalog.images import partition_of, registry_accounts
from fleet.endpoint.context.context import EndpointContext
from fleet.endpoint.context.raw import raw_properties
from fleet.spec.environment import Environment

IMAGE = "PrimaryContainer.Image"
"""The raw property of a Model that names an image."""
DOCKER_HUB = "docker.io"
"""The registry of an image that names none. Source: github.com/distribution/reference."""
_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_REFERENCE = re.compile(
    r"(?:(?P<registry>localhost(?::[0-9]+)?|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*(?:\.[A-Za-z0-9-]+|:[0-9]+))/)?"
    rf"(?P<repository>{_PART}(?:/{_PART})*)(?::[A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}})?(?:@sha256:[0-9a-f]{{64}})?"
)


@dataclass(frozen=True)
class ImageReference:
    """An image as a container names it, without tag and digest."""

    registry: str
    repository: str


@dataclass(frozen=True)
class Repository:
    """A repository of Amazon ECR in the region of an endpoint."""

    account: str
    name: str


def image_reference(image: object) -> ImageReference | None:
    """The parts of a literal image name; None of anything else."""
    found = _REFERENCE.fullmatch(image) if isinstance(image, str) else None
    return ImageReference(found["registry"] or DOCKER_HUB, found["repository"]) if found else None


def ecr_account(registry: str, region: str) -> str | None:
    """The account whose ECR a registry is, in the endpoint's own region; None of every other host."""
    # The whole host: a name that only begins like one of ECR's belongs to another registry.
    dns = re.escape(partition_of(region).dns)
    found = re.fullmatch(rf"([0-9]{{12}})\.dkr\.ecr(?:-fips)?\.{re.escape(region)}\.{dns}", registry)
    return found[1] if found else None


def is_allowed(registry: str, environment: Environment) -> bool:
    """Whether images may come from a registry: SageMaker's own, or one that the environment allows."""
    account, region = ecr_account(registry, environment.region), environment.region
    allowed = {*registry_accounts(region), *environment.allowed_registries}
    return registry in environment.allowed_registries or (account is not None and account in allowed)


def is_own_or_allowed(registry: str, environment: Environment) -> bool:
    """Whether a registry is the environment's own, or images may come from it."""
    return ecr_account(registry, environment.region) == environment.account or is_allowed(
        registry, environment
    )


def pulled_repositories(endpoint: EndpointContext) -> tuple[Repository, ...]:
    """What the endpoint's role may pull: the image of its release, and one that the spec names instead.

    Nothing from a registry that is not ECR's, or that the environment does not allow.
    """
    image, found = endpoint.image, list[Repository]()
    if image is not None and is_own_or_allowed(image.registry, endpoint.environment):
        found.append(Repository(image.account, image.repository))
    for raw in raw_properties(endpoint.spec, "Model"):
        reference = image_reference(raw.value) if raw.name == IMAGE else None
        if reference is not None and is_allowed(reference.registry, endpoint.environment):
            account = ecr_account(reference.registry, endpoint.region)
            found += [Repository(account, reference.repository)] if account else []
    return tuple(dict.fromkeys(found))
