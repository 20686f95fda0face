"""Failures inside moto are answered as AWS errors: the CDK CLI retries an HTTP 500 for a minute."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from moto.core.exceptions import ServiceException, _RESTError
from moto.core.responses import ActionResult, BaseResponse

from fleet_emulator.hosting import HostingError
from fleet_emulator.refusals import Refusal

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment
    from moto.core.common_types import TYPE_RESPONSE

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
    refusal = Refusal(s3=(code, text), query=(code, text), others=(code, text), status="400 Bad Request")
    return refuse(refusal, environ, start_response)


def refuse(refusal: Refusal, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answer in the protocol of the caller, where the request shows which it is."""
    signed = environ.get("HTTP_AUTHORIZATION", "") + environ.get("QUERY_STRING", "").replace("%2F", "/")
    if "/s3/" in signed:
        content_type, (code, text) = "application/xml", refusal.s3
        body = f"<Error><Code>{code}</Code><Message>{escape(text)}</Message></Error>"
    elif environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded"):
        content_type, (code, text) = "text/xml", refusal.query
        error = f"<Type>Sender</Type><Code>{code}</Code><Message>{escape(text)}</Message>"
        body = f"<ErrorResponse><Error>{error}</Error></ErrorResponse>"
    else:
        content_type, (code, text) = "application/json", refusal.others
        body = json.dumps({"__type": code, "message": text})
    start_response(refusal.status, [("Content-Type", content_type), ("x-amzn-ErrorType", code)])
    return [body.encode()]
