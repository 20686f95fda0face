"""Access to the AWS that a command calls; boto3 and what uploads are imported when it is requested."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from triton_fleet.findings import CannotRunError, Finding, FindingsError
from triton_fleet.project.project import Project

if TYPE_CHECKING:
    from botocore.client import BaseClient

    from triton_fleet.aws.access import Access
    from triton_fleet.local.state import Supervisor


def connect(project: Project, profile: str | None, *, attempts: int | None = None) -> Access:
    """Access to the embedded AWS for `local`, else to the environment's account; the credentials are checked.

    `attempts` is how often an account is asked at most. Default: as botocore.

    Raises:
        FindingsError: the credentials belong to another account, or a profile is named for `local`.
        CannotRunError: there are no credentials, AWS does not answer, or no local fleet runs.
    """
    access = access_to(project, profile, attempts=attempts)
    access.check_account()
    return access


def access_to(project: Project, profile: str | None, *, attempts: int | None = None) -> Access:
    """The same without a check of the credentials' account.

    Raises:
        FindingsError: a profile is named for `local`.
        CannotRunError: no local fleet runs on this machine.
    """
    from triton_fleet.aws.access import account_access

    return (
        _embedded_access(project, profile)
        if project.environment.is_local
        else account_access(project.deployment, profile, attempts=attempts)
    )


def local_fleet(root: Path, client: BaseClient) -> Supervisor | None:
    """The local fleet whose embedded AWS a client reaches; None if it reaches another AWS."""
    from triton_fleet.local.state import LocalState

    url = client.meta.endpoint_url
    supervisor = LocalState(root).supervisor() if url.startswith("http:") else None
    return supervisor if supervisor is not None and supervisor.url == url else None


def running_supervisor(root: Path) -> Supervisor:
    """The process of the local fleet on this machine.

    Raises:
        CannotRunError: none is running.
    """
    from triton_fleet.local.state import LocalState

    if (supervisor := LocalState(root).supervisor()) is None:
        raise CannotRunError("no local fleet is running", "run `fleet local up` first")
    return supervisor


def _embedded_access(project: Project, profile: str | None) -> Access:
    if profile is not None:
        message = f"--profile {profile}: the environment `local` runs on this machine and uses no AWS profile"
        raise FindingsError([Finding(code="FL603", message=message, hint="remove --profile")])
    from triton_fleet.aws.access import embedded_access

    supervisor, deployment = running_supervisor(project.root), project.deployment
    if supervisor.region != deployment.region:
        problem = (
            f"the local fleet runs in {supervisor.region}; environments/local.yaml has {deployment.region}"
        )
        raise CannotRunError(problem, "run `fleet local down`, then `fleet local up`")
    return embedded_access(deployment, supervisor.url, supervisor.keys)
