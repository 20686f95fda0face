"""What the supervisor tells about itself, beside the gateway on the same port."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from werkzeug.wrappers import Response

from fleet.local.metrics.ask import METRICS
from fleet.local.status import STATUS

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class Control:
    """A WSGI application: the status report and the publishing of metrics; all else goes to the gateway."""

    def __init__(
        self,
        gateway: WSGIApplication,
        *,
        status: Callable[[], dict[str, object]],
        publish: Callable[[], None],
    ) -> None:
        self._gateway, self._status, self._publish = gateway, status, publish

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        if environ.get("PATH_INFO") == STATUS:
            report = Response(json.dumps(self._status()), content_type="application/json")
            return report(environ, start_response)
        if environ.get("PATH_INFO") == METRICS and environ.get("REQUEST_METHOD") == "POST":
            self._publish()
            return Response()(environ, start_response)
        return self._gateway(environ, start_response)
