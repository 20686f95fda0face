"""What the endpoints of an environment share, in a stack of the app's own."""

from __future__ import annotations

from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from constructs import Construct

from triton_endpoints.foundation import declare_foundation
from triton_endpoints.library.environment import EnvironmentProp, bound_roles, report, tag
from triton_endpoints.library.shared_parts import SharedParts, claim_builds
from triton_fleet.findings import FindingsError
from triton_fleet.spec.alarms import AlarmSeverity
from triton_fleet.spec.deployment import bucket_of


class EndpointSupport(Construct):
    """The artifact bucket, the topics of alarms, what looks after scaling and logs, what checks and builds.

    One for each environment, account and region: the names of functions and topics follow from these, as
    those of the Foundation of `fleet deploy` do, and an account has one of either.
    """

    _shared: SharedParts

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: EnvironmentProp,
        bucket: s3.IBucket | None = None,
        engine_builds: bool = True,
        image_builds: bool = True,
    ) -> None:
        """Declare what the endpoints of an environment share.

        Args:
            scope: The parent; its stack has an account and a region.
            id: The construct's own.
            environment: A name, the path of an environments/ENV.yaml, or a FleetEnvironment.
            bucket: The artifact bucket; default: the environment's `artifact_bucket`, else a new one with the
                name of `bucket_name`, which is retained.
            engine_builds: Whether TensorRT engines can be built.
            image_builds: Whether container images can be built.
        """
        super().__init__(scope, id)
        self._topics = dict[AlarmSeverity, sns.ITopic]()
        self._shared = shared = SharedParts(self, environment, bucket, declared=True)
        if shared.deployment is not None and shared.environment is not None:
            tag(self, shared.deployment.tags)
            bound_roles(self, shared.deployment)
            try:
                if engine_builds:
                    claim_builds(self, shared.deployment, "engine")
                if image_builds:
                    claim_builds(self, shared.deployment, "image")
            except FindingsError as error:
                report(self, error.findings)
            shared.parts = declare_foundation(
                self, shared.deployment, bucket=bucket, engine_builds=engine_builds, image_builds=image_builds
            )

    @classmethod
    def from_environment(
        cls, scope: Construct, id: str, *, environment: EnvironmentProp, bucket: s3.IBucket | None = None
    ) -> EndpointSupport:
        """What is deployed already: the Foundation of `fleet deploy`, or the support of another app.

        Args:
            scope: The parent; its stack has the environment's account and region.
            id: The construct's own.
            environment: As for a support that is declared.
            bucket: The artifact bucket where it is not the environment's own.
        """
        return _DeployedSupport(scope, id, environment=environment, bucket=bucket)

    @staticmethod
    def bucket_name(environment: str, account: str, region: str) -> str:
        """The name of an environment's own artifact bucket, to which `fleet publish` uploads."""
        return bucket_of(environment, account, region)

    @property
    def bucket(self) -> s3.IBucket | None:
        """The artifact bucket; None where nothing is declared here and none was given."""
        return self._shared.parts.bucket if self._shared.parts else self._shared.bucket

    def alarm_topic(self, severity: AlarmSeverity) -> sns.ITopic:
        """The topic that alarms of a severity notify, of a support that is declared here.

        Args:
            severity: `warning` or `critical`.

        Raises:
            ValueError: it is deployed elsewhere, or wrong.
        """
        if self._shared.parts is None:
            raise ValueError(f"{self.node.path} declares no topics; take them from where it is declared")
        if severity not in self._topics:
            arn = self._shared.parts.topics.arns[severity]
            self._topics[severity] = sns.Topic.from_topic_arn(self, f"{severity.capitalize()}Topic", arn)
        return self._topics[severity]


class _DeployedSupport(EndpointSupport):
    """A support of which nothing is declared here."""

    def __init__(
        self, scope: Construct, id: str, *, environment: EnvironmentProp, bucket: s3.IBucket | None
    ) -> None:
        super(EndpointSupport, self).__init__(scope, id)
        self._topics = dict[AlarmSeverity, sns.ITopic]()
        self._shared = SharedParts(self, environment, bucket, declared=False)


def shared_by(support: EndpointSupport) -> SharedParts:
    """What a support stands for."""
    return support._shared
