"""The WSGI application of the embedded AWS: what is the gateway's goes there, everything else to moto."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from io import BytesIO
from typing import TYPE_CHECKING, Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app

from fleet_emulator import failures
from fleet_emulator.accounts import ACCOUNT_HEADER
from fleet_emulator.hosting import ACCOUNT, REGION
from fleet_emulator.signatures import Signatures, UnsignedError
from fleet_emulator.state_lock import turn

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

log = logging.getLogger("fleet_emulator")

_SERVICE = re.compile(r"/([^/]+)/aws4_request")
_HOST = re.compile(r"(([a-z0-9._-]+\.)?localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?", re.IGNORECASE)
"""Any other name may come to mean this machine while its page is open: that is DNS rebinding."""
_GATEWAY = re.compile(r"/endpoints/[^/]+/invocations(-response-stream)?$|/_fleet/")


class Application:
    """Answers what is signed and asks for a name of this machine; invocations are the gateway's to answer."""

    def __init__(
        self, gateway: WSGIApplication | None, signatures: Signatures, headers: Mapping[str, str]
    ) -> None:
        self._gateway, self._signatures, self._headers = gateway, signatures, list(headers.items())
        self._moto = DomainDispatcherApplication(create_backend_app)
        # All requests of a service have the same host; moto would look through its own folders for each.
        self._moto.get_backend_for_host = cache(self._moto.get_backend_for_host)  # type: ignore[method-assign]

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request; an exception becomes an AWS error."""
        if _HOST.fullmatch(environ.get("HTTP_HOST", "")) is None:
            return _forbidden(start_response, "The embedded AWS answers to names of this machine alone.")
        if _is_of_a_page(environ):
            message = "The embedded AWS refuses requests of web pages: it runs code on this machine."
            return _forbidden(start_response, message)
        try:
            caller = self._signatures.check(environ, partial(_read_body, environ))
        except UnsignedError as error:
            return failures.refuse(error.refusal, environ, start_response)
        environ[ACCOUNT], environ[REGION] = caller.account, caller.region
        environ[f"HTTP_{ACCOUNT_HEADER.upper().replace('-', '_')}"] = caller.account
        try:
            if self._gateway is not None and _GATEWAY.match(environ.get("PATH_INFO", "")):
                return self._gateway(environ, start_response)
            with turn():
                answer: Iterable[bytes] = self._moto(environ, partial(self._start, start_response))
                return answer
        except Exception as error:
            log.exception("%s %s failed", environ.get("REQUEST_METHOD"), environ.get("PATH_INFO"))
            return failures.answer(error, environ, start_response)

    def _start(
        self, start: StartResponse, status: str, headers: list[tuple[str, str]], *error: Any
    ) -> Callable[[bytes], object]:
        return start(status, [*headers, *self._headers], *error)


def _is_of_a_page(environ: WSGIEnvironment) -> bool:
    """Whether a web page has a browser ask, which moto would let any page; programs send neither header.

    Source: Fetch Standard, "Origin" header; W3C Fetch Metadata, `none` is what a person opened.
    """
    return "HTTP_ORIGIN" in environ or environ.get("HTTP_SEC_FETCH_SITE", "none") != "none"


def _forbidden(start_response: StartResponse, message: str) -> Iterable[bytes]:
    start_response("403 Forbidden", [("Content-Type", "text/plain")])
    return [f"{message}\n".encode()]


def _read_body(environ: WSGIEnvironment) -> bytes:
    """Have the request's body before the turn: whoever sends it slowly keeps nobody waiting."""
    length = environ.get("CONTENT_LENGTH", "")
    if environ.get("wsgi.input_terminated"):
        body = environ["wsgi.input"].read()
    elif length.isdecimal():
        body = environ["wsgi.input"].read(int(length))
    else:
        return b""
    environ["wsgi.input"] = BytesIO(body)  # shares the bytes
    return bytes(body)


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
