"""`fleet local up`: the app deployed by the real CDK to an embedded AWS, in a real deploy's order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from botocore.exceptions import BotoCoreError

from triton_fleet.aws.access import embedded_access
from triton_fleet.aws.deploy.cdk import Cdk
from triton_fleet.aws.deploy.deploy import Deploy, Parallelism
from triton_fleet.check.run import judged_fleet
from triton_fleet.endpoint.resolved_endpoint import ResolvedFleet
from triton_fleet.findings import CannotRunError, Failure, FindingsError, SeveralFailuresError
from triton_fleet.local.limitations import servable
from triton_fleet.local.session import start_supervisor, stop_supervisor
from triton_fleet.local.state import LocalState, Supervisor
from triton_fleet.local.status import Status, ask_status
from triton_fleet.printers.console import OutputConsole
from triton_fleet.printers.human import show_findings
from triton_fleet.printers.steps import Steps
from triton_fleet.product.tools import cdk_cli, cdk_toolkit
from triton_fleet.project.project import Fleet, Project
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.environment import LOCAL
from triton_fleet.store.lock import write_locks
from triton_fleet.store.progress import progress_on


@dataclass(frozen=True, kw_only=True)
class LocalFleet:
    """Endpoints that run after `fleet local up`, and the failure of those that do not."""

    supervisor: Supervisor
    status: Status
    failure: Failure | SeveralFailuresError | None


def up(
    files: Fleet, endpoints: Sequence[str], console: OutputConsole, *, concurrency: int, fail_fast: bool
) -> LocalFleet:
    """Deploy the endpoints locally, or deploy them again to what runs already; return when they answer.

    An endpoint that fails leaves the others running. Where none is deployed, or at an interruption, a
    background process that it started itself is stopped again.

    Raises:
        FindingsError: the files are wrong, or no deployed model can be served.
        CannotRunError: a tool or a platform is missing.
        SeveralFailuresError: several endpoints failed, and no other is deployed.
    """
    state = LocalState(files.root)
    parallelism = Parallelism(concurrency=concurrency, fail_fast=fail_fast)
    try:
        with state.lock_deploys():
            return _up(state, files, endpoints, Steps(console), parallelism)
    except BotoCoreError as error:
        problem = f"the embedded AWS does not answer: {error}"
        raise CannotRunError(problem, "run `fleet local up` again") from error


def _up(
    state: LocalState, files: Fleet, endpoints: Sequence[str], steps: Steps, parallelism: Parallelism
) -> LocalFleet:
    root, is_started = state.root, False
    with steps.step("files"):
        cdk_cli(root)
        cdk_toolkit(root)
        check_place(root)
        project = files.open(LOCAL, endpoints)
        write_locks(project, drop_missing=True)  # nobody reviews these
        project, findings = servable(project, is_explicit=bool(endpoints))
        fleet = judged_fleet(project)  # the locks are those of a moment ago
    if findings:
        show_findings(findings)
    try:
        with steps.step("embedded AWS") as step:
            supervisor = state.supervisor()
            if supervisor is None:
                supervisor = start_supervisor(state)
                is_started = True
            _check_account(supervisor, fleet.deployment)
            step.note = f"{supervisor.url}, process {supervisor.pid}"
        failure = _deploy(state, supervisor, steps, project, fleet, parallelism)
        return LocalFleet(supervisor=supervisor, status=ask_status(supervisor), failure=failure)
    except BaseException:
        if is_started:
            with steps.step("stop what was started"):
                stop_supervisor(state)
        raise


def _deploy(
    state: LocalState,
    supervisor: Supervisor,
    steps: Steps,
    project: Project,
    fleet: ResolvedFleet,
    parallelism: Parallelism,
) -> Failure | SeveralFailuresError | None:
    """Deploy; the failure of some endpoints, if others are deployed."""
    access = embedded_access(fleet.deployment, supervisor.url, supervisor.keys)
    cdk = Cdk(
        state.root,
        access.cdk_environment,
        log=state.log("cdk"),
        where_logs="`fleet local logs` lists the logs",
        home=state.cache / "home",
    )
    assembly, progress = state.folder / "cdk.out", progress_on(steps.console)
    work = Deploy(
        project,
        fleet,
        access,
        cdk,
        assembly=assembly,
        steps=steps,
        progress=progress,
        consent=lambda _: True,  # nothing depends on what is on this machine
        log_of=lambda name: (state.deploy_log(name), f"its log: `fleet local logs cdk/{name}`"),
        parallelism=parallelism,
    )
    try:
        work.run()
    except (FindingsError, CannotRunError, SeveralFailuresError) as failure:
        if not work.successes:
            raise
        return failure
    return None


def _check_account(supervisor: Supervisor, deployment: Deployment) -> None:
    if (supervisor.account, supervisor.region) != (deployment.account, deployment.region):
        problem = f"the local fleet runs as account {supervisor.account} in {supervisor.region}"
        raise CannotRunError(problem, "run `fleet local down` first")


def check_place(root: Path) -> None:
    """See that Triton can serve from this folder.

    Raises:
        CannotRunError: its path holds white space.
    """
    if len(str(root).split()) != 1:
        problem = f"the path {root} contains white space, at which Triton splits its own commands"
        raise CannotRunError(problem, "move the folder to a path without white space")
