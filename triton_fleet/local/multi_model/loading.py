"""Loading target models into one endpoint's Triton, within its memory and with Triton's own reasons."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import psutil

from triton_fleet.core.sizes import format_size
from triton_fleet.local.containers import RESTARTING, LackOfMemory, ModelRefusal, Record
from triton_fleet.local.multi_model.disk import ModelDisk, UnpackedArchive
from triton_fleet.local.multi_model.models import Model, Others, Run
from triton_fleet.local.multi_model.models_api import ModelsApi, TritonReply
from triton_fleet.local.multi_model.target import folder_name
from triton_fleet.local.triton.server import TritonServer
from triton_fleet.local.triton.supervisor import SupervisedTriton

IN_THE_CONTAINER = "/opt/ml/models"
_UNEXPLAINED = ("failed to poll", "is not healthy")


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
            raise ModelRefusal(0, RESTARTING)
        return server

    def fetch(self, model: Model, others: Others) -> None:
        """Have the archive unpacked on disk.

        Raises:
            Refusal: it cannot be had.
            LackOfMemory: the disk is too small for it.
        """
        self._disk.fetch(model.target, others)

    def load(self, model: Model) -> None:
        """Load it from disk.

        Raises:
            LackOfMemory: Triton lacks memory.
            ModelRefusal: Triton refuses it for another reason, or has ended.
        """
        unpacked, server, start = self._disk.unpacked(model.target), _server(model), time.monotonic()
        log_end = server.log_end()
        answer = ModelsApi(server).load(unpacked.name, model.target, unpacked.folder)
        if answer.status != 200:
            reason = server.reason(unpacked.folder, log_end)
            message = _container_message(answer, unpacked, reason)
            lacking = answer.status == LackOfMemory.STATUS
            raise LackOfMemory(message) if lacking else ModelRefusal(answer.status, message)
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
            allowed = f"`local.model_memory` in environments/local.yaml is {format_size(limit)}"
            raise LackOfMemory(json.dumps({"error": f"{takes}; {allowed}"}))

    def fits(self, model: Model, loaded: Sequence[Model]) -> bool:
        """Whether all of them stay below the limit; what each takes is noted."""
        self._measure([model, *loaded])
        limit = self._memory_limit()
        return limit is None or sum(each.memory for each in (model, *loaded)) <= limit

    def _measure(self, models: Sequence[Model]) -> None:
        taken = memory_by_folder(_server(models[0]).process.pid, self._disk.root)
        for model in models:
            model.memory = taken[self._name(model)]

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


def _container_message(answer: TritonReply, unpacked: UnpackedArchive, reason: str) -> str:
    """Triton's answer with the path that the container would have, and the reason that only its log has."""
    message = answer.message.replace(str(unpacked.folder.parent.parent), IN_THE_CONTAINER)
    if not reason or not any(each in message for each in _UNEXPLAINED):
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
    taken: Counter[str] = Counter()
    try:
        processes = psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return taken
    for process in processes:
        try:
            folder = _folder(process.cmdline(), root)
            if folder is not None:
                taken[folder] += process.memory_full_info().pss
        except psutil.Error:
            continue  # it ended meanwhile
    return taken


def _folder(command: list[str], root: Path) -> str | None:
    for argument in command[1:]:
        if argument.startswith(f"{root}/"):
            return Path(argument).relative_to(root).parts[0]
    return None
