"""The embedded AWS as a server on loopback: one endpoint URL for the CDK CLI, boto3 and applications."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from moto.applicationautoscaling.models import applicationautoscaling_backends
from moto.core.base_backend import BackendDict
from moto.core.model_instances import reset_model_data
from moto.core.models import DEFAULT_ACCOUNT_ID
from werkzeug.serving import BaseWSGIServer, make_server

from fleet_emulator import process_state
from fleet_emulator.accounts import Accounts
from fleet_emulator.autoscaling.backend import EmbeddedAutoScaling
from fleet_emulator.autoscaling.variants import resource_id_of
from fleet_emulator.hosting import EndpointHost
from fleet_emulator.install import install
from fleet_emulator.process_state import ProcessState
from fleet_emulator.product import Keys
from fleet_emulator.signatures import Signatures
from fleet_emulator.state_lock import turn
from fleet_emulator.wsgi import Application, RequestHandler

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

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
