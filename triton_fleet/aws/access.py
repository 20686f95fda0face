"""Access to the AWS of one environment: its account's, or the embedded one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

from triton_fleet.awsapi.emulator import LOCAL_FLEET_HEADER, Keys, local_session, local_variables
from triton_fleet.awsapi.errors import aws_errors_as_findings, refuse_cut_answers
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.deployment import Deployment
from triton_fleet.store.builds.codebuild import BuildClients

if TYPE_CHECKING:
    import boto3
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_cloudwatch.client import CloudWatchClient
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_sagemaker.client import SageMakerClient
    from mypy_boto3_ssm.client import SSMClient
    from mypy_boto3_sts.client import STSClient
    from mypy_boto3_sts.type_defs import GetCallerIdentityResponseTypeDef

KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_DEFAULT_PROFILE")
"""Variables that would override the requested profile."""


class Access:
    """Access to one environment's AWS; settings are read when the first client is requested.

    `cdk_environment` is the environment with which the CDK CLI calls the same AWS as the same user.
    """

    def __init__(
        self,
        deployment: Deployment,
        session: Callable[[], boto3.Session],
        cdk_environment: Mapping[str, str],
        url: str | None = None,
    ) -> None:
        self.deployment = deployment
        self.cdk_environment = dict(cdk_environment)
        self._make_session = session
        self._url = url
        self._clients: dict[str, Any] = {}
        self._lock = threading.RLock()

    @overload
    def client(self, service: Literal["cloudformation"]) -> CloudFormationClient: ...
    @overload
    def client(self, service: Literal["cloudwatch"]) -> CloudWatchClient: ...
    @overload
    def client(self, service: Literal["s3"]) -> S3Client: ...
    @overload
    def client(self, service: Literal["sagemaker"]) -> SageMakerClient: ...
    @overload
    def client(self, service: Literal["ssm"]) -> SSMClient: ...
    @overload
    def client(self, service: Literal["sts"]) -> STSClient: ...
    @overload
    def client(
        self,
        service: Literal[
            "application-autoscaling", "codebuild", "ec2", "ecr", "iam", "lambda", "logs", "service-quotas"
        ],
    ) -> Any: ...
    def client(self, service: str) -> Any:
        """The client of a service in the environment's region, created once; threads may share it.

        Raises:
            CannotRunError: the profile does not exist, or its settings are wrong.
        """
        with self._lock:  # threads share a client, but not the session that makes it
            if service not in self._clients:
                from triton_fleet.store.upload.archives import UPLOAD_CONFIG

                make: Any = self._session.client  # its overloads need literals
                config = UPLOAD_CONFIG if service == "s3" else None
                with aws_errors_as_findings():
                    self._clients[service] = make(service, endpoint_url=self._url, config=config)
            return self._clients[service]

    def fixed_expiry(self) -> str | None:
        """When credentials in environment variables expire, which nothing refreshes; None if it is unknown.

        Those of profiles, roles and sign-ins are refreshed by botocore and, from the same settings, by each
        process of the CDK CLI.

        Raises:
            CannotRunError: the profile does not exist, or its settings are wrong.
        """
        with aws_errors_as_findings():
            credentials = self._session.get_credentials()
        is_fixed = credentials is not None and credentials.method == "env"
        return self.cdk_environment.get("AWS_CREDENTIAL_EXPIRATION") if is_fixed else None

    def engine_clients(self) -> BuildClients:
        """The clients that builds of engines use.

        Raises:
            CannotRunError: the profile does not exist, or its settings are wrong.
        """
        return BuildClients(
            s3=self.client("s3"),
            ssm=self.client("ssm"),
            codebuild=self.client("codebuild"),
            logs=self.client("logs"),
        )

    def check_account(self) -> str:
        """Check that the credentials belong to the environment's account; return the ARN of their owner.

        Raises:
            FindingsError: they belong to another account.
            CannotRunError: there are no credentials, or AWS does not answer.
        """
        caller = self._caller
        if caller["Account"] == self.deployment.account:
            return caller["Arn"]
        environment = self.deployment.environment
        message = (
            f"{environment!r} is deployed to account {self.deployment.account}; "
            f"these credentials belong to account {caller['Account']} ({caller['Arn']})"
        )
        hint = f"pass a profile of that account with --profile, or correct environments/{environment}.yaml"
        raise FindingsError([Finding(code="FL602", message=message, hint=hint)])

    @cached_property
    def is_local_fleet(self) -> bool:
        """Whether the AWS that answers is the one of a local fleet, which serves the endpoints on a machine.

        Raises:
            CannotRunError: there are no credentials, or AWS does not answer.
        """
        return LOCAL_FLEET_HEADER in self._caller["ResponseMetadata"]["HTTPHeaders"]

    @cached_property
    def _caller(self) -> GetCallerIdentityResponseTypeDef:
        with aws_errors_as_findings():
            return self.client("sts").get_caller_identity()

    @cached_property
    def _session(self) -> boto3.Session:
        with aws_errors_as_findings():
            return self._make_session()


def account_access(deployment: Deployment, profile: str | None, *, attempts: int | None = None) -> Access:
    """Access to the environment's account with the user's own AWS settings, or with a profile.

    `attempts` is how often a call is made at most, unless those settings set it. Default: as botocore.
    """
    variables = {**os.environ, "AWS_REGION": deployment.region, "AWS_DEFAULT_REGION": deployment.region}
    if profile is not None:
        variables = {key: value for key, value in variables.items() if key not in KEYS}
        variables["AWS_PROFILE"] = profile

    def session() -> boto3.Session:
        # Here, as boto3 is a third of a command's start, which most commands do without.
        import boto3
        import botocore.session
        from botocore.config import Config

        core = botocore.session.Session(profile=profile)
        refuse_cut_answers(core)
        if attempts is not None and core.get_config_variable("max_attempts") is None:
            core.set_default_client_config(Config(retries={"total_max_attempts": attempts}))
        return boto3.Session(botocore_session=core, region_name=deployment.region)

    return Access(deployment, session, cdk_environment=variables)


def embedded_access(deployment: Deployment, url: str, keys: Keys) -> Access:
    """Access to the embedded AWS at a URL; the user's own AWS settings are ignored."""
    variables = local_variables(os.environ, region=deployment.region, url=url, keys=keys)
    return Access(
        deployment, lambda: local_session(deployment.region, keys), cdk_environment=variables, url=url
    )
