"""Findings about an environment as a whole, whichever of its endpoints are meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from triton_fleet.catalog.images import image_regions
from triton_fleet.catalog.instances import hosted_in
from triton_fleet.catalog.limits import limit
from triton_fleet.findings import Finding, Severity
from triton_fleet.project.project import Project
from triton_fleet.project.spec_files import same_names
from triton_fleet.spec.environment import LOCAL, Environment
from triton_fleet.spec.github_repository import IDS_SINCE, ids_command, prefix_command
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import Source, finding_at
from triton_fleet.spec.trusts import provider_arn, trusts_of

OWN_TAGS = 2
"""`triton-fleet:environment` and `triton-fleet:endpoint` are added to those of the environment."""


def environment_findings(project: Project) -> list[Finding]:
    """An unknown region, too many tags, and what two endpoints or environments cannot both have."""
    own = own_findings(project.environment, project.environment_source)
    conflicts = [*_same_account(project), *_same_bucket(project), *_same_provider(project)]
    return [*own, *_same_names(project), *conflicts]


def own_findings(environment: Environment, source: Source) -> list[Finding]:
    """The findings about an environment by itself: an unknown region, too many tags."""
    return [*_region(environment, source), *_tags(environment, source)]


def environment_warnings(environment: Environment, source: Source) -> Iterator[Finding]:
    """The doubts about an environment by itself: a repository whose jobs its roles may not trust."""
    github = environment.access.github
    if github is None or any(repository.has_ids for repository in github.repositories):
        return
    repository = github.repositories[0]
    message = (
        f"the roles trust subjects that begin with `repo:{repository}:`; those of repositories that were"
        f" created, renamed or transferred after {IDS_SINCE} have ids and do not match"
    )
    former = "" if github.former_repository else f", and keep `former_repository: {repository}`"
    hint = (
        f"write what `{ids_command(repository.names)}` prints{former} until"
        f" `{prefix_command(repository.names)}` prints ids too"
    )
    mark = source.mark(("access", "github", "repository"))
    yield replace(finding_at(mark, "FL574", message, hint), severity=Severity.WARNING)


def _region(environment: Environment, source: Source) -> Iterator[Finding]:
    region, regions = environment.region, image_regions()
    if region not in regions:
        message = f"SageMaker has no image of Triton in a region {region!r}"
        hint = "AWS lists no registry account for it" if hosted_in(region) else did_you_mean(region, regions)
        yield finding_at(source.mark(("region",)), "FL211", message, hint)


def _tags(environment: Environment, source: Source) -> Iterator[Finding]:
    count, maximum = len(environment.tags), limit("tags") - OWN_TAGS
    if count > maximum:
        message = f"the environment has {count} tags; a resource accepts {maximum} beside our own"
        yield finding_at(source.mark(("tags",)), "FL125", message, "remove some")


def _same_names(project: Project) -> list[Finding]:
    spec_files = {project.spec_files[name] for name in project.endpoints}
    return [
        same_name
        for same_name in same_names(project.root, list(project.spec_files.items()))
        if same_name.file in spec_files
    ]


def _same_account(project: Project) -> Iterator[Finding]:
    own = project.environment.environment
    names = [name for name in project.endpoints if project.fleet.lock_file(own, name).is_file()]
    for _, finding in name_conflicts(project, names):
        yield finding


def name_conflicts(project: Project, endpoints: Sequence[str]) -> Iterator[tuple[str, Finding]]:
    """Endpoints whose names another environment has in the same account and region, where a name is unique.

    Args:
        project: An environment.
        endpoints: Those that it has with a lock, or will have.
    """
    own = project.environment
    if own.environment == LOCAL:
        return
    for environment in _other_environments(project):
        if (environment.account, environment.region) != (own.account, own.region):
            continue
        for name in endpoints:
            if project.fleet.lock_file(environment.environment, name).is_file():
                message = (
                    f"{own.environment!r} and {environment.environment!r} are one account and region, and"
                    f" both have an endpoint {name!r}: the name can exist only once there"
                )
                hint = "give one of them another region or account, or delete the lock of one"
                yield name, finding_at(project.environment_source.mark(("account",)), "FL124", message, hint)


def _same_bucket(project: Project) -> Iterator[Finding]:
    own = project.environment.artifact_bucket
    for environment in _other_environments(project) if own else ():
        if environment.artifact_bucket == own:
            message = f"{environment.environment!r} uses the artifact bucket {own!r} too"
            hint = "name another bucket: each environment removes from its own what no lock of its own names"
            yield finding_at(project.environment_source.mark(("artifact_bucket",)), "FL502", message, hint)


def _same_provider(project: Project) -> Iterator[Finding]:
    own = project.environment
    for trust in trusts_of(own):
        for environment in _other_environments(project) if trust.provider is None else ():
            own_issuers = {
                own_trust.issuer for own_trust in trusts_of(environment) if own_trust.provider is None
            }
            if environment.account == own.account and trust.issuer in own_issuers:
                message = (
                    f"{own.environment!r} and {environment.environment!r} are one account, and each would"
                    f" make its OIDC provider for {trust.issuer}: an account has one"
                )
                arn = provider_arn(own.region, own.account, trust.issuer)
                hint = f"write `provider: {arn}` in one of them, and deploy the other first"
                mark = project.environment_source.mark(("access", trust.host.lower()))
                yield finding_at(mark, "FL513", message, hint)


def _other_environments(project: Project) -> Iterator[Environment]:
    """The other environments that can be read."""
    names = (
        environment
        for environment in project.fleet.environments
        if environment not in (project.environment.environment, LOCAL)
    )
    yield from filter(None, map(project.fleet.environment.readable, names))
