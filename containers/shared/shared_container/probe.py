"""Requests through nginx to a stand-in for Triton: an image whose nginx cannot serve fails its build."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer

from .child import Child
from .log import Log
from .settings import LOOPBACK, Settings
from .supervisor import write_files

_SECONDS = 10.0
_BODY = b'{"inputs":[]}'
_HEADER_LENGTH = "Inference-Header-Content-Length"


class _StandIn(BaseHTTPRequestHandler):
    """Answers with what it was asked, and with a header of a binary answer."""

    def do_POST(self) -> None:
        """Answer."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = json.dumps(
            {"path": self.path, "length": self.headers[_HEADER_LENGTH], "body": body.decode()}
        ).encode()
        self.send_response(200)
        self.send_header(_HEADER_LENGTH, "7")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *arguments: object) -> None:
        """Do not write to stderr."""


def probe(settings: Settings, log: Log) -> int:
    """0 where requests reach their model and the answers come back; else 1, and the log has the reason.

    Raises:
        SettingsError: nginx or njs is not there, or a path cannot be in a configuration.
    """
    name, route = next(iter(settings.routes.routes.items()))
    command = write_files(settings)
    end_event = threading.Event()
    with HTTPServer((LOOPBACK, settings.triton_port), _StandIn) as upstream:
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        nginx = Child(
            "nginx", command, stdout=log.request, stderr=log.nginx, on_end=lambda _: end_event.set()
        )
        try:
            _wait(settings.port, end_event)
            attributes = f"model={name};version={route.versions[0]}"
            # A plain call, and one for the script.
            answers = [_answer(settings.port, value) for value in (attributes, f"{attributes};")]
        except (OSError, http.client.HTTPException) as error:
            log.error(f"the router does not answer: {error}")
            return 1
        finally:
            nginx.kill()
            nginx.wait(_SECONDS)
            upstream.shutdown()
    path = f"/v2/models/{route.model}/versions/{route.versions[0]}/infer"
    body = json.dumps({"path": path, "length": str(len(_BODY)), "body": _BODY.decode()})
    expected_answer = (200, "application/vnd.sagemaker-triton.binary+json;json-header-size=7", body)
    if answers != [expected_answer] * 2:
        log.error(f"the router answers {answers} where each has to be {expected_answer}")
        return 1
    log.info("the router passes a request and its answer on")
    return 0


def _answer(port: int, attributes: str) -> tuple[int, str | None, str]:
    """Status, content type and body."""
    binary = f"application/vnd.sagemaker-triton.binary+json;json-header-size={len(_BODY)}"
    headers = {"Content-Type": binary, "X-Amzn-SageMaker-Custom-Attributes": attributes}
    with closing(http.client.HTTPConnection(LOOPBACK, port, timeout=_SECONDS)) as client:
        client.request("POST", "/invocations", body=_BODY, headers=headers)
        answer = client.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read().decode()


def _wait(port: int, end_event: threading.Event) -> None:
    """Return when nginx listens.

    Raises:
        OSError: it ended, or does not listen in time.
    """
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline and not end_event.wait(0.05):
        with suppress(ConnectionRefusedError), socket.create_connection((LOOPBACK, port)):
            return
    raise OSError("nginx has ended" if end_event.is_set() else "nginx does not listen")
