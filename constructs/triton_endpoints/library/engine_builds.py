"""The builds of TensorRT engines, without the other parts of a support."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from constructs import Construct

from triton_endpoints.engines.assembly import ModelAssembler
from triton_endpoints.engines.build import EngineBuild
from triton_endpoints.library.environment import (
    EnvironmentProp,
    bound_roles,
    invalid_props,
    read_environment,
    reference,
    report,
    tag,
)
from triton_endpoints.library.prop_types import has_right_types
from triton_endpoints.library.shared_parts import claim_builds, with_bucket
from triton_endpoints.library.support import EndpointSupport, shared_by
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.deployment import Deployment


@dataclass(frozen=True)
class BuildParts:
    """The engine builds that an app declares, and the bucket that they use if it is one of the app's."""

    construct: Construct
    deployment: Deployment
    build: EngineBuild
    bucket: s3.IBucket | None


class EngineBuilds(Construct):
    """The CodeBuild project of an environment's engines, which `fleet publish` and `fleet engines` start.

    Names follow from the environment: an EndpointSupport of the same environment takes `engine_builds=False`.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: EnvironmentProp,
        failures: sns.ITopic,
        bucket: s3.IBucket | None = None,
    ) -> None:
        """Declare the project, its role, that of jobs, and the rule that reports builds that fail.

        Args:
            scope: The parent.
            id: The construct's own.
            environment: A name, the path of an environments/ENV.yaml, or a FleetEnvironment.
            failures: Who hears of builds that fail; EventBridge is granted to publish, which an imported
                topic has to allow itself.
            bucket: The artifact bucket where it is not the environment's own.
        """
        super().__init__(scope, id)
        self._project: codebuild.IProject | None = None
        self._job_role: iam.IRole | None = None
        self._builds: BuildParts | None = None
        if not has_right_types(self, EngineBuilds, locals()):
            return
        try:
            source = read_environment(self, environment)
            deployment = with_bucket(source.deployment, bucket)
            claim_builds(self, deployment, "engine")
        except FindingsError as error:
            report(self, error.findings)
            return
        failures.grant_publish(iam.ServicePrincipal("events.amazonaws.com"))
        tag(self, deployment.tags)
        bound_roles(self, deployment)
        build = EngineBuild(self, "Resource", deployment=deployment, topic=failures.topic_arn)
        name = build.project.ref
        self._project = codebuild.Project.from_project_name(self, "Project", name)
        self._job_role = iam.Role.from_role_name(self, "Jobs", build.job_role.ref)
        self._builds = BuildParts(self, deployment, build, bucket)

    @property
    def project(self) -> codebuild.IProject:
        """The CodeBuild project that starts the jobs of engines.

        Raises:
            ValueError: the props are wrong; the text is that of the synth.
        """
        if self._project is None:
            raise invalid_props(self)
        return self._project

    @property
    def job_role(self) -> iam.IRole:
        """The role of the SageMaker jobs.

        Raises:
            ValueError: as of `project`.
        """
        if self._job_role is None:
            raise invalid_props(self)
        return self._job_role

    def grant_start(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody start builds of the project, and see and stop them.

        Raises:
            ValueError: as of `project`.
        """
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["codebuild:BatchGetBuilds", "codebuild:StartBuild", "codebuild:StopBuild"],
            resource_arns=[self.project.project_arn],
        )


_assemblers: dict[str, ModelAssembler] = {}
"""By the references of constructs that declare builds."""


def assembler_of(builds: EngineBuilds | EndpointSupport) -> ModelAssembler | None:
    """The functions that have engines built during a deploy, declared with the first model that needs them.

    Returns:
        None where the builds are wrong, which they report themselves.

    Raises:
        FindingsError: the support has no builds of engines in this app.
    """
    parts = builds._builds if isinstance(builds, EngineBuilds) else _builds_of_support(builds)
    if parts is None:
        return None
    key = reference(parts.construct)
    if key not in _assemblers:
        _assemblers[key] = ModelAssembler(
            parts.construct,
            "ModelAssembly",
            deployment=parts.deployment,
            job_role=parts.build.job_role.attr_arn,
            needs=[parts.build, *([parts.bucket] if parts.bucket else [])],
        )
    return _assemblers[key]


def _builds_of_support(support: EndpointSupport) -> BuildParts | None:
    shared_parts = shared_by(support)
    parts, deployment = shared_parts.parts, shared_parts.deployment
    if deployment is None:
        return None
    if parts is None or parts.engine_build is None:
        reason = "it is deployed elsewhere" if parts is None else "it has `engine_builds=False`"
        message = f"`model.engine_builds` is a support that declares no builds of engines: {reason}"
        hint = "declare an EngineBuilds, or an EndpointSupport with builds of engines, in this app"
        raise FindingsError([Finding(code="FL608", message=message, hint=hint)])
    return BuildParts(support, deployment, parts.engine_build, parts.bucket)
