"""The WSGI application of the embedded AWS: what is the gateway's goes there, everything else to moto."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app

from fleet.local.aws import failures
from fleet.local.aws.turns import turn

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

log = logging.getLogger("fleet.local.aws")

_SERVICE = re.compile(r"/([^/]+)/aws4_request")
_GATEWAY = re.compile(r"/endpoints/[^/]+/invocations$|/_fleet/")


class Application:
    """Tells SageMaker's runtime calls from all others."""

    def __init__(self, gateway: WSGIApplication | None) -> None:
        self._gateway = gateway
        self._moto = DomainDispatcherApplication(create_backend_app)
        # All requests of a service have the same host; moto would look through its own folders for each.
        self._moto.get_backend_for_host = cache(self._moto.get_backend_for_host)  # type: ignore[method-assign]

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request; an exception becomes an AWS error."""
        if _is_of_a_page(environ):
            start_response("403 Forbidden", [("Content-Type", "text/plain")])
            return [b"The embedded AWS answers no web pages: it runs what it is told on this machine.\n"]
        try:
            if self._gateway is not None and _GATEWAY.match(environ.get("PATH_INFO", "")):
                return self._gateway(environ, start_response)
            _read_body(environ)
            with turn():
                answer: Iterable[bytes] = self._moto(environ, start_response)
                return answer
        except Exception as error:
            log.exception("%s %s failed", environ.get("REQUEST_METHOD"), environ.get("PATH_INFO"))
            return failures.answer(error, environ, start_response)


def _is_of_a_page(environ: WSGIEnvironment) -> bool:
    """Whether a web page has a browser ask, which moto would let any page; programs send neither header.

    Source: Fetch Standard, "Origin" header; W3C Fetch Metadata, `none` is what a person opened.
    """
    return "HTTP_ORIGIN" in environ or environ.get("HTTP_SEC_FETCH_SITE", "none") != "none"


def _read_body(environ: WSGIEnvironment) -> None:
    """Have the request's body before the turn: whoever sends it slowly keeps nobody waiting."""
    length = environ.get("CONTENT_LENGTH", "")
    if length.isdecimal():
        environ["wsgi.input"] = BytesIO(environ["wsgi.input"].read(int(length)))


class RequestHandler(MotoRequestHandler):
    """Logs requests where the embedded AWS logs, not on the terminal."""

    def log(self, type: str, message: str, *args: object) -> None:
        """Write werkzeug's message to the log."""
        log.debug(message, *args)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Write one line for a request."""
        signed = _SERVICE.search(self.headers.get("Authorization", ""))
        service = signed.group(1) if signed else "unsigned"
        log.info("%s %s %s", service, self.requestline, code)
