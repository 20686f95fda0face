"""AWS's errors as findings for the user of a command."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from triton_fleet.awsapi.clock import clock_difference
from triton_fleet.findings import CannotRunError
from triton_fleet.spec.deployment import Deployment

if TYPE_CHECKING:
    from botocore.model import OperationModel
    from botocore.session import Session

DENIED = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "403"})
"""AWS's error codes for a missing permission; S3 answers a HEAD request with the status alone."""
NO_BUCKET = "NoSuchBucket"
EXPIRED = "credentials are still expired"
"""The end of botocore's RuntimeError after AWS_CREDENTIAL_EXPIRATION."""
SIGN_IN = "sign in to AWS (`aws sso login`), or pass a profile of ~/.aws/config with --profile"
SIGN_IN_AGAIN = f"{SIGN_IN}; then run the command again"
SET_CLOCK = "set this machine's clock: AWS refuses requests whose time is some minutes off"
OF_WRONG_CLOCKS = frozenset(
    {"403", "InvalidSignatureException", "RequestExpired", "RequestTimeTooSkewed", "SignatureDoesNotMatch"}
)
"""AWS's error codes for a request that was signed by a wrong clock, and for other reasons."""
RUN_AGAIN = "wait a minute and run the command again: it continues where it stopped"
REMEDIES = {
    "ExpiredToken": SIGN_IN_AGAIN,
    "ExpiredTokenException": SIGN_IN_AGAIN,
    "RequestExpired": SIGN_IN_AGAIN,
    "InvalidClientTokenId": SIGN_IN,
    "UnrecognizedClientException": SIGN_IN,
    "SignatureDoesNotMatch": SIGN_IN,
    "RequestTimeTooSkewed": SET_CLOCK,
    "AccessDenied": "use credentials with this permission",
    "AccessDeniedException": "use credentials with this permission",
    **dict.fromkeys(
        (
            "500",
            "503",
            "InternalError",
            "InternalFailure",
            "InternalServerError",
            "ServerException",
            "ServiceUnavailable",
            "SlowDown",
            "Throttling",
            "ThrottlingException",
            "TooManyRequestsException",
        ),
        RUN_AGAIN,
    ),
}
"""By error code; S3 answers a HEAD request with the status alone."""


@contextmanager
def aws_errors_as_findings(deployment: Deployment | None = None) -> Iterator[None]:
    """Turn errors of AWS into `CannotRunError`; with `deployment`, also a missing artifact bucket.

    Raises:
        CannotRunError: credentials are missing, AWS refuses or does not answer, or the bucket is missing.
    """
    try:
        yield
    except Exception as error:
        if (refusal := _refusal(error, deployment)) is None:
            raise
        raise refusal from error


def refuse_cut_answers(session: Session) -> None:
    """Have the clients of a session raise `ConnectionClosedError` for an answer that ends too early.

    botocore reads one as if it were whole: a list in JSON is empty then, and an XML document is a traceback.
    """
    from botocore.exceptions import ConnectionClosedError

    def check(**answered: Any) -> None:
        operation_model: OperationModel = answered["operation_model"]
        answer = answered["response_dict"]
        body, length = answer["body"], answer["headers"].get("content-length", "")
        if operation_model.http["method"] == "HEAD" or not isinstance(body, bytes) or not length.isdecimal():
            return
        if len(body) < int(length):
            raise ConnectionClosedError(endpoint_url=operation_model.service_model.service_name)

    session.register("before-parse", check)


def _refusal(error: Exception, deployment: Deployment | None) -> CannotRunError | None:
    """The error for people; None for one that is not of AWS or its client."""
    if "botocore.exceptions" not in sys.modules:  # nothing was called
        return None
    from botocore import exceptions as aws

    if isinstance(error, aws.ClientError):
        code = error.response.get("Error", {}).get("Code", "")
        if code == NO_BUCKET and deployment is not None:
            problem = f"the artifact bucket {deployment.bucket} does not exist"
            environment = deployment.environment
            make = f"run `fleet deploy --env {environment} --foundation` to create it"
            name = f"create it, or set `artifact_bucket` in environments/{environment}.yaml to another"
            return CannotRunError(problem, name if deployment.given_bucket else make)
        return CannotRunError(f"AWS refuses: {error}", _remedy(code, error.response))
    not_signed_in = (
        aws.CredentialRetrievalError,
        aws.NoCredentialsError,
        aws.PartialCredentialsError,
        aws.ProfileNotFound,
        aws.SSOError,
        aws.TokenRetrievalError,
    )
    if isinstance(error, not_signed_in):
        return CannotRunError(f"AWS credentials are missing: {error}", SIGN_IN)
    if isinstance(error, aws.ConnectionError | aws.HTTPClientError | aws.IncompleteReadError):
        remedy = "check this machine's network, and run the command again"
        return CannotRunError(f"AWS does not answer: {error}", remedy)
    if isinstance(error, (aws.BotoCoreError, *_boto3_errors())):
        return CannotRunError(f"AWS cannot be called: {error}")
    if isinstance(error, RuntimeError) and EXPIRED in str(error):
        return CannotRunError(f"AWS credentials have expired: {error}", SIGN_IN_AGAIN)
    return None


def _remedy(code: str, answer: Mapping[str, Any]) -> str:
    """What helps against an error; where the clocks differ, it names the times that both show."""
    with suppress(KeyError, ValueError):  # an answer without headers, or without a date
        if code in OF_WRONG_CLOCKS and (clocks := clock_difference(answer)):
            return f"{SET_CLOCK}; {clocks}"
    return REMEDIES.get(code, "")


def _boto3_errors() -> tuple[type[Exception], ...]:
    """The errors of boto3, if it is loaded: most commands start without it."""
    loaded = sys.modules.get("boto3.exceptions")
    return (loaded.Boto3Error,) if loaded else ()
