"""Deploys one environment to its account or to the embedded AWS, with the same steps in the same order."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.aws.access import Access
from triton_fleet.aws.deploy.cdk import Cdk
from triton_fleet.aws.deploy.endpoint_wait import (
    GuardWatch,
    await_endpoint,
    configuration_to_replace,
    skipped_waits,
)
from triton_fleet.aws.deploy.failures import deploy_failure, is_of_new_role
from triton_fleet.aws.deploy.stack_lease import StackLeases
from triton_fleet.aws.deploy.stack_repair import (
    Consent,
    is_unchanged,
    must_bootstrap,
    ready_stack,
    with_failed_rollback,
)
from triton_fleet.aws.deploy.worker_pool import Admission, Headroom, WorkerPool
from triton_fleet.aws.running_configuration import require_own_configuration, require_own_content
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.awsapi.stack import EMPTY_STATES, find_stack, last_event, settled_stack
from triton_fleet.catalog.cloudformation import StackState
from triton_fleet.changes.stack_comparison import synthesised_stack
from triton_fleet.context.capacity import DEFAULT_CONCURRENCY
from triton_fleet.core.formats import count_of
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint, ResolvedFleet
from triton_fleet.findings import CannotRunError, FindingsError, one_failure
from triton_fleet.printers.steps import Step, Steps
from triton_fleet.product.synthesis import OWN_PYTHON, app_command
from triton_fleet.project.project import Project
from triton_fleet.spec.environment import LOCAL
from triton_fleet.store.progress import PublishProgress, shown_builder, shown_size
from triton_fleet.store.publish.publish import publish
from triton_fleet.store.releases import ReleaseSource, record_release

NO_CHANGE, CONTINUATION = "nothing to do", "its rollback was continued"


@dataclass(frozen=True, kw_only=True)
class Parallelism:
    """How endpoints are deployed side by side.

    Attributes:
        concurrency: How many at one time.
        fail_fast: Whether none begins after one has failed; those that run are finished.
        headroom: What the instances that deploys start may come to; asked only for two endpoints or more.
    """

    concurrency: int = DEFAULT_CONCURRENCY
    fail_fast: bool = False
    headroom: Callable[[Sequence[ResolvedEndpoint]], Headroom] = lambda _: Headroom()


class Deploy:
    """Synth, bootstrap, Foundation and publish, one after the other; then the endpoints side by side.

    Each step does what is not done yet, so a deploy that was interrupted at any point can be run again. The
    first step that fails ends the deploy; an endpoint that fails does not stop the others. `consent` is
    called before a stopped rollback is continued, in the main thread. `log_of` is the log of an endpoint's
    deploy, and how a user finds it. `sources` is who deploys an endpoint from what, and `leases` keep deploys
    from other clones apart; both are None on a laptop. `imports`: Foundation takes over what exists under its
    names. No other deploy may use the assembly's folder meanwhile.
    """

    def __init__(
        self,
        project: Project,
        fleet: ResolvedFleet,
        access: Access,
        cdk: Cdk,
        *,
        assembly: Path,
        steps: Steps,
        progress: PublishProgress,
        consent: Consent,
        log_of: Callable[[str], tuple[Path, str]],
        parallelism: Parallelism,
        imports: bool = False,
        leases: StackLeases | None = None,
        sources: Callable[[str], ReleaseSource] | None = None,
    ) -> None:
        self._project, self._fleet, self._access = project, fleet, access
        self._cdk, self._assembly, self._steps, self._progress = cdk, assembly, steps, progress
        self._log_of, self._parallelism, self._imports = log_of, parallelism, imports
        self._leases = leases
        self._sources = sources
        self._pool = WorkerPool(parallelism.concurrency, consent, fail_fast=parallelism.fail_fast)
        self._endpoints = {endpoint.name: endpoint for endpoint in fleet.endpoints}
        self._images: Mapping[str, str] = {}
        self.successes: list[str] = []
        """The endpoints that run what their locks record."""

    def run(self) -> None:
        """Deploy everything.

        Raises:
            FindingsError: a repository differs from its lock, or a resource failed.
            CannotRunError: AWS refuses or does not answer, a stack is stuck, or the CDK failed otherwise.
            SeveralFailuresError: several endpoints failed.
        """
        deployment = self._fleet.deployment
        plan: list[tuple[str, Callable[[Step], None]]] = [
            ("cdk synth", self._synth),
            ("cdk bootstrap", self._bootstrap),
            (_title(deployment.stack), self._foundation),
            ("publish", self._publish),
        ]
        self._steps.to_come = [title for title, _ in plan]
        self._steps.to_come += [_title(endpoint.stack) for endpoint in self._fleet.endpoints]
        try:
            if self._leases is not None:
                with aws_errors_as_findings():
                    self._leases.begin()
            for title, work in plan:
                with self._steps.step(title, spinner=title != "publish") as step, aws_errors_as_findings():
                    work(step)
            try:
                self._deploy_endpoints()
            except BaseException:
                self._steps.interrupt()
                raise
            self._cdk.finish()
        finally:
            self._cdk.end()
            if self._leases is not None:
                self._leases.end()
        if self._pool.failures:
            raise one_failure(self._pool.failures)

    def _deploy_endpoints(self) -> None:
        names, names_to_deploy = list(self._endpoints), list[str]()

        def compare(name: str) -> None:
            endpoint = self._endpoints[name]
            if not is_unchanged(self._access, self._assembly, endpoint.stack):
                names_to_deploy.append(name)
                return
            with self._steps.step(_title(endpoint.stack)) as step, aws_errors_as_findings():
                step.note = NO_CHANGE
                self._finish(endpoint)

        self._pool.run(Admission(names, Headroom()), compare)
        names_to_deploy.sort(key=names.index)
        headroom = Headroom()
        if min(len(names_to_deploy), self._parallelism.concurrency) > 1:
            headroom = self._parallelism.headroom([self._endpoints[name] for name in names_to_deploy])
        for notice in headroom.notices:
            self._steps.say(notice)
        self._pool.run(Admission(names_to_deploy, headroom), self._deploy_endpoint)

    def _synth(self, _step: Step) -> None:
        # A killed CLI leaves its lock here, which stays valid while any process has that CLI's process id.
        shutil.rmtree(self._assembly, ignore_errors=True)
        names = ",".join(endpoint.name for endpoint in self._fleet.endpoints)
        selection = ("-c", f"endpoints={names}" if names else "foundation=only")
        environment = ("-c", f"env={self._fleet.deployment.environment}")
        app = ("--app", shlex.join(app_command(OWN_PYTHON, self._project.root)))
        self._run_cdk("synth", "--quiet", "--output", str(self._assembly), *app, *environment, *selection)

    def _bootstrap(self, step: Step) -> None:
        deployment, step.note = self._fleet.deployment, NO_CHANGE
        if must_bootstrap(self._access, self._assembly, self._steps.say):
            self._run_cdk(
                "bootstrap", "--app", str(self._assembly), f"aws://{deployment.account}/{deployment.region}"
            )
            step.note = "bootstrapped"

    def _publish(self, step: Step) -> None:
        s3 = self._access.client("s3")
        endpoints, builders = self._fleet.endpoints, self._access.engine_clients
        publication = publish(
            s3, self._project, endpoints, self._progress, builders, ecr=lambda: self._access.client("ecr")
        )
        self._images = publication.images.digests
        for note in (
            *map(str, publication.warnings),
            *publication.images.notes(self._fleet.deployment.environment),
        ):
            self._steps.say(note)
        by = shown_builder(self._fleet.deployment.environment)
        images = publication.images.new_count
        parts = [f"{count_of(images, 'image')} built"] if images else []
        parts += [f"{count_of(publication.engines, 'engine')} built{by}"] if publication.engines else []
        parts += [f"{shown_size(publication.bytes)} uploaded"] if publication.uploads else []
        parts += [f"{publication.copies} copied within S3"] if publication.copies else []
        step.note = ", ".join(parts) or NO_CHANGE

    def _foundation(self, step: Step) -> None:
        stack, step.note = self._fleet.deployment.stack, NO_CHANGE
        if is_unchanged(self._access, self._assembly, stack):
            return
        with self._turn(stack) as is_needed:
            if is_needed:
                self._stack(self._cdk, step, None)

    def _turn(self, stack: str) -> AbstractContextManager[bool]:
        """The lease of a stack that would change; whether it still would when other deploys have ended."""
        if self._leases is None:
            return nullcontext(True)
        return self._leases.turn(stack, lambda: is_unchanged(self._access, self._assembly, stack))

    def _stack(self, cdk: Cdk, step: Step, endpoint: ResolvedEndpoint | None) -> None:
        """Deploy an endpoint's stack, or Foundation for None, without confirmation: the change was reviewed.

        SageMaker has to have finished with the endpoint before.
        """
        cloudformation, deployment = self._access.client("cloudformation"), self._fleet.deployment
        name = deployment.stack if endpoint is None else endpoint.stack
        ready = ready_stack(self._access, name, self._pool.ask, self._steps.say)
        before = ready.stack
        if ready.continuation:
            self._steps.say(ready.continuation)
        if endpoint is not None:
            await_endpoint(self._access, endpoint.name, self._steps.say)
        previous_config = configuration_to_replace(self._access, endpoint)
        last_event_id = last_event(cloudformation, before) if before is not None else None
        change_set = synthesised_stack(self._assembly, name).change_set
        imports = self._imports and endpoint is None
        if self._leases is not None:
            self._leases.require(name)
        watch = GuardWatch(self._access, endpoint, self._steps.say)
        run = cdk.deploy(self._assembly, name, change_set, imports=imports, watch=watch)
        if run.exit_code != 0:
            is_new = before is None or before.state in EMPTY_STATES
            log_hint = cdk.where_logs
            # If a local deploy fails, `fleet doctor` might find nothing: its AWS may end with it.
            if endpoint is not None and deployment.environment != LOCAL:
                log_hint += f"; run `fleet doctor {endpoint.name} --env {deployment.environment}`"
            foundation_environment = deployment.environment if endpoint is None else ""
            failure = deploy_failure(
                cloudformation,
                name,
                run.output,
                log_hint,
                is_new=is_new,
                since=last_event_id,
                foundation_of=foundation_environment,
            )
            raise with_failed_rollback(failure, self._access, name, self._pool.ask, self._steps.say)
        after = find_stack(cloudformation, name)
        if after is not None and after.state is StackState.UNDER_WAY:  # another clone's deploy has begun
            after = settled_stack(cloudformation, after)
        if after is None:
            raise CannotRunError(f"the stack {name} was deleted during its deploy", "deploy again")
        if before is None or before.id != after.id or before.state is StackState.PLANNED:
            step.note = "created"
        else:
            step.note = NO_CHANGE if last_event(cloudformation, after) == last_event_id else "updated"
            if before.is_protected != after.is_protected:  # CloudFormation has no event of it
                step.note = f"{step.note}, termination protection {'on' if after.is_protected else 'off'}"
        if ready.continuation:
            step.note = CONTINUATION if step.note == NO_CHANGE else f"{CONTINUATION}; {step.note}"
        if waits := skipped_waits(self._access, endpoint, previous_config):
            step.note += f"; {waits}"

    def _deploy_endpoint(self, name: str) -> None:
        endpoint = self._endpoints[name]
        title, (log, log_hint) = _title(endpoint.stack), self._log_of(name)
        cdk = self._cdk.with_log(log, log_hint)
        with (
            self._steps.step(title, start_text=f"{title}: started; {log_hint}") as step,
            aws_errors_as_findings(),
            self._turn(endpoint.stack) as is_needed,
        ):
            step.note = NO_CHANGE
            try:
                if is_needed:
                    self._stack(cdk, step, endpoint)
            except FindingsError as error:
                if not is_of_new_role(self._access.client("cloudformation"), endpoint.stack, error):
                    raise
                self._steps.say(f"{name}: SageMaker could not assume the new role yet: deploying once more")
                self._stack(cdk, step, endpoint)
            self._finish(endpoint)

    def _finish(self, endpoint: ResolvedEndpoint) -> None:
        """If an endpoint runs what its stack declares, record its release."""
        sagemaker, cloudformation = self._access.client("sagemaker"), self._access.client("cloudformation")
        require_own_configuration(sagemaker, cloudformation, endpoint)
        require_own_content(sagemaker, endpoint)
        source = self._sources(endpoint.name) if self._sources else None
        record_release(self._access.client("s3"), endpoint, self._images.get(endpoint.name), source)
        self.successes.append(endpoint.name)

    def _run_cdk(self, *arguments: str) -> None:
        run = self._cdk.run(*arguments)
        if run.exit_code != 0:
            problem = f"cdk {arguments[0]} failed:\n{run.output.strip()}"
            raise CannotRunError(problem, self._cdk.where_logs)


def _title(stack: str) -> str:
    return f"cdk deploy {stack}"
