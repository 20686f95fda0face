"""The server of the embedded AWS: its address, its accounts, its signatures, and the answers of moto."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from moto.applicationautoscaling.models import applicationautoscaling_backends
from moto.core.base_backend import BackendDict
from moto.core.model_instances import reset_model_data
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import BaseWSGIServer, make_server

from fleet_emulator import failures, process_state
from fleet_emulator.accounts import ACCOUNT_HEADER, Accounts
from fleet_emulator.autoscaling.backend import EmbeddedAutoScaling
from fleet_emulator.autoscaling.variants import resource_id_of
from fleet_emulator.hosting import ACCOUNT, REGION, EndpointHost
from fleet_emulator.install import install
from fleet_emulator.process_state import ProcessState, turn
from fleet_emulator.product import Keys
from fleet_emulator.signatures import Signatures, UnsignedError

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

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


log = logging.getLogger("fleet_emulator")

_LOOPBACK = "127.0.0.1"
_SECONDS_FOR_RUNS = 30.0


class EmbeddedAws:
    """AWS in this process, empty at each start: any account, and every region.

    It answers what `keys`, which are of `account`, or the keys of a role that was assumed with them, have
    signed. A role of another account leads into that account.
    """

    def __init__(
        self,
        host: EndpointHost,
        gateway: WSGIApplication | None = None,
        *,
        keys: Keys,
        account: str = DEFAULT_ACCOUNT_ID,
        port: int = 0,
        log: Path | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Answer with `headers` besides AWS's own."""
        self._running = ProcessState(host=host, accounts=Accounts(keys, account))
        self._account = account
        self._gateway = gateway
        self._port = port
        self._log = log
        self._headers = dict(headers or {})
        self._log_handler: logging.Handler = logging.NullHandler()
        self._server: BaseWSGIServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The endpoint URL; the port is known from `start` on when none was asked for."""
        # moto and the CDK CLI recognise a template's URL in S3 by the word "localhost".
        return f"http://localhost:{self._port}"

    @property
    def skipped(self) -> Sequence[str]:
        """The resources that are not hosted, as `Type LogicalId (Stack)`, in the order of being skipped."""
        return tuple(self._running.skipped)

    def keys_of(self, account: str) -> Keys:
        """The keys that allow everything in an account."""
        return self._running.accounts.keys_of(account)

    def start(self) -> None:
        """Start with empty accounts and accept requests.

        Raises:
            RuntimeError: another embedded AWS runs in this process.
            OSError: the port is taken.
        """
        process_state.enter(self._running)
        try:
            install()
            BackendDict.reset()
            reset_model_data()
            self._server = make_server(
                _LOOPBACK,
                self._port,
                Application(self._gateway, Signatures(self._running.accounts), self._headers),
                threaded=True,
                request_handler=RequestHandler,
            )
        except BaseException:
            process_state.leave()
            raise
        self._port = self._server.server_port
        self._running.url = self.url
        self._open_log()
        # The socket listens already: a request that comes before the thread runs waits in its queue.
        self._thread = threading.Thread(target=self._server.serve_forever, name="embedded-aws", daemon=True)
        self._thread.start()

    def scale(self, endpoint: str, instances: int, *, region: str, variant: str = "AllTraffic") -> None:
        """Begin a scaling activity, as if an alarm of the variant's scaling policy had fired.

        Nothing begins where such scaling is suspended.

        Raises:
            ObjectNotFoundError: the variant has no scaling policy.
        """
        backend = applicationautoscaling_backends[self._account][region]
        with turn():
            cast(EmbeddedAutoScaling, backend).scale(resource_id_of(endpoint, variant), instances)

    def stop(self) -> None:
        """Stop answering, wait for stacks that are being worked on, and forget everything."""
        if self._server is None or self._thread is None:
            return
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server = self._thread = None
        self._running.wait_for_runs(seconds=_SECONDS_FOR_RUNS)
        process_state.leave()
        BackendDict.reset()
        self._close_log()

    def _open_log(self) -> None:
        if self._log is not None:
            self._log_handler = logging.FileHandler(self._log)
            self._log_handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        log.addHandler(self._log_handler)
        log.setLevel(logging.INFO)
        log.propagate = False

    def _close_log(self) -> None:
        log.removeHandler(self._log_handler)
        self._log_handler.close()
