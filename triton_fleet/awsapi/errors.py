"""The time at AWS, which dates what its services store: this machine's clock may be wrong, or jump."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from triton_fleet.findings import CannotRunError
from triton_fleet.spec.deployment import Deployment

if TYPE_CHECKING:
    from botocore.exceptions import ClientError
    from botocore.model import OperationModel
    from botocore.session import Session

MAX_SKEW = timedelta(minutes=5)
"""Between AWS's clock and this machine's: past it one of them is wrong; S3 refuses requests at 15 minutes."""


def answered_at(answer: Mapping[str, Any]) -> datetime:
    """The time at which AWS sent boto3's `answer`, in whole seconds.

    Raises:
        ValueError: the answer has no date.
    """
    date = answer["ResponseMetadata"]["HTTPHeaders"].get("date", "")
    return parsedate_to_datetime(date).astimezone(UTC)


def clock_difference(answer: Mapping[str, Any]) -> str:
    """The times that both clocks show, as a clause, if they differ by more than `MAX_SKEW`; else "".

    Raises:
        ValueError: the answer has no date.
    """
    ours, theirs = datetime.now(UTC), answered_at(answer)
    return different_clocks(ours, theirs) if abs(ours - theirs) > MAX_SKEW else ""


def different_clocks(ours: datetime, theirs: datetime) -> str:
    """The times that this machine's clock and AWS's show, as a clause."""
    return f"this machine's clock shows {_format_moment(ours)}, and AWS's {_format_moment(theirs)}"


def _format_moment(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


DENIAL_CODES = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "403"})
"""AWS's error codes for a missing permission; S3 answers a HEAD request with the status alone."""
NOT_FOUND, FORBIDDEN, CONFLICT, PRECONDITION_FAILED = 404, 403, 409, 412
"""S3's statuses: 409 while another writer is at a key, to be retried; 412 if a condition does not hold."""
NO_BUCKET = "NoSuchBucket"
EXPIRY_TEXT = "credentials are still expired"
"""The end of botocore's RuntimeError after AWS_CREDENTIAL_EXPIRATION."""
SIGN_IN = "sign in to AWS (`aws sso login`), or pass a profile of ~/.aws/config with --profile"
SIGN_IN_REMEDY = f"{SIGN_IN}; then run the command again"
SET_CLOCK = "set this machine's clock: AWS refuses requests whose time is some minutes off"
OF_WRONG_CLOCKS = frozenset(
    {"403", "InvalidSignatureException", "RequestExpired", "RequestTimeTooSkewed", "SignatureDoesNotMatch"}
)
"""AWS's error codes for a request that was signed by a wrong clock, and for other reasons."""
CLOCK_REMEDY = "wait a minute and run the command again: it continues where it stopped"
REMEDIES = {
    "ExpiredToken": SIGN_IN_REMEDY,
    "ExpiredTokenException": SIGN_IN_REMEDY,
    "RequestExpired": SIGN_IN_REMEDY,
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
        CLOCK_REMEDY,
    ),
}
"""By error code; S3 answers a HEAD request with the status alone."""


def http_status(error: ClientError) -> int:
    """The HTTP status of AWS's answer."""
    return error.response["ResponseMetadata"]["HTTPStatusCode"]


class SuppressErrors(AbstractContextManager[None]):
    """Leave a block at an error of AWS with one of these codes or HTTP statuses, and continue behind it."""

    def __init__(self, *causes: str | int) -> None:
        self._causes = causes

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if error is None:
            return False
        from botocore.exceptions import ClientError

        if not isinstance(error, ClientError):
            return False
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return not {error.response["Error"]["Code"], status}.isdisjoint(self._causes)


@contextmanager
def aws_errors_as_findings(deployment: Deployment | None = None) -> Iterator[None]:
    """Turn errors of AWS into `CannotRunError`; with `place`, also a missing artifact bucket.

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

    def check(**response: Any) -> None:
        operation_model: OperationModel = response["operation_model"]
        answer = response["response_dict"]
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
            make = f"run `fleet deploy --env {deployment.environment} --foundation` to create it"
            file = f"environments/{deployment.environment}.yaml"
            name = f"create it, or set `artifact_bucket` in {file} to another"
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
    if isinstance(error, RuntimeError) and EXPIRY_TEXT in str(error):
        return CannotRunError(f"AWS credentials have expired: {error}", SIGN_IN_REMEDY)
    return None


def _remedy(code: str, answer: Mapping[str, Any]) -> str:
    """The remedy for an error; where the clocks differ, it names the times that both show."""
    with suppress(KeyError, ValueError):  # an answer without headers, or without a date
        if code in OF_WRONG_CLOCKS and (clocks := clock_difference(answer)):
            return f"{SET_CLOCK}; {clocks}"
    return REMEDIES.get(code, "")


def _boto3_errors() -> tuple[type[Exception], ...]:
    """The errors of boto3, if it is loaded: most commands start without it."""
    module = sys.modules.get("boto3.exceptions")
    return (module.Boto3Error,) if module else ()
