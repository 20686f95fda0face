"""Triton's /models, as SageMaker calls it: by hash path, with the target's name as a header on every call.

Source: triton-inference-server/server, src/sagemaker_server.cc. A DELETE without that header would unload
nothing and hang for 350 s (tried with 24.10).
"""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import psutil
import urllib3

from triton_fleet.core.formats import format_size
from triton_fleet.local.containers import RESTART_MESSAGE, TARGET_MODEL, LackOfMemory, ModelRefusal, Record
from triton_fleet.local.multi_model.disk import ModelDisk, UnpackedArchive
from triton_fleet.local.multi_model.models import Model, Neighbors, Run, folder_name
from triton_fleet.local.triton.server import TritonServer
from triton_fleet.local.triton.supervisor import SupervisedTriton

log = logging.getLogger("triton_fleet.local")

PATH = "/models"
LOADED_STATUS = 409
SECONDS_TO_LOAD, SECONDS_TO_UNLOAD = 120.0, 60.0
"""As long as a single model may take to start here; and as long as the longest call that it waits for."""


@dataclass(frozen=True, kw_only=True)
class TritonReply:
    """Triton's status, and its words where it refused."""

    status: int
    message: str


class ModelsApi:
    """Loads and unloads models of one run of Triton; a run that gives no answer in time is ended.

    It would continue what it was doing, and the state of the model would be unknown; its supervisor starts
    another run, which has no models.
    """

    def __init__(self, server: TritonServer) -> None:
        self._server = server

    def load(self, name: str, target: str, folder: Path) -> TritonReply:
        """POST /models: register the unpacked archive, and load the target model from it.

        Raises:
            ModelRefusal: Triton gave no answer.
        """
        body = json.dumps({"model_name": name, "url": str(folder)}).encode()
        answer = self._ask("POST", PATH, target, SECONDS_TO_LOAD, body)
        if answer.status != LOADED_STATUS:
            return answer
        self.unload(name, target)
        return self._ask("POST", PATH, target, SECONDS_TO_LOAD, body)

    def unload(self, name: str, target: str) -> None:
        """DELETE /models/NAME: returns when the model is gone.

        Raises:
            ModelRefusal: Triton gave no answer.
        """
        answer = self._ask("DELETE", f"{PATH}/{name}", target, SECONDS_TO_UNLOAD)
        if answer.status != 200:
            log.warning("unloading %s: Triton answered %d %s", target, answer.status, answer.message)

    def _ask(
        self, method: str, path: str, target: str, seconds: float, body: bytes | None = None
    ) -> TritonReply:
        headers = {TARGET_MODEL: target, "Content-Type": "application/json"}
        timeout = urllib3.Timeout(connect=2.0, read=seconds)
        state = "loaded" if method == "POST" else "unloaded"
        try:
            answer = self._server.pool.request(method, path, body=body, headers=headers, timeout=timeout)
        except urllib3.exceptions.ReadTimeoutError as error:
            self._server.stop(grace=0.0)
            message = (
                f"The container gave no answer for {seconds:g} s while {target} was {state}; it is restarted."
            )
            raise ModelRefusal(0, message) from error
        except urllib3.exceptions.HTTPError as error:
            raise ModelRefusal(0, f"The container ended while {target} was {state}.") from error
        return TritonReply(status=answer.status, message=answer.data.decode("utf-8", "replace"))


IN_THE_CONTAINER = "/opt/ml/models"
_VAGUE_REASONS = ("failed to poll", "is not healthy")


