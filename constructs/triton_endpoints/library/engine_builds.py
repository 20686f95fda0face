"""What builds TensorRT engines, without the other parts of a support."""

from __future__ import annotations

from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from constructs import Construct

from triton_endpoints.engines.build import EngineBuild
from triton_endpoints.library.environment import EnvironmentProp, bound_roles, read_environment, report, tag
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
            scope: The parent; its stack has an account and a region.
            id: The construct's own.
            environment: A name, the path of an environments/ENV.yaml, or a FleetEnvironment.
            failures: Who hears of builds that fail; EventBridge is granted to publish, which an imported
                topic has to allow itself.
            bucket: The artifact bucket where it is not the environment's own.
        """
        super().__init__(scope, id)
        try:
            found = read_environment(self, environment)
            deployment = with_bucket(found.deployment, bucket)
            claim_builds(self, deployment, "engine")
        except FindingsError as error:
            report(self, error.findings)
            return
        failures.grant_publish(iam.ServicePrincipal("events.amazonaws.com"))
        tag(self, deployment.tags)
        bound_roles(self, deployment)
        EngineBuild(self, "Resource", deployment=deployment, topic=failures.topic_arn)
