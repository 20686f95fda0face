"""`fleet local up`: the app deployed by the real CDK CLI to an embedded AWS, in a real deploy's order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError
from rich.console import Console

from fleet.artifacts.lock import repository_of, write_locks
from fleet.artifacts.publish import publish
from fleet.findings import CannotRunError
from fleet.local.access import ENVIRONMENT, local_session
from fleet.local.cdk import Cdk
from fleet.local.failures import deploy_failure
from fleet.local.session import start_supervisor, stop_supervisor
from fleet.local.state import LocalState, Supervisor
from fleet.local.status import Status, ask_status
from fleet.local.steps import Steps
from fleet.local.tools import cdk_cli, check_embedded_aws, check_place
from fleet.resolve.endpoint import ResolvedEndpoint, ResolvedFleet
from fleet.resolve.resolve import resolve_fleet
from fleet.spec.project import Project, open_project

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_s3.client import S3Client


def up(root: Path, endpoints: Sequence[str], console: Console) -> tuple[Supervisor, Status]:
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
        project = open_project(root, ENVIRONMENT, endpoints)
        write_locks(project)
        fleet = resolve_fleet(root, ENVIRONMENT, endpoints)
    try:
        with steps.step("embedded AWS") as step:
            supervisor = state.supervisor()
            if supervisor is None:
                supervisor = start_supervisor(state, fleet.place.account)
                started = True
            step.note = f"{supervisor.url}, process {supervisor.pid}"
        _deploy(_Deploy(state, supervisor, steps, project, fleet))
        return supervisor, ask_status(supervisor)
    except BaseException:
        if started:
            with steps.step("end what was started"):
                stop_supervisor(state)
        raise


class _Deploy:
    """The parts that every step of a deploy needs."""

    def __init__(
        self, state: LocalState, supervisor: Supervisor, steps: Steps, project: Project, fleet: ResolvedFleet
    ) -> None:
        self.steps, self.project, self.fleet = steps, project, fleet
        self.assembly = str(state.folder / "cdk.out")
        self.cdk = Cdk(state.root, url=supervisor.url, place=fleet.place, log=state.log("cdk"))
        session = local_session(fleet.place.region)
        self.s3: S3Client = session.client("s3", endpoint_url=supervisor.url)
        self.cloudformation: CloudFormationClient = session.client(
            "cloudformation", endpoint_url=supervisor.url
        )


def _deploy(deploy: _Deploy) -> None:
    place = deploy.fleet.place
    names = [endpoint.name for endpoint in deploy.fleet.endpoints]
    with deploy.steps.step("cdk synth"):
        context = ["-c", f"env={place.environment}", "-c", f"endpoints={','.join(names)}"]
        _cdk(deploy, "synth", "--quiet", "--output", deploy.assembly, *context)
    with deploy.steps.step("cdk bootstrap"):
        _cdk(deploy, "bootstrap", "--app", deploy.assembly, f"aws://{place.account}/{place.region}")
    _deploy_stack(deploy, place.stack)
    for endpoint in deploy.fleet.endpoints:
        _publish(deploy, endpoint)
        _deploy_stack(deploy, endpoint.stack)


def _publish(deploy: _Deploy, endpoint: ResolvedEndpoint) -> None:
    with deploy.steps.step(f"publish {endpoint.name}") as step:
        uploaded = publish(deploy.s3, endpoint, repository_of(deploy.project.load(endpoint.name)))
        step.note = f"{endpoint.artifact.size / 1e6:.1f} MB" if uploaded else "already there"


def _deploy_stack(deploy: _Deploy, stack: str) -> None:
    with deploy.steps.step(f"cdk deploy {stack}"):
        command = ("deploy", stack, "--exclusively", "--app", deploy.assembly)
        run = deploy.cdk.run(*command, "--require-approval", "never", "--progress", "events")
        if run.exit_code != 0:
            raise deploy_failure(deploy.cloudformation, stack, run.output)


def _cdk(deploy: _Deploy, *arguments: str) -> None:
    run = deploy.cdk.run(*arguments)
    if run.exit_code != 0:
        problem = f"cdk {arguments[0]} failed:\n{run.output.strip()}"
        raise CannotRunError(problem, "`fleet local logs cdk` has all of it")
