"""The subject of the checks: the endpoints of an environment, their files, and the account."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from triton_fleet.aws.access import Access
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint, ResolvedFleet
from triton_fleet.findings import CannotRunError, Finding, Severity
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.source import KeyPath, finding_at

MAX_PARALLEL_REQUESTS = 8
"""Parallel requests for endpoints; SageMaker throttles descriptions, and botocore retries."""


@dataclass(frozen=True)
class Subject:
    """Endpoints of an environment with their locks, and access to its account.

    `image_limits` is called for a local fleet alone: findings by the endpoints whose images it cannot serve.
    """

    project: Project
    fleet: ResolvedFleet
    access: Access
    image_limits: Callable[[], Mapping[str, Finding]] = dict[str, Finding]

    @property
    def deployment(self) -> Deployment:
        """The environment's account and region."""
        return self.fleet.deployment

    @property
    def endpoints(self) -> tuple[ResolvedEndpoint, ...]:
        """The requested endpoints by name."""
        return self.fleet.endpoints

    @cached_property
    def specs(self) -> Mapping[str, LoadedSpec]:
        """The specs of the endpoints, by name, with the place of each key."""
        return {endpoint.name: self.project.load(endpoint.name) for endpoint in self.endpoints}

    def of_spec(
        self, endpoint: str, key: KeyPath, code: str, message: str, hint: str, *, warns: bool = False
    ) -> Finding:
        """A finding at a key of an endpoint's spec."""
        return _downgrade(finding_at(self.specs[endpoint].source.mark(key), code, message, hint), warns=warns)

    def of_environment(self, code: str, message: str, hint: str, *, warns: bool = False) -> Finding:
        """A finding at the environment's key `account`."""
        mark = self.project.environment_source.mark(("account",))
        return _downgrade(finding_at(mark, code, message, hint), warns=warns)


def _downgrade(finding: Finding, *, warns: bool) -> Finding:
    return replace(finding, severity=Severity.WARNING) if warns else finding


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """The title of a check, the facts read, and the findings.

    `problem` is why AWS could not be called, if so; a missing permission is a finding.
    """

    title: str
    text: str
    findings: tuple[Finding, ...] = ()
    problem: CannotRunError | None = None

    @property
    def severity(self) -> Severity | None:
        """The worst severity of its findings; also an error if AWS could not be called."""
        if self.problem is not None:
            return Severity.ERROR
        return min((finding.severity for finding in self.findings), key=list(Severity).index, default=None)
