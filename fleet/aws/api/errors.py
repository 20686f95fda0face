"""What AWS refuses, told to whoever runs a command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from boto3.exceptions import Boto3Error
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    CredentialRetrievalError,
    HTTPClientError,
    NoCredentialsError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)

from fleet.endpoint.resolved_endpoint import Deployment
from fleet.findings import CannotRunError

DENIED = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "403"})
"""How AWS's services say that somebody may not ask; S3 has no word for it in the answer to a HEAD request."""
NOT_SIGNED_IN = (
    CredentialRetrievalError,
    NoCredentialsError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)
NO_BUCKET = "NoSuchBucket"
SIGN_IN = "sign in to AWS (`aws sso login`), or name a profile of ~/.aws/config with --profile"
SET_CLOCK = "set this machine's clock: AWS takes no request that is dated some minutes from its own"
REMEDIES = {
    "ExpiredToken": SIGN_IN,
    "ExpiredTokenException": SIGN_IN,
    "RequestExpired": SIGN_IN,
    "InvalidClientTokenId": SIGN_IN,
    "UnrecognizedClientException": SIGN_IN,
    "SignatureDoesNotMatch": SIGN_IN,
    "RequestTimeTooSkewed": SET_CLOCK,
    "AccessDenied": "use credentials that may do this, or have the permission granted",
    "AccessDeniedException": "use credentials that may do this, or have the permission granted",
    "Throttling": "wait a little and run the command again: it goes on from where it was",
    "ThrottlingException": "wait a little and run the command again: it goes on from where it was",
}
"""By the code of an error, which is one for all services where it is about who asks and how often."""


@contextmanager
def aws_errors_as_findings(place: Deployment | None = None) -> Iterator[None]:
    """Ask AWS, perhaps for what lies in a place's artifact bucket.

    Raises:
        CannotRunError: nobody is signed in, AWS refuses or does not answer, or the bucket is not there.
    """
    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        if code == NO_BUCKET and place is not None:
            problem = f"the artifact bucket {place.bucket} is not there"
            remedy = f"run `fleet deploy --env {place.environment} --foundation`, which makes it"
            raise CannotRunError(problem, remedy) from error
        raise CannotRunError(f"AWS refuses: {error}", REMEDIES.get(code, "")) from error
    except NOT_SIGNED_IN as error:
        raise CannotRunError(f"there are no credentials of AWS: {error}", SIGN_IN) from error
    except (ConnectionError, HTTPClientError) as error:
        remedy = "see that this machine reaches it, and run the command again"
        raise CannotRunError(f"AWS does not answer: {error}", remedy) from error
    except (BotoCoreError, Boto3Error) as error:
        raise CannotRunError(f"AWS cannot be asked: {error}") from error
