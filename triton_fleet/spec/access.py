"""Who may deploy, look and call: jobs of a repository on GitHub or GitLab, and roles of applications."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from shlex import quote
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo, WithJsonSchema, field_validator

from triton_fleet.catalog.images import partition_of
from triton_fleet.spec.github_repository import EXAMPLE, PATTERN, GitHubRepository
from triton_fleet.spec.values import Document, Mistake, fits, require_unique

_KEY = re.compile(r"arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[a-zA-Z0-9-]+")
_BOUNDARY = re.compile(r"arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[\x21-\x7e]+")
ROLE = re.compile(r"arn:aws[a-z-]*:iam::[0-9]{12}:role/[a-zA-Z0-9_+=,.@/-]+")
_ALIAS = re.compile(r"(arn:[^/]*:)?alias/.*")


def _key(value: str) -> str:
    if not _KEY.fullmatch(value):
        key = quote(value) if value else "alias/NAME"
        command = f"aws kms describe-key --key-id {key} --query KeyMetadata.Arn --output text"
        problem = "an alias is not accepted" if _ALIAS.fullmatch(value) else "it is not the ARN of a KMS key"
        raise Mistake(problem, f"write the key's own ARN; `{command}` prints it")
    return value


def _form(pattern: re.Pattern[str]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": f"^{pattern.pattern}$"})


KeyArn = Annotated[str, AfterValidator(_key), _form(_KEY)]
"""A KMS key, by its own ARN."""
BoundaryArn = Annotated[
    str,
    fits(_BOUNDARY, "it is not the ARN of an IAM policy", "write `arn:aws:iam::ACCOUNT:policy/NAME`"),
    _form(_BOUNDARY),
]
"""A managed policy of an account, or of AWS."""
RoleArn = Annotated[
    str,
    fits(ROLE, "it is not the ARN of an IAM role", "write `arn:aws:iam::ACCOUNT:role/NAME`"),
    _form(ROLE),
]
"""A role of an account."""


def elsewhere(arn: str, environment: Mapping[str, str]) -> str | None:
    """Why an ARN is not of an environment's account and region; None where it is, or they are unknown."""
    if not {"account", "region"} <= environment.keys():
        return None
    account, region = environment["account"], environment["region"]
    _, partition, _, its_region, its_account, _ = arn.split(":", 5)
    own = partition_of(region).name
    if partition != own:
        return f"it is in the partition {partition}, and {region} is of {own}"
    if its_account not in (account, "aws"):
        return f"it is in account {its_account}, and the environment of {account}"
    if its_region not in (region, ""):
        return f"it is in region {its_region}, and the environment of {region}"
    return None


GITHUB, GITLAB = "token.actions.githubusercontent.com", "gitlab.com"
"""The issuers of tokens. Source: GitHub's openid-connect-reference, GitLab's ci/cloud_services/aws."""


def _name_type(
    pattern: str, noun: str, example: str, parse: Callable[[str], object] = str
) -> tuple[Callable[[str], str], WithJsonSchema]:
    """The validator of a name that becomes part of a trust, and its form.

    `parse` raises more precise mistakes than that a value does not have the form.
    """

    def validate(value: str) -> str:
        hint = f"write {noun}, `{example}`"
        if "*" in value or "?" in value:
            raise Mistake("a wildcard would trust everything that matches it", hint)
        if ":" in value:
            raise Mistake("`:` separates the parts of what is trusted", hint)
        parse(value)
        if not re.fullmatch(pattern, value):
            raise Mistake(f"it is not {noun}", hint)
        return value

    return validate, WithJsonSchema({"type": "string", "pattern": f"^{pattern}$", "maxLength": 200})


_repository, _REPOSITORY = _name_type(PATTERN, "one repository of GitHub", EXAMPLE, GitHubRepository.parse)
_project, _PROJECT = _name_type(
    r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)+", "one project of GitLab with its groups", "example/fleet"
)
_environment, _ENVIRONMENT = _name_type(r"[A-Za-z0-9][A-Za-z0-9._-]*", "one environment of GitHub", "prod")
_branch, _BRANCH = _name_type(r"[A-Za-z0-9][A-Za-z0-9._/-]*", "one branch", "main")
_Length = Field(max_length=200)


