"""The AWS that a command asks."""

from __future__ import annotations

from pathlib import Path

from fleet.aws.access import Access, account_access, embedded_access
from fleet.endpoint.resolved_endpoint import Deployment
from fleet.findings import CannotRunError, Finding, FindingsError
from fleet.local.state import LocalState
from fleet.spec.environment import LOCAL


def connect(root: Path, place: Deployment, profile: str | None) -> Access:
    """The embedded AWS where the environment is `local`, else its account, which the credentials belong to.

    Raises:
        FindingsError: the credentials belong to another account, or a profile is named for `local`.
        CannotRunError: there are none, AWS does not answer, or nothing runs on this machine.
    """
    access = access_to(root, place, profile)
    access.check_account()
    return access


def access_to(root: Path, place: Deployment, profile: str | None) -> Access:
    """The same, before anybody has looked whose the credentials are.

    Raises:
        FindingsError: a profile is named for `local`.
        CannotRunError: nothing runs on this machine.
    """
    return (
        _embedded_access(root, place, profile)
        if place.environment == LOCAL
        else account_access(place, profile)
    )


def _embedded_access(root: Path, place: Deployment, profile: str | None) -> Access:
    if profile is not None:
        message = (
            f"--profile {profile}: the environment `local` is on this machine, where there are no profiles"
        )
        raise FindingsError([Finding(code="FL603", message=message, hint="leave --profile out")])
    supervisor = LocalState(root).supervisor()
    if supervisor is None:
        raise CannotRunError("nothing runs on this machine", "run `fleet local up` first")
    if supervisor.region != place.region:
        problem = f"the local fleet runs in {supervisor.region}; environments/local.yaml says {place.region}"
        raise CannotRunError(problem, "run `fleet local down`, then `fleet local up`")
    return embedded_access(place, supervisor.url, supervisor.keys)
