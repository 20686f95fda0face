"""Which jobs of which repository are trusted with an environment's roles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from triton_fleet.catalog.images import partition_of
from triton_fleet.spec.access import GITHUB, GITLAB
from triton_fleet.spec.environment import Environment

AccessRole = Literal["deploy", "drift", "promotion"]
JOB_MINUTES: Mapping[AccessRole, int] = MappingProxyType({"deploy": 360, "drift": 60, "promotion": 180})
"""How long a job that deploys, looks for drift or promotes may take, by the role that it begins with.

Credentials last as long as their job, and the role allows that. Source of the longest: GitHub ends a job on
its own runners after six hours (docs.github.com, Actions limits).
"""


@dataclass(frozen=True, kw_only=True)
class Trust:
    """The jobs of one repository, by the subjects of their tokens.

    `provider` is the ARN of an OIDC provider that exists; None for the one that Foundation makes.
    """

    host: str
    issuer: str
    audience: str
    provider: str | None
    deploy: tuple[str, ...]
    drift: tuple[str, ...]
    promotion: tuple[str, ...] = ()

    def subjects(self, role: AccessRole) -> tuple[str, ...]:
        """The subjects that are trusted with a role; none where nobody is."""
        return {"deploy": self.deploy, "drift": self.drift, "promotion": self.promotion}[role]


def trusts_of(environment: Environment) -> tuple[Trust, ...]:
    """Whom an environment trusts; nobody unless its file has `access`."""
    return tuple(_trusts(environment))


def access_role(environment: str, region: str, role: AccessRole) -> str:
    """The name of a role, which workflows know without asking AWS; at most 54 characters of 64."""
    return f"triton-fleet-{environment}-{region}-{role}"


def session_seconds(role: AccessRole) -> int:
    """The longest session of a role: as long as the longest job that takes it on."""
    return JOB_MINUTES[role] * 60


def provider_arn(region: str, account: str, issuer: str) -> str:
    """The ARN of the one OIDC provider that an account has for an issuer."""
    return f"arn:{partition_of(region).name}:iam::{account}:oidc-provider/{issuer}"


def audience(region: str) -> str:
    """The audience of a token. Source: the README of aws-actions/configure-aws-credentials."""
    return f"sts.{partition_of(region).dns}"


def github_environment(environment: Environment) -> str:
    """The GitHub environment whose jobs deploy."""
    github = environment.access.github
    return (github.environment if github else None) or environment.environment


def _trusts(environment: Environment) -> Iterator[Trust]:
    github, gitlab = environment.access.github, environment.access.gitlab
    if github:
        # GitHub: the subject of a job with an environment names that, else the branch, or `pull_request`.
        repositories = [f"repo:{repository}" for repository in github.repositories]
        own = github_environment(environment)
        yield Trust(
            host="GitHub",
            issuer=GITHUB,
            audience=audience(environment.region),
            provider=github.provider,
            deploy=tuple(f"{repository}:environment:{own}" for repository in repositories),
            drift=tuple(f"{repository}:ref:refs/heads/{github.branch}" for repository in repositories),
            promotion=tuple(
                f"{repository}:environment:{name}"
                for repository in repositories
                for name in github.promotes_to
            ),
        )
    if gitlab:
        # GitLab's subject names no environment.
        branch = f"project_path:{gitlab.project}:ref_type:branch:ref:{gitlab.branch}"
        yield Trust(
            host="GitLab",
            issuer=GITLAB,
            audience=audience(environment.region),
            provider=gitlab.provider,
            deploy=(branch,),
            drift=(branch,),
        )
