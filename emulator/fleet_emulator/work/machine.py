"""The environment and the log of the processes of builds and jobs: no AWS but ours, and stand-ins."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moto.logs.models import logs_backends

from fleet_emulator import process_state
from fleet_emulator.process_state import turn
from fleet_emulator.product import (
    expected_tensorrt,
    instance,
    instance_types,
    local_variables,
    release,
    releases,
)
from fleet_emulator.stand_ins import DOCKER, ENGINE_TOOLS
from fleet_emulator.stand_ins.docker.store import STORE

NOTE = (
    "embedded AWS: this runs on this machine; nvidia-smi, trtexec and docker are stand-ins,"
    " and build nothing real"
)
_RELEASE = re.compile(r":(\d\d\.\d\d)-py3")


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What a build or job declares to run on: an image, and a GPU or none.

    Attributes:
        image: The container image, of which only TensorRT's version is known here.
        gpu: As the catalog names it, empty without.
        compute_capability: That of the GPU, `8.6`.
        privileged: Whether it has docker, which CodeBuild has in its privileged mode alone.
    """

    image: str
    gpu: str = ""
    compute_capability: str = ""
    privileged: bool = False

    @classmethod
    def of_instance(cls, image: str, instance_type: str) -> Machine:
        """That of a SageMaker job; a type that the catalog does not have is one without GPU."""
        if instance_type not in instance_types():
            return cls(image=image)
        machine = instance(instance_type)
        return cls(image=image, gpu=machine.gpu, compute_capability=machine.compute_capability)

    @classmethod
    def of_build(cls, environment: Mapping[str, Any]) -> Machine:
        """That of a build, which has no GPU here."""
        return cls(image=environment["image"], privileged=environment.get("privilegedMode", False))

    def variables(
        self, folder: Path, *, account: str, region: str, is_isolated: bool = False
    ) -> dict[str, str]:
        """The environment of a process, whose home and temporary files are in the folder.

        Only the search path comes from the user's own environment. An isolated process gets neither AWS's
        address nor credentials.
        """
        stand_ins = [ENGINE_TOOLS, *([DOCKER] if self.privileged else [])]
        path = os.pathsep.join([*map(str, stand_ins), str(Path(sys.executable).parent), os.environ["PATH"]])
        own = {"PATH": path, "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8"}
        own[STORE] = str(folder / "images")
        if is_isolated:
            return own | self._stand_in_variables()
        here = process_state.current()
        keys = here.accounts.keys_of(account)
        ours = local_variables(own, region=region, url=here.url, keys=keys)
        return ours | self._stand_in_variables()

    def _stand_in_variables(self) -> dict[str, str]:
        shown = {
            "FLEET_STAND_IN_GPU": self.gpu,
            "FLEET_STAND_IN_COMPUTE_CAPABILITY": self.compute_capability,
        }
        found = _RELEASE.search(self.image)
        tensorrt = expected_tensorrt(release(found[1])) if found and found[1] in releases() else None
        return shown | ({"TRT_VERSION": tensorrt} if tensorrt else {})


class LogStream:
    """One stream, made with its group where there is none; each call takes a turn."""

    def __init__(self, account: str, region: str, *, group: str, stream: str) -> None:
        self.group, self.stream = group, stream
        self._backend = logs_backends[account][region]
        with turn():
            self._backend.ensure_log_group(group)
            self._backend.ensure_log_stream(group, stream)

    def write(self, line: str) -> None:
        """Add a line as an event of now; CloudWatch Logs takes no empty one."""
        event = {"timestamp": int(time.time() * 1000), "message": line or " "}
        with turn():
            self._backend.put_log_events(self.group, self.stream, [event])
