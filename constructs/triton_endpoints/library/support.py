"""The parts that the endpoints of an environment share, in a stack of the app's own."""

from __future__ import annotations

from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from constructs import Construct

from triton_endpoints.endpoint.alarms import topic_parameter
from triton_endpoints.foundation import declare_foundation
from triton_endpoints.library.environment import EnvironmentProp, bound_roles, invalid_props, report, tag
from triton_endpoints.library.prop_types import has_right_types
from triton_endpoints.library.shared_parts import SharedParts, claim_builds
from triton_fleet.findings import FindingsError
from triton_fleet.spec.alarms import AlarmSeverity
from triton_fleet.spec.deployment import Deployment, bucket_of


class EndpointSupport(Construct):
    """The artifact bucket, the topics of alarms, what looks after scaling and logs, what checks and builds.

    One for each environment, account and region: the names of functions and topics follow from these, as
    those of the Foundation of `fleet deploy` do, and an account has one of either.
    """

    _shared_parts: SharedParts

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
            scope: The parent.
            id: The construct's own.
            environment: A name, the path of an environments/ENV.yaml, or a FleetEnvironment.
            bucket: The artifact bucket; default: the environment's `artifact_bucket`, else a new one with the
                name of `bucket_name`, which is retained.
            engine_builds: Whether TensorRT engines can be built.
            image_builds: Whether container images can be built.
        """
        super().__init__(scope, id)
        self._topics = dict[AlarmSeverity, sns.ITopic]()
        own_environment = environment if has_right_types(self, EndpointSupport, locals()) else None
        self._shared_parts = shared_parts = SharedParts(self, own_environment, bucket, is_declared=True)
        if shared_parts.deployment is not None and shared_parts.environment is not None:
            tag(self, shared_parts.deployment.tags)
            bound_roles(self, shared_parts.deployment)
            try:
                if engine_builds:
                    claim_builds(self, shared_parts.deployment, "engine")
                if image_builds:
                    claim_builds(self, shared_parts.deployment, "image")
            except FindingsError as error:
                report(self, error.findings)
            shared_parts.parts = declare_foundation(
                self,
                shared_parts.deployment,
                bucket=bucket,
                engine_builds=engine_builds,
                image_builds=image_builds,
            )

    @classmethod
    def from_environment(
        cls, scope: Construct, id: str, *, environment: EnvironmentProp, bucket: s3.IBucket | None = None
    ) -> EndpointSupport:
        """A deployed support: the Foundation of `fleet deploy`, or the support of another app.

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
    def bucket(self) -> s3.IBucket:
        """The artifact bucket; that of a deployed support is known by its name.

        Raises:
            ValueError: the environment is wrong; the text is that of the synth.
        """
        shared_parts = self._shared_parts
        if shared_parts.parts:
            return shared_parts.parts.bucket
        if shared_parts.bucket is None:
            shared_parts.bucket = s3.Bucket.from_bucket_name(self, "Bucket", self._deployment.bucket)
        return shared_parts.bucket

    def alarm_topic(self, severity: AlarmSeverity) -> sns.ITopic:
        """The topic that alarms of a severity notify; that of a deployed support is in the parameter store.

        Args:
            severity: `warning` or `critical`.

        Raises:
            ValueError: the environment is wrong; the text is that of the synth.
        """
        if severity not in self._topics:
            name, parts = f"{severity.capitalize()}Topic", self._shared_parts.parts
            if parts:
                arn = parts.topics.arns[severity]
            else:
                parameter = topic_parameter(self, severity, self._deployment.alarm_topic(severity, None))
                arn, name = parameter.value_as_string, f"Deployed{name}"
            self._topics[severity] = sns.Topic.from_topic_arn(self, name, arn)
        return self._topics[severity]

    @property
    def _deployment(self) -> Deployment:
        if self._shared_parts.deployment is None:
            raise invalid_props(self)
        return self._shared_parts.deployment


class _DeployedSupport(EndpointSupport):
    """A support of which nothing is declared here."""

    def __init__(
        self, scope: Construct, id: str, *, environment: EnvironmentProp, bucket: s3.IBucket | None
    ) -> None:
        super(EndpointSupport, self).__init__(scope, id)
        self._topics = dict[AlarmSeverity, sns.ITopic]()
        own_environment = environment if has_right_types(self, _DeployedSupport, locals()) else None
        self._shared_parts = SharedParts(self, own_environment, bucket, is_declared=False)


def shared_by(support: EndpointSupport) -> SharedParts:
    """The shared parts of a support."""
    return support._shared_parts
