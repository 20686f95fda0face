"""A plain HTTP server in place of a Triton's metrics port."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from urllib3 import HTTPConnectionPool

from tests.support.endpoint_ids import endpoint_id
from triton_fleet.local.metrics.scrape import TritonSource

NAMESPACE = "TritonFleet/sentences"


class MetricsServer(ThreadingHTTPServer):
    """Answers /metrics with the text and the status that a test gives it."""

    text, status = "", 200

    def source(self, server: int = 1, namespace: str = NAMESPACE) -> TritonSource:
        pool = HTTPConnectionPool("127.0.0.1", self.server_port, retries=False)
        return TritonSource(endpoint_id("sentences"), server, pool, namespace)


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, MetricsServer)
        body = server.text.encode()
        self.send_response(server.status if self.path == "/metrics" else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Be quiet."""


@contextmanager
def metrics_server() -> Iterator[MetricsServer]:
    server = MetricsServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def counter(value: float, name: str = "nv_inference_count", labels: str = 'model="embed",version="1"') -> str:
    """A counter as Triton writes it."""
    return f"# HELP {name} How often.\n# TYPE {name} counter\n{name}{{{labels}}} {value}\n"