def _provider(issuer: str) -> tuple[AfterValidator, WithJsonSchema]:
    pattern = re.compile(rf"arn:aws[a-z-]*:iam::[0-9]{{12}}:oidc-provider/{re.escape(issuer)}")
    hint = (
        f"write `arn:aws:iam::ACCOUNT:oidc-provider/{issuer}`;"
        " `aws iam list-open-id-connect-providers` lists those of the account"
    )
    return fits(pattern, f"it is not the ARN of an OIDC provider for {issuer}", hint), _form(pattern)


_github_provider, _GITHUB_PROVIDER = _provider(GITHUB)
_gitlab_provider, _GITLAB_PROVIDER = _provider(GITLAB)


_INVOKER = re.compile(rf"[0-9]{{12}}|{ROLE.pattern}")


Invoker = Annotated[
    str,
    fits(
        _INVOKER,
        "it is neither an AWS account nor the ARN of an IAM role",
        'write the account, `"444455556666"`, or `arn:aws:iam::ACCOUNT:role/NAME`',
    ),
    WithJsonSchema({"type": "string", "pattern": f"^({_INVOKER.pattern})$"}),
]
"""An AWS account, which stands for all of its roles, or one role."""

Repository = Annotated[str, _Length, AfterValidator(_repository), _REPOSITORY]
"""A repository on GitHub, as tokens of its jobs name it."""
Branch = Annotated[str, _Length, AfterValidator(_branch), _BRANCH]
GitHubEnvironment = Annotated[str, _Length, AfterValidator(_environment), _ENVIRONMENT]


GitHubProvider = Annotated[str, _github_provider, _GITHUB_PROVIDER]
GitLabProvider = Annotated[str, _gitlab_provider, _GITLAB_PROVIDER]


class GitHubAccess(Document):
    """The repository on GitHub whose jobs may deploy the environment and look for drift."""

    repository: Repository
    """`OWNER@ID/NAME@ID`, in upper and lower case as on GitHub; `OWNER/NAME` only if its tokens have no ids:
    those of repositories created, renamed or transferred after 2026-07-15 have them."""
    former_repository: Repository | None = None
    """The same repository as its tokens named it before, trusted beside `repository`: `OWNER/NAME` until they
    have ids, or with an earlier name; default: none."""
    environment: GitHubEnvironment | None = None
    """The GitHub environment whose jobs may deploy; default: the one with this environment's name."""
    branch: Branch = "main"
    """The default branch, whose jobs may look for drift."""
    promotes_to: Annotated[tuple[GitHubEnvironment, ...], Field(strict=False)] = ()
    """GitHub environments, such as `prod`, whose jobs may read what `fleet promote` copies from here."""
    provider: GitHubProvider | None = None
    """ARN of the account's OIDC provider for GitHub; default: Foundation creates it. An account has only
    one."""

    @property
    def repositories(self) -> tuple[GitHubRepository, ...]:
        """The forms in which tokens may name the repository, the current one first."""
        return tuple(map(GitHubRepository.parse, filter(None, (self.repository, self.former_repository))))

    @field_validator("former_repository")
    @classmethod
    def _require_same_repository(cls, former: str | None, info: ValidationInfo) -> str | None:
        if former is None or "repository" not in info.data:
            return former
        before, repository = GitHubRepository.parse(former), GitHubRepository.parse(info.data["repository"])
        if before == repository:
            raise Mistake("it is what `repository` has", "leave it out")
        if before.has_ids and repository.has_ids and before.id != repository.id:
            hint = "write an earlier form of the same repository: its id never changes"
            raise Mistake("it has another id than `repository`, so it is another repository", hint)
        return former


class GitLabAccess(Document):
    """The project on gitlab.com whose jobs on one branch may deploy the environment and look for drift."""

    project: Annotated[str, _Length, AfterValidator(_project), _PROJECT]
    """`GROUP/NAME`, with the groups in between."""
    branch: Branch = "main"
    """The default branch; protect it."""
    provider: GitLabProvider | None = None
    """ARN of the account's OIDC provider for gitlab.com; default: Foundation creates it."""


class Access(Document):
    """Roles that a repository's jobs assume by OpenID Connect, without keys; pull requests get none."""

    github: GitHubAccess | None = None
    gitlab: GitLabAccess | None = None


class EndpointAccess(Document):
    """Who may call the endpoint."""

    invokers: Annotated[
        tuple[RoleArn, ...], Field(strict=False, max_length=50), AfterValidator(require_unique)
    ] = ()
    """ARNs of roles, in other accounts too, that may assume a role which may call this endpoint and nothing
    else; default: no such role exists."""
