"""A headless Chromium that loads a page, and every host that it asks for."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

OWN_HOSTS = (".google.com", ".googleapis.com", ".gvt1.com")
"""What the browser asks for itself, whatever page it loads."""


class _Proxy(ThreadingHTTPServer):
    hosts: set[str]


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, _Proxy)
        host = self.path.split(":")[0] if self.command == "CONNECT" else urlsplit(self.path).hostname
        self.server.hosts.add(str(host))
        self.send_error(502)

    do_POST = do_HEAD = do_CONNECT = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Be quiet."""


@dataclass(frozen=True)
class LoadedPage:
    """The page's elements after its scripts have run, and the foreign hosts that it asked for."""

    dom: str
    hosts: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Browser:
    """A browser with a profile of its own."""

    program: str
    profile: Path

    def load(self, page: Path, width: int = 1400) -> LoadedPage:
        """Load a page to its end; whatever it asks the network for is noted and refused."""
        with _proxy() as proxy:
            command = [
                self.program,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                f"--user-data-dir={self.profile}",
                f"--proxy-server=http://127.0.0.1:{proxy.server_port}",
                "--proxy-bypass-list=<-loopback>",
                f"--window-size={width},2200",
                "--virtual-time-budget=10000",
                "--dump-dom",
                page.as_uri(),
            ]
            process = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert process.returncode == 0, process.stderr
        return LoadedPage(process.stdout, {host for host in proxy.hosts if not host.endswith(OWN_HOSTS)})


def find_browser(profile: Path) -> Browser | None:
    """Chromium or Chrome, where there is one."""
    lines = [program for name in ("chromium", "google-chrome") if (program := shutil.which(name))]
    return Browser(lines[0], profile) if lines else None


@contextmanager
def _proxy() -> Iterator[_Proxy]:
    proxy = _Proxy(("127.0.0.1", 0), _Handler)
    proxy.hosts = set()
    thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield proxy
    finally:
        proxy.shutdown()
        thread.join()
        proxy.server_close()
