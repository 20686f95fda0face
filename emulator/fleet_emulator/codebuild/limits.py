"""How many builds an account runs and queues: those of a new account, per environment and compute type."""

from __future__ import annotations

from collections.abc import Collection

from moto.codebuild.exceptions import InvalidInputException
from moto.core.exceptions import JsonRESTError

from fleet_emulator.codebuild.build import Build

CONCURRENT_BUILDS = 1
"""In new accounts. CodeBuild's user guide (limits) has 1 for most compute types; measured by
hashicorp/terraform-provider-aws PR 37748."""
QUEUED_BUILDS = 1
"""Five times the limit by the user guide (builds-working). Accounts that may run one build were refused with
the number 1, such as in aws-samples/aws-gateway-load-balancer-suricata-ids-ips-nsm issue 12."""


class AccountLimitExceededError(JsonRESTError):
    """CodeBuild's AccountLimitExceededException."""

    code = 400

    def __init__(self, limit: int) -> None:
        message = f"Cannot have more than {limit} builds in queue for the account"
        super().__init__("AccountLimitExceededException", message)


def require_project_limit(limit: int | None) -> None:
    """Refuse a project that may run more builds than its account.

    Raises:
        InvalidInputException: the limit is larger than that of the account.
    """
    if limit is not None and int(limit) > CONCURRENT_BUILDS:
        raise InvalidInputException(
            "Project-level concurrent build limit cannot exceed the account-level concurrent build limit of"
            f" {CONCURRENT_BUILDS}."
        )


def require_place(build: Build, others: Collection[Build], project_limit: int | None) -> bool:
    """Whether a build runs at once; if not, it is queued.

    Args:
        build: It is started.
        others: All other builds of the account and the region.
        project_limit: Of its project; None without.

    Raises:
        AccountLimitExceededError: the queue is full, or the project runs as many builds as it allows; the
            latter in the words of the account's limit, as no public source quotes others.
    """
    active = [each for each in others if each.ended is None]
    if project_limit is not None and sum(each.project == build.project for each in active) >= int(
        project_limit
    ):
        raise AccountLimitExceededError(int(project_limit))
    alike = [each for each in active if each.machine == build.machine]
    queued = sum(each.is_queued for each in alike)
    if not queued and len(alike) < CONCURRENT_BUILDS:
        return True
    if queued >= QUEUED_BUILDS:
        raise AccountLimitExceededError(QUEUED_BUILDS)
    return False


def next_in_queue(machine: tuple[str, str], builds: Collection[Build]) -> Build | None:
    """The queued build that runs next on such a machine; None where none waits, or none may run."""
    active = [build for build in builds if build.ended is None and build.machine == machine]
    queued = [each for each in active if each.is_queued]
    return queued[0] if queued and len(active) - len(queued) < CONCURRENT_BUILDS else None
