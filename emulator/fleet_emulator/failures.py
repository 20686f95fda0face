"""The errors of the embedded AWS: which answers AWS gives, and which are faults of our own."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from moto.core.exceptions import ServiceException, _RESTError
from moto.core.responses import ActionResult, BaseResponse

from fleet_emulator.hosting import HostingError

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment
    from moto.core.common_types import TYPE_RESPONSE

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
    json_protocol: tuple[str, str]
    status: str = "403 Forbidden"


_DIFFERS = "The request signature we calculated does not match the signature you provided."
_MISMATCH = (
    f"{_DIFFERS} Check your AWS Secret Access Key and signing method."
    " Consult the service documentation for details."
)
_INVALID = f"The security token included in the request is invalid. ({_REMEDY})"
_NO_SIGNATURE = "Missing Authentication Token"
UNSIGNED_REQUEST = Refusal(
    s3=("AccessDenied", "Access Denied"),
    query=("MissingAuthenticationToken", "Request is missing Authentication Token"),
    json_protocol=("MissingAuthenticationTokenException", _NO_SIGNATURE),
)
UNKNOWN_KEY = Refusal(
    s3=(
        "InvalidAccessKeyId",
        f"The AWS Access Key Id you provided does not exist in our records. ({_REMEDY})",
    ),
    query=("InvalidClientTokenId", _INVALID),
    json_protocol=("UnrecognizedClientException", _INVALID),
)
WRONG_SIGNATURE = Refusal(
    s3=("SignatureDoesNotMatch", f"{_DIFFERS} Check your key and signing method."),
    query=("SignatureDoesNotMatch", _MISMATCH),
    json_protocol=("InvalidSignatureException", _MISMATCH),
)
WRONG_BODY = Refusal(
    s3=(
        "XAmzContentSHA256Mismatch",
        "The provided 'x-amz-content-sha256' header does not match what was computed.",
    ),
    query=WRONG_SIGNATURE.query,
    json_protocol=WRONG_SIGNATURE.json_protocol,
    status="400 Bad Request",
)
WRONG_DIGEST = Refusal(
    s3=(
        "InvalidArgument",
        "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER or a valid sha256"
        " value.",
    ),
    query=WRONG_SIGNATURE.query,
    json_protocol=WRONG_SIGNATURE.json_protocol,
    status="400 Bad Request",
)


def expired_signature(text: str) -> Refusal:
    """The refusal of a signature whose time is over."""
    return Refusal(
        s3=("AccessDenied", "Request has expired"),
        query=("SignatureDoesNotMatch", text),
        json_protocol=("InvalidSignatureException", text),
    )


def skewed_time(time: datetime, server_time: datetime) -> Refusal:
    """A header's signature that is too old or of the future."""
    if time < server_time:
        state, between, sign = "expired", "now earlier", "-"
    else:
        state, between, sign = "not yet current", "still later", "+"
    edge = server_time - MAX_SKEW if time < server_time else server_time + MAX_SKEW
    text = (
        f"Signature {state}: {time:{TIME}} is {between} than {edge:{TIME}}"
        f" ({server_time:{TIME}} {sign} {MAX_SKEW // timedelta(minutes=1)} min.)"
    )
    message = "The difference between the request time and the current time is too large."
    return replace(expired_signature(text), s3=("RequestTimeTooSkewed", message))


log = logging.getLogger("fleet_emulator")


class EmbeddedAwsError(ServiceException):
    """A defect of the embedded AWS, reported to its client."""

    code = "EmbeddedAwsError"


_call_action = BaseResponse.call_action


def is_said(error: Exception) -> bool:
    """Whether the error is one that AWS itself would give, rather than a defect of the embedded AWS."""
    return isinstance(error, ServiceException | _RESTError | HostingError)


def reason_of(error: Exception) -> str:
    """The error as one sentence for a user: AWS's own message, or the exception with its type."""
    if isinstance(error, ServiceException | _RESTError):
        return str(error.message)
    if isinstance(error, HostingError):
        return str(error)
    return f"{type(error).__name__}: {error}"


def call_action(self: BaseResponse) -> TYPE_RESPONSE:
    """Perform an API call as moto does, and give an exception in the protocol of the caller, as a 400."""
    try:
        return _call_action(self)
    except Exception as error:
        log.exception("%s failed in moto", type(self).__name__)
        return self.serialized(ActionResult(EmbeddedAwsError(reason_of(error))))


def answer(error: Exception, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """The last resort for what failed outside an API call (S3 has no such calls, it is plain HTTP)."""
    code, text = EmbeddedAwsError.code, reason_of(error)
    refusal = Refusal(
        s3=(code, text), query=(code, text), json_protocol=(code, text), status="400 Bad Request"
    )
    return refuse(refusal, environ, start_response)


def refuse(refusal: Refusal, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answer in the protocol of the caller, where the request shows which it is."""
    credentials = environ.get("HTTP_AUTHORIZATION", "") + environ.get("QUERY_STRING", "").replace("%2F", "/")
    if "/s3/" in credentials:
        content_type, (code, text) = "application/xml", refusal.s3
        body = f"<Error><Code>{code}</Code><Message>{escape(text)}</Message></Error>"
    elif environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded"):
        content_type, (code, text) = "text/xml", refusal.query
        error = f"<Type>Sender</Type><Code>{code}</Code><Message>{escape(text)}</Message>"
        body = f"<ErrorResponse><Error>{error}</Error></ErrorResponse>"
    else:
        content_type, (code, text) = "application/json", refusal.json_protocol
        body = json.dumps({"__type": code, "message": text})
    start_response(refusal.status, [("Content-Type", content_type), ("x-amzn-ErrorType", code)])
    return [body.encode()]
