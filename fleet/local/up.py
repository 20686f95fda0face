"""`fleet local up`: the app deployed by the real CDK CLI to an embedded AWS, in a real deploy's order."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from botocore.exceptions import BotoCoreError

from fleet.artifacts.lock import write_locks
from fleet.artifacts.progress import progress_on
from fleet.aws.access import embedded_access
from fleet.aws.deploy.cdk import Cdk
from fleet.aws.deploy.deploy import Deploy
from fleet.aws.deploy.tools import cdk_cli
from fleet.check.run import judged_fleet
from fleet.endpoint.resolved_endpoint import Deployment, ResolvedFleet
from fleet.findings import CannotRunError
from fleet.local.limitations import servable
from fleet.local.packages import GET_LOCAL
from fleet.local.session import start_supervisor, stop_supervisor
from fleet.local.state import LocalState, Supervisor
from fleet.local.status import Status, ask_status
from fleet.printers.console import OutputConsole
from fleet.printers.human import show_findings
from fleet.printers.steps import Steps
from fleet.spec.environment import LOCAL
from fleet.spec.project import Project, open_project


def up(root: Path, endpoints: Sequence[str], console: OutputConsole) -> tuple[Supervisor, Status]:
    """Deploy the endpoints locally, or deploy them again to what runs already; return when they answer.

    Where it fails or is interrupted, a background process that it started itself is stopped again.

    Raises:
        FindingsError: the files are wrong, or a deployed model cannot be served.
        CannotRunError: a tool or a platform is missing.
    """
    state = LocalState(root)
    try:
        with state.deploying():
            return _up(state, endpoints, Steps(console))
    except BotoCoreError as error:
        problem = f"the embedded AWS does not answer: {error}"
        raise CannotRunError(problem, "run `fleet local up` again") from error


def _up(state: LocalState, endpoints: Sequence[str], steps: Steps) -> tuple[Supervisor, Status]:
    root, started = state.root, False
    with steps.step("files"):
        cdk_cli(root)
        check_embedded_aws()
        check_place(root)
        project = open_project(root, LOCAL, endpoints)
        write_locks(project, drop_missing=True)  # nobody reviews these
        project, findings = servable(project, named=bool(endpoints))
        fleet = judged_fleet(project)  # the locks are those of a moment ago
    if findings:
        show_findings(findings)
    try:
        with steps.step("embedded AWS") as step:
            supervisor = state.supervisor()
            if supervisor is None:
                supervisor = start_supervisor(state, fleet.place.account)
                started = True
            _check_account(supervisor, fleet.place)
            step.note = f"{supervisor.url}, process {supervisor.pid}"
        _deploy(state, supervisor, steps, project, fleet)
        return supervisor, ask_status(supervisor)
    except BaseException:
        if started:
            with steps.step("end what was started"):
                stop_supervisor(state)
        raise


def _deploy(
    state: LocalState, supervisor: Supervisor, steps: Steps, project: Project, fleet: ResolvedFleet
) -> None:
    access = embedded_access(fleet.place, supervisor.url, supervisor.keys)
    cdk = Cdk(
        state.root,
        access.cdk_environment,
        log=state.log("cdk"),
        where_logs="`fleet local logs` lists the logs",
        home=state.cache / "home",
    )
    assembly, progress = state.folder / "cdk.out", progress_on(steps.console)
    Deploy(
        project,
        fleet,
        access,
        cdk,
        assembly=assembly,
        steps=steps,
        progress=progress,
        consent=lambda _: True,  # nothing depends on what is on this machine
    ).run()


def _check_account(supervisor: Supervisor, place: Deployment) -> None:
    if (supervisor.account, supervisor.region) != (place.account, place.region):
        problem = f"the local fleet runs as account {supervisor.account} in {supervisor.region}"
        raise CannotRunError(problem, "run `fleet local down` first")


EMBEDDED_AWS = ("moto", "prometheus_client")


def check_place(root: Path) -> None:
    """See that Triton can serve from this folder.

    Raises:
        CannotRunError: its path holds white space.
    """
    if len(str(root).split()) != 1:
        problem = f"the path {root} holds white space, at which Triton splits its own commands"
        raise CannotRunError(problem, "move the folder to a path without")


def check_embedded_aws() -> None:
    """See that the embedded AWS can be started from this Python.

    Raises:
        CannotRunError: what it is made of is not installed.
    """
    for package in EMBEDDED_AWS:
        if importlib.util.find_spec(package) is None:
            raise CannotRunError(f"{package}, which the embedded AWS needs, is not installed", GET_LOCAL)
