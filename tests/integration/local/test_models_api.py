"""Triton's /models as SageMaker calls it; a plain HTTP server stands in for Triton."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from urllib3 import HTTPConnectionPool

from triton_fleet.local.containers import ModelRefusal
from triton_fleet.local.multi_model import loading
from triton_fleet.local.multi_model.loading import ModelsApi, TritonReply


class StandIn:
    """A Triton that answers with the statuses it is given, in turn; with 0 never."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, str | None]] = []
        self.statuses: list[int] = []
        self.release = threading.Event()
        self.grace: float | None = None
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"] or 0))
                target = self.headers["X-Amzn-SageMaker-Target-Model"]
                stand_in.calls.append((self.command, self.path, target))
                status = stand_in.statuses.pop(0) if stand_in.statuses else 200
                if status == 0:
                    stand_in.release.wait(10)
                    return
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_DELETE = answer

            def log_message(self, format: str, *args: Any) -> None:
                """Be quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.pool = HTTPConnectionPool("127.0.0.1", self.server.server_port, retries=False)

    def stop(self, grace: float) -> None:
        """Requests of ModelsApi to a run of Triton that gives no answer."""
        self.grace = grace


@pytest.fixture
def triton() -> Iterator[StandIn]:
    triton = StandIn()
    thread = threading.Thread(target=triton.server.serve_forever, args=[0.01])
    thread.start()
    yield triton
    triton.release.set()
    triton.server.shutdown()
    thread.join()
    triton.server.server_close()


@pytest.fixture
def api(triton: StandIn) -> ModelsApi:
    return ModelsApi(triton)  # type: ignore[arg-type]


def load(api: ModelsApi) -> TritonReply:
    return api.load("abc", "cats.tar.gz", Path("/models/abc/model"))


def test_every_call_names_the_hash_in_its_path_and_the_target_in_its_header(
    triton: StandIn, api: ModelsApi
) -> None:
    answer = load(api)
    assert json.loads(answer.message) == {"model_name": "abc", "url": "/models/abc/model"}
    api.unload("abc", "cats.tar.gz")
    assert triton.calls == [("POST", "/models", "cats.tar.gz"), ("DELETE", "/models/abc", "cats.tar.gz")]


def test_a_target_that_triton_has_already_is_unloaded_first(triton: StandIn, api: ModelsApi) -> None:
    triton.statuses = [409, 200, 200]
    assert load(api).status == 200
    assert [method for method, _, _ in triton.calls] == ["POST", "DELETE", "POST"]


@pytest.mark.parametrize(("call", "doing_text"), [("load", "loaded"), ("unload", "unloaded")])
def test_a_triton_that_gives_no_answer_is_ended(
    triton: StandIn, api: ModelsApi, monkeypatch: pytest.MonkeyPatch, call: str, doing_text: str
) -> None:
    monkeypatch.setattr(loading, f"SECONDS_TO_{call.upper()}", 0.1)
    triton.statuses = [0]
    with pytest.raises(
        ModelRefusal, match=f"no answer for 0.1 s while cats.tar.gz was {doing_text}; it is restarted"
    ):
        load(api) if call == "load" else api.unload("abc", "cats.tar.gz")
    assert triton.grace == 0.0
