"""Triton's POST /models; its caller ends the server where it takes too long."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import urllib3

from fleet_emulator.hosting import HostingError
from triton_fleet.context.variables import ADDITIONAL_ARGS
from triton_fleet.local.containers import TARGET_MODEL
from triton_fleet.local.triton.container import DEFAULT_MODEL, MULTI_MODEL
from triton_fleet.local.triton.failure import still_loading
from triton_fleet.local.triton.server import TritonServer
from triton_fleet.local.try_load.preparation import Preparation

QUIET = {"SAGEMAKER_TRITON_LOG_VERBOSE": "false"}
NOT_READ = "failed to poll"
"""In the answer to a model whose configuration Triton does not take; only its log has the reason."""
TARGET, ANY_TARGET = re.compile(r"[A-Za-z0-9._-]{1,200}"), "model.tar.gz"
"""Names of archives that Triton's Python backend can put into a shell's command line; what others become."""


def target_of(archive: str) -> str:
    """The name of an archive for Triton."""
    return archive if TARGET.fullmatch(archive) else ANY_TARGET


def post(server: TritonServer, repository: Path, archive: str) -> str:
    """Load the main model of a repository by its archive's name; why it failed, empty if it did not."""
    target = target_of(archive)
    body = json.dumps({"model_name": repository.name, "url": str(repository)})
    try:
        answer = server.pool.request("POST", "/models", body=body, headers={TARGET_MODEL: target})
    except urllib3.exceptions.HTTPError:
        server.process.dead.wait()
        return f"it {server.end()}"
    return "" if answer.status == 200 else str(json.loads(answer.data)["error"])


STUB = "triton_python_b"
"""How Linux shortens the name of the process that runs a Python model."""
SECONDS_BETWEEN_LOOKS, SECONDS_DEAD, SECONDS_TO_ANSWER = 0.2, 2.0, 5.0
"""A stub that ends as it should is a zombie for a moment only. On a busy machine Triton 24.10 now and then
loads a model, logs it, and never answers."""


@dataclass(frozen=True, kw_only=True)
class LoadOutcome:
    """The outcome of a load; `reason` is empty if it succeeded, `log` is what the server wrote."""

    reason: str
    log: str = ""
    silent: bool = False


def ask(preparation: Preparation, environment: dict[str, str], archive: str, seconds: float) -> LoadOutcome:
    """Load the repository, and end the server.

    Where a signal ends the server, it is asked once more: on a busy machine Triton 24.10 aborts now and then.

    Args:
        preparation: The repository.
        environment: The variables of the container, which decide its mode.
        archive: In multi-model mode what the archive is called.
        seconds: How long it may take.
    """
    outcome, is_killed = _load_in_server(preparation, environment, archive, seconds)
    return _load_in_server(preparation, environment, archive, seconds)[0] if is_killed else outcome


def _load_in_server(
    preparation: Preparation, environment: dict[str, str], archive: str, seconds: float
) -> tuple[LoadOutcome, bool]:
    """The outcome, and whether a signal has ended the server."""
    log = preparation.folder / "triton.log"
    log.unlink(missing_ok=True)
    multi_model, empty = MULTI_MODEL in environment, preparation.folder / "no-models"
    empty.mkdir(exist_ok=True)
    server = TritonServer(
        preparation.runtime, empty if multi_model else preparation.repository, QUIET | environment, log=log
    )
    try:
        server.start()
    except HostingError as error:  # the start script would not start it
        return LoadOutcome(reason=str(error)), False
    with ThreadPoolExecutor(1) as pool:
        try:
            deadline = time.monotonic() + seconds
            loading = pool.submit(_load, server, preparation, archive if multi_model else None)
            main = f"{preparation.registered_folder}::{target_of(archive)}" if multi_model else None
            silence = _silent_outcome(loading, server, main, deadline)
        finally:
            server.stop(grace=0.0)
    text = log.read_text("utf-8", "replace")
    if silence is None:
        return LoadOutcome(reason=loading.result(), log=text), server.is_killed
    if not silence.silent:
        return replace(silence, log=text), False
    models = ", ".join(
        model.rpartition("::")[2] for model in still_loading(text, preparation.registered_folder)
    )
    progress = f"; still loading {models}" if models else ""
    reason = silence.reason or f"not ready after {seconds:g} s"
    return replace(silence, reason=f"{reason}{progress}", log=text), False


def single(default_model: str) -> dict[str, str]:
    """The variables of a container with one repository."""
    return {DEFAULT_MODEL: default_model} if default_model else {}


def multi_model() -> dict[str, str]:
    """The variables of a container that loads archives as they are asked for."""
    return {MULTI_MODEL: "true"}


def shared_variables(repository: Path) -> dict[str, str]:
    """The variables of a container that loads all models of its repository, as a shared one does."""
    names = sorted(path.name for path in repository.iterdir() if path.is_dir())
    further = " ".join(f"--load-model={name}" for name in names[1:])
    return {DEFAULT_MODEL: names[0], ADDITIONAL_ARGS: further} if names else {}


def _load(server: TritonServer, preparation: Preparation, archive: str | None) -> str:
    """Why it failed, empty if it did not; a caller that waits too long ends the server, and so this."""
    try:
        server.wait_ready(float("inf"))
    except HostingError as error:
        return str(error).removeprefix("Triton did not start: ").partition(" (log: ")[0]
    if archive is None:
        return ""
    answer, of_log = (
        post(server, preparation.registered_folder, archive),
        server.reason(preparation.repository, 0),
    )
    if NOT_READ in answer or "\n\nAt:" in answer:  # the log has the reason, and the line of the user's code
        return of_log or answer
    return f"{answer.strip()}; {of_log}" if "not available or ambiguous" in answer and of_log else answer


def _silent_outcome(
    loading: Future[str], server: TritonServer, main: str | None, deadline: float
) -> LoadOutcome | None:
    """The outcome of a load that is not answered, without a reason at the deadline; None where it is.

    One whose main model is loaded by the log, and stays without an answer for a while, is not silent.
    """
    dead_since: dict[int, float] = {}
    answers_by = float("inf")
    while not loading.done():
        time_of_silence = time.monotonic()
        if time_of_silence > deadline:
            return LoadOutcome(reason="", silent=True)
        if answers_by == float("inf") and main is not None and server.has_loaded(main):
            answers_by = time_of_silence + SECONDS_TO_ANSWER
        if time_of_silence > answers_by:
            return LoadOutcome(reason="")
        dead_since = {pid: dead_since.get(pid, time_of_silence) for pid in _dead_stubs(server)}
        if any(time_of_silence - since > SECONDS_DEAD for since in dead_since.values()):
            reason = server.reason(Path("/"), 0)
            message = "Triton waits for ever for the process of a Python model, which has ended"
            return LoadOutcome(reason=f"{message}: {reason}" if reason else message, silent=True)
        wait([loading], SECONDS_BETWEEN_LOOKS)
    return None


def _dead_stubs(server: TritonServer) -> Iterator[int]:
    try:
        children = psutil.Process(server.process.pid).children()
    except psutil.Error:
        return
    for child in children:
        try:
            if child.name() == STUB and child.status() == psutil.STATUS_ZOMBIE:
                yield child.pid
        except psutil.Error:
            continue