class TritonModels:
    """The models of one supervised Triton."""

    def __init__(
        self,
        triton: SupervisedTriton,
        disk: ModelDisk,
        prefix: str,
        memory_limit: Callable[[], int | None],
        record: Record,
    ) -> None:
        self._triton, self._disk, self._prefix = triton, disk, prefix
        self._memory_limit, self._record = memory_limit, record

    def run(self) -> Run:
        """The present server.

        Raises:
            ModelRefusal: it is being restarted.
        """
        server = self._triton.ready
        if server is None:
            raise ModelRefusal(0, RESTART_MESSAGE)
        return server

    def fetch(self, model: Model, neighbors: Neighbors) -> None:
        """Have the archive unpacked on disk.

        Raises:
            Refusal: it cannot be had.
            LackOfMemory: the disk is too small for it.
        """
        self._disk.fetch(model.target, neighbors)

    def load(self, model: Model) -> None:
        """Load it from disk.

        Raises:
            LackOfMemory: Triton lacks memory.
            ModelRefusal: Triton refuses it for another reason, or has ended.
        """
        archive, server, start = self._disk.archive(model.target), _server(model), time.monotonic()
        log_end = server.log_end()
        answer = ModelsApi(server).load(archive.name, model.target, archive.folder)
        if answer.status != 200:
            reason = server.reason(archive.folder, log_end)
            message = _container_message(answer, archive, reason)
            lacks_memory = answer.status == LackOfMemory.STATUS
            raise LackOfMemory(message) if lacks_memory else ModelRefusal(answer.status, message)
        self._record("model_loading_time", (time.monotonic() - start) * 1e6)

    def require_room(self, model: Model) -> None:
        """See that a model that has just been loaded fits without any other.

        Raises:
            LackOfMemory: it passes the limit by itself.
        """
        self._measure([model])
        limit = self._memory_limit()
        if limit is not None and model.memory > limit:
            takes = f"{model.target} takes {format_size(model.memory)} of memory"
            limit_text = f"`local.model_memory` in environments/local.yaml is {format_size(limit)}"
            raise LackOfMemory(json.dumps({"error": f"{takes}; {limit_text}"}))

    def fits(self, model: Model, resident_models: Sequence[Model]) -> bool:
        """Whether all of them stay below the limit; what each takes is noted."""
        self._measure([model, *resident_models])
        limit = self._memory_limit()
        return limit is None or sum(candidate.memory for candidate in (model, *resident_models)) <= limit

    def _measure(self, models: Sequence[Model]) -> None:
        memory = memory_by_folder(_server(models[0]).process.pid, self._disk.root)
        for model in models:
            model.memory = memory[self._name(model)]

    def unload(self, model: Model) -> None:
        """Unload a model; returns when Triton has freed it.

        Raises:
            ModelRefusal: Triton gave no answer.
        """
        start = time.monotonic()
        ModelsApi(_server(model)).unload(self._name(model), model.target)
        self._record("model_unloading_time", (time.monotonic() - start) * 1e6)

    def _name(self, model: Model) -> str:
        return folder_name(f"{self._prefix}{model.target}")


def _server(model: Model) -> TritonServer:
    return cast(TritonServer, model.run)


def _container_message(answer: TritonReply, archive: UnpackedArchive, reason: str) -> str:
    """Triton's answer with the path that the container would have, and the reason that only its log has."""
    message = answer.message.replace(str(archive.folder.parent.parent), IN_THE_CONTAINER)
    if not reason or not any(phrase in message for phrase in _VAGUE_REASONS):
        return message
    try:
        error = json.loads(message)["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        error = message
    return json.dumps({"error": f"{error}; {reason}"})


def memory_by_folder(pid: int, root: Path) -> Counter[str]:
    """Bytes by the name of the folder below `root` whose files a process of Triton's was started with.

    Measured is the proportional set size. On this machine every backend runs in processes of its own; an
    ensemble has none.
    """
    memory: Counter[str] = Counter()
    try:
        processes = psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return memory
    for process in processes:
        try:
            folder = _folder(process.cmdline(), root)
            if folder is not None:
                memory[folder] += process.memory_full_info().pss
        except psutil.Error:
            continue  # it ended meanwhile
    return memory


def _folder(command: list[str], root: Path) -> str | None:
    for argument in command[1:]:
        if argument.startswith(f"{root}/"):
            return Path(argument).relative_to(root).parts[0]
    return None
