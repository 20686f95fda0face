"""A deploy to the embedded AWS, in the order of a deploy to an account."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fleet.artifacts.publish import publish
from fleet.artifacts.sources.opening import source_of
from fleet.findings import CannotRunError
from fleet.local.access import local_session
from fleet.local.cdk import Cdk
from fleet.local.failures import deploy_failure
from fleet.local.state import LocalState, Supervisor
from fleet.local.steps import Steps
from fleet.resolve.endpoint import ResolvedEndpoint, ResolvedFleet
from fleet.spec.project import Project

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_s3.client import S3Client


class LocalDeploy:
    """Synth, bootstrap, Foundation, then for each endpoint its archive and its stack."""

    def __init__(
        self, state: LocalState, supervisor: Supervisor, steps: Steps, project: Project, fleet: ResolvedFleet
    ) -> None:
        self._steps, self._project, self._fleet = steps, project, fleet
        self._assembly = str(state.folder / "cdk.out")
        log, home = state.log("cdk"), state.cache / "home"
        self._cdk = Cdk(state.root, url=supervisor.url, place=fleet.place, log=log, home=home)
        session, url = local_session(fleet.place.region), supervisor.url
        self._s3: S3Client = session.client("s3", endpoint_url=url)
        self._cloudformation: CloudFormationClient = session.client("cloudformation", endpoint_url=url)

    def run(self) -> None:
        """Deploy everything.

        Raises:
            FindingsError: a repository is not as locked, or a resource was refused or could not be served.
            CannotRunError: the CDK CLI failed otherwise.
        """
        self._synth()
        self._bootstrap()
        self._stack(self._fleet.place.stack)
        for endpoint in self._fleet.endpoints:
            self._publish(endpoint)
            self._stack(endpoint.stack)

    def _synth(self) -> None:
        names = ",".join(endpoint.name for endpoint in self._fleet.endpoints)
        context = ("-c", f"env={self._fleet.place.environment}", "-c", f"endpoints={names}")
        with self._steps.step("cdk synth"):
            self._succeed("synth", "--quiet", "--output", self._assembly, *context)

    def _bootstrap(self) -> None:
        place = self._fleet.place
        with self._steps.step("cdk bootstrap"):
            self._succeed("bootstrap", "--app", self._assembly, f"aws://{place.account}/{place.region}")

    def _publish(self, endpoint: ResolvedEndpoint) -> None:
        loaded = self._project.load(endpoint.name)
        with self._steps.step(f"publish {endpoint.name}") as step:
            uploaded = [
                archive
                for archive in endpoint.archives
                if publish(self._s3, endpoint, archive, source_of(loaded, archive.source))
            ]
            size = sum(archive.size for archive in uploaded)
            step.note = f"{size / 1e6:.1f} MB" if uploaded else "already there"

    def _stack(self, stack: str) -> None:
        command = ("deploy", stack, "--exclusively", "--app", self._assembly)
        with self._steps.step(f"cdk deploy {stack}"):
            run = self._cdk.run(*command, "--require-approval", "never", "--progress", "events")
            if run.exit_code != 0:
                raise deploy_failure(self._cloudformation, stack, run.output)

    def _succeed(self, *arguments: str) -> None:
        run = self._cdk.run(*arguments)
        if run.exit_code != 0:
            problem = f"cdk {arguments[0]} failed:\n{run.output.strip()}"
            raise CannotRunError(problem, "`fleet local logs cdk` has all of it")
