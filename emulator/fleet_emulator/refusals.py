"""How AWS refuses requests that are not signed as they have to be, in its own words.

Source: IAM User Guide, "Elements of an AWS API request signature", which ends a signature after some minutes;
Amazon S3 API Reference, "Error responses".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

TIME = "%Y%m%dT%H%M%SZ"
"""How a signature writes its time, in UTC."""
MAX_SKEW = timedelta(minutes=15)
"""Between the time of a signature and the server's."""
_REMEDY = "these are not the keys of this `fleet local up`; `fleet local env` prints those"


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An error's code and message: of S3, of services that speak AWS's query protocol, and of all others."""

    s3: tuple[str, str]
    query: tuple[str, str]
    others: tuple[str, str]
    status: str = "403 Forbidden"


_DIFFERS = "The request signature we calculated does not match the signature you provided."
_MISMATCH = (
    f"{_DIFFERS} Check your AWS Secret Access Key and signing method."
    " Consult the service documentation for details."
)
_INVALID = f"The security token included in the request is invalid. ({_REMEDY})"
_MISSING = "Missing Authentication Token"
UNSIGNED_REQUEST = Refusal(
    s3=("AccessDenied", "Access Denied"),
    query=("MissingAuthenticationToken", "Request is missing Authentication Token"),
    others=("MissingAuthenticationTokenException", _MISSING),
)
UNKNOWN_KEY = Refusal(
    s3=(
        "InvalidAccessKeyId",
        f"The AWS Access Key Id you provided does not exist in our records. ({_REMEDY})",
    ),
    query=("InvalidClientTokenId", _INVALID),
    others=("UnrecognizedClientException", _INVALID),
)
WRONG_SIGNATURE = Refusal(
    s3=("SignatureDoesNotMatch", f"{_DIFFERS} Check your key and signing method."),
    query=("SignatureDoesNotMatch", _MISMATCH),
    others=("InvalidSignatureException", _MISMATCH),
)
WRONG_BODY = Refusal(
    s3=(
        "XAmzContentSHA256Mismatch",
        "The provided 'x-amz-content-sha256' header does not match what was computed.",
    ),
    query=WRONG_SIGNATURE.query,
    others=WRONG_SIGNATURE.others,
    status="400 Bad Request",
)
WRONG_DIGEST = Refusal(
    s3=(
        "InvalidArgument",
        "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER or a valid sha256"
        " value.",
    ),
    query=WRONG_SIGNATURE.query,
    others=WRONG_SIGNATURE.others,
    status="400 Bad Request",
)


def expired_signature(text: str) -> Refusal:
    """The refusal of a signature whose time is over."""
    return Refusal(
        s3=("AccessDenied", "Request has expired"),
        query=("SignatureDoesNotMatch", text),
        others=("InvalidSignatureException", text),
    )


def skewed_time(time: datetime, now: datetime) -> Refusal:
    """A header's signature that is too old or of the future."""
    if time < now:
        compared, between, sign = "expired", "now earlier", "-"
    else:
        compared, between, sign = "not yet current", "still later", "+"
    edge = now - MAX_SKEW if time < now else now + MAX_SKEW
    text = (
        f"Signature {compared}: {time:{TIME}} is {between} than {edge:{TIME}}"
        f" ({now:{TIME}} {sign} {MAX_SKEW // timedelta(minutes=1)} min.)"
    )
    message = "The difference between the request time and the current time is too large."
    return replace(expired_signature(text), s3=("RequestTimeTooSkewed", message))
