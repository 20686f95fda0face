"""The functions of a stack whose endpoints share no support, each for the first endpoint that needs it."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from aws_cdk import Acknowledgment, RemovalPolicy, Stack, Validations
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from triton_endpoints.endpoint.check import EndpointCheck
from triton_endpoints.endpoint.logs import EndpointLogs
from triton_endpoints.endpoint.parts import EndpointParts, ServiceTokens
from triton_endpoints.library.environment import bound_roles, reference, tag
from triton_endpoints.library.shared_parts import calls, with_bucket
from triton_endpoints.logical_ids import identify_by_content
from triton_endpoints.scaling_guard import ScalingGuard
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.deployment import Deployment


class OwnFunctions:
    """Functions of an endpoint without a support, in its own stack, as far as it needs any."""

    def __init__(self) -> None:
        self._guard: ScalingGuard | None = None
        self._logs: EndpointLogs | None = None
        self._check: EndpointCheck | None = None

    def tokens(self, construct: Construct, endpoint: ResolvedEndpoint) -> ServiceTokens:
        """Whom the custom resources of an endpoint call.

        Raises:
            FindingsError: an endpoint of the stack describes the environment in another way.
        """
        spec, key = endpoint.spec, endpoint.deployment.kms_key
        # SageMaker makes log groups without the environment's key.
        needs_logs = "logs" in spec.model_fields_set or key is not None
        needs_check = bool(spec.samples or spec.warm)
        if endpoint.scaling is not None or needs_logs or needs_check:
            functions = _StackFunctions.of(construct, endpoint.deployment)
            self._guard = functions.guard if endpoint.scaling is not None else None
            self._logs = functions.logs if needs_logs else None
            self._check = functions.check if needs_check else None
        return ServiceTokens(
            guard=self._guard.service_token if self._guard else None,
            logs=self._logs.service_token if self._logs else None,
            check=self._check.service_token if self._check else None,
        )

    def serve(self, construct: Construct, endpoint: EndpointParts) -> None:
        """Deploy an endpoint after the functions.

        CloudFormation refuses another token for a custom resource: one that calls other functions, such as
        those of a support, is another resource.
        """
        for resource, functions in calls(endpoint, self._guard, self._logs, self._check):
            resource.node.add_dependency(functions)
            identify_by_content(resource, functions.service_token)


class _StackFunctions(Construct):
    """The functions of one stack for its endpoints of one environment; CloudFormation names everything."""

    _by_stack: ClassVar[dict[tuple[str, str], _StackFunctions]] = {}

    def __init__(self, construct: Construct, deployment: Deployment) -> None:
        super().__init__(Stack.of(construct), f"TritonFunctions-{deployment.environment}")
        self._first, self._deployment = construct, deployment
        tag(self, deployment.tags)
        bound_roles(self, deployment)

    @classmethod
    def of(cls, construct: Construct, deployment: Deployment) -> _StackFunctions:
        """Those of an endpoint's stack and environment.

        Raises:
            FindingsError: the endpoint for which they were declared describes the environment in another way.
        """
        key = (reference(Stack.of(construct)), deployment.environment)
        if key not in cls._by_stack:
            cls._by_stack[key] = cls(construct, deployment)
        functions = cls._by_stack[key]
        if _settings(functions._deployment) != _settings(deployment):
            message = (
                f"`environment` {deployment.environment!r} has another key, boundary, bucket or tags than"
                f" that of {functions._first.node.path}, with which the endpoint shares functions"
            )
            hint = "give both the same `environment`, or declare an EndpointSupport before them"
            raise FindingsError([Finding(code="FL608", message=message, hint=hint)])
        return functions

    @cached_property
    def guard(self) -> ScalingGuard:
        """The scaling guard, with the environment's bucket or a small one of its own."""
        deployment = self._deployment
        if deployment.given_bucket is None:
            deployment = with_bucket(deployment, _declare_bucket(self, deployment.kms_key))
        return ScalingGuard(self, "ScalingGuard", deployment=deployment, is_shared=False)

    @cached_property
    def logs(self) -> EndpointLogs:
        """The owner of log groups."""
        return EndpointLogs(self, "EndpointLogs", deployment=self._deployment, is_shared=False)

    @cached_property
    def check(self) -> EndpointCheck:
        """The endpoint check."""
        return EndpointCheck(self, "EndpointCheck", deployment=self._deployment, is_shared=False)


def _settings(deployment: Deployment) -> tuple[object, ...]:
    """The settings on which functions and their roles depend."""
    return (
        deployment.kms_key,
        deployment.permissions_boundary,
        deployment.given_bucket,
        dict(deployment.tags),
    )


def _declare_bucket(scope: Construct, kms_key: str | None) -> s3.Bucket:
    """A bucket of saved scalings. It is empty between two updates, so the stack can delete it."""
    key = kms.Key.from_key_arn(scope, "Key", kms_key) if kms_key else None
    bucket = s3.Bucket(
        scope,
        "SavedScalings",
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        encryption=s3.BucketEncryption.KMS if key else s3.BucketEncryption.S3_MANAGED,
        encryption_key=key,
        bucket_key_enabled=True if key else None,
        enforce_ssl=True,
        removal_policy=RemovalPolicy.DESTROY,
    )
    reason = "the scaling guard alone uses it, and logs what it saves and deletes"
    Validations.of(bucket).acknowledge(Acknowledgment(id="AwsSolutions-S1", reason=reason))
    return bucket
