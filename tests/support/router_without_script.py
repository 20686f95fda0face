"""nginx as the shared container configures it, between a client and a stand-in for Triton.

In place of the script it answers 418, so that a test sees who would have served a call.
"""

from __future__ import annotations

import http.client
import io
import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from shared_container.log import Log
from shared_container.nginx_config import CONFIG
from shared_container.routes import Routes
from shared_container.settings import Places, Settings
from shared_container.supervisor import write_files
from tests.support.shared_containers import ATTRIBUTES, require_nginx

SCRIPT = 418
BODY = b'{"inputs": []}'
JSON = "application/json"
SECONDS = 30


class StandIn(BaseHTTPRequestHandler):
    """Answers with what it was asked, or as `server.answer` says: not at all with 502, not in time with 504."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server = cast("Triton", self.server)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.paths.append(self.path)
        status, headers, answer = server.answer or (200, {"Content-Type": JSON}, None)
        if status in (502, 504):
            server.may_go_on.wait(SECONDS if status == 504 else 0)
            self.close_connection = True
            return
        heads = {key.lower(): value for key, value in self.headers.items()}
        text = json.dumps({"path": self.path, "headers": heads, "body": body.decode()}).encode()
        answer = text if answer is None else answer
        self.send_response_only(status)
        for key, value in {**headers, "Content-Length": str(len(answer))}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(answer)
        self.wfile.flush()
        server.has_sent.set()

    def log_message(self, format: str, *arguments: object) -> None:
        pass


class Triton(ThreadingHTTPServer):
    daemon_threads = True
    answer: tuple[int, dict[str, str], bytes | None] | None = None

    def reset(self) -> None:
        self.answer, self.paths = None, list[str]()
        self.has_sent, self.may_go_on = threading.Event(), threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@dataclass(frozen=True)
class RouterAnswer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Router:
    """nginx without its script."""

    port: int
    triton: Triton
    log: Path

    def call(
        self,
        attributes: str | list[str] | None = None,
        content_type: str = JSON,
        method: str = "POST",
        body: bytes = BODY,
        **headers: str,
    ) -> RouterAnswer:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)) as client:
            client.putrequest(method, "/invocations?model=a.b", skip_accept_encoding=True)
            inputs = {"Content-Length": str(len(body)), "Content-Type": content_type}
            for key, value in (
                inputs | {key.replace("_", "-"): text for key, text in headers.items()}
            ).items():
                if value:
                    client.putheader(key, value)
            for value in [attributes] if isinstance(attributes, str) else attributes or []:
                client.putheader(ATTRIBUTES, value)
            client.endheaders(body)
            answer = client.getresponse()
            return RouterAnswer(answer.status, dict(answer.getheaders()), answer.read())

    def lines(self) -> list[dict[str, Any]]:
        """The log's line of each request."""
        stream = io.StringIO()
        log = Log(stream)
        for line in self.log.read_text().splitlines():
            log.request(line)
        return [json.loads(line) for line in stream.getvalue().splitlines()]


@contextmanager
def router_without_script(routes: Routes) -> Iterator[Router]:
    """A router whose nginx runs; a test on a machine without nginx is skipped."""
    require_nginx()
    with TemporaryDirectory() as name:
        folder, triton = Path(name), Triton(("127.0.0.1", 0), StandIn)
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            port = free.getsockname()[1]
        container = Settings(
            routes=routes,
            places=Places(folder=folder),
            port=port,
            triton_port=triton.server_port,
            metrics_port=None,
            triton_options=(),
            logs_all_requests=True,
            seconds=1,
        )
        command = write_files(container)
        (folder / CONFIG).write_text(_without_script((folder / CONFIG).read_text(), folder / "script"))
        threading.Thread(target=triton.serve_forever, daemon=True).start()
        with (folder / "log").open("ab") as log:
            nginx = subprocess.Popen(command, stdout=log, stderr=subprocess.DEVNULL)
        try:
            _wait(port)
            yield Router(port, triton, folder / "log")
        finally:
            nginx.terminate()
            nginx.wait()
            triton.shutdown()
            triton.server_close()


def _without_script(config: str, listener: Path) -> str:
    """The configuration with another server of nginx in place of the script."""
    assert config.count("js_content router.invoke;") == 2
    server = f"server {{ listen unix:{listener}; access_log off; return {SCRIPT}; }}"
    config = config.replace("js_content router.invoke;", f"proxy_pass http://unix:{listener}:;")
    return config.replace("server_tokens off;", f"client_body_timeout 1s; {server}")


def _wait(port: int) -> None:
    for _ in range(SECONDS * 50):
        with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.02)
    raise AssertionError("nginx does not listen")
