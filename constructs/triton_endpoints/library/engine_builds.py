"""The builds of TensorRT engines, without the other parts of a support."""

from __future__ import annotations

from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from constructs import Construct

from triton_endpoints.engines.build import EngineBuild
from triton_endpoints.library.environment import (
    EnvironmentProp,
    bound_roles,
    invalid_props,
    read_environment,
    report,
    tag,
)
from triton_endpoints.library.shared_parts import claim_builds, with_bucket
from triton_fleet.findings import FindingsError


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
