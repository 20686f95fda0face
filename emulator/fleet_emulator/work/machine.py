"""What the processes of builds and jobs find: no AWS but ours, and stand-ins for what needs a GPU."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from fleet_emulator import process_state
from fleet_emulator.product import (
    ENGINE_STAND_INS,
    Instance,
    codebuild_family,
    expected_tensorrt,
    instance,
    instance_types,
    local_variables,
    release,
    releases,
)

NOTE = "embedded AWS: this runs on this machine; nvidia-smi and trtexec are stand-ins, and build nothing real"
_RELEASE = re.compile(r":(\d\d\.\d\d)-py3")


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What a build or job declares to run on: an image, and a GPU or none.

    Attributes:
        image: The container image, of which only TensorRT's version is known here.
        gpu: As the catalog names it, empty without.
        compute_capability: That of the GPU, `8.6`.
    """

    image: str
    gpu: str = ""
    compute_capability: str = ""

    @classmethod
    def of_instance(cls, image: str, instance_type: str) -> Machine:
        """That of a SageMaker job; a type that the catalog does not have is one without GPU."""
        if instance_type not in instance_types():
            return cls(image=image)
        return cls._with(image, instance(instance_type))

    @classmethod
    def of_compute(cls, image: str, environment_type: str, compute_type: str) -> Machine:
        """That of a build: CodeBuild's GPU where the environment has one."""
        if environment_type != "LINUX_GPU_CONTAINER":
            return cls(image=image)
        family = codebuild_family(compute_type)
        smallest = next(each for each in instance_types() if each.startswith(f"ml.{family}."))
        return cls._with(image, instance(smallest))

    @classmethod
    def _with(cls, image: str, machine: Instance) -> Machine:
        return cls(image=image, gpu=machine.gpu, compute_capability=machine.compute_capability)

    def variables(self, folder: Path, *, region: str) -> dict[str, str]:
        """The environment of a process, whose home and temporary files are in the folder.

        Only the search path comes from the user's own environment.
        """
        path = os.pathsep.join([str(ENGINE_STAND_INS), str(Path(sys.executable).parent), os.environ["PATH"]])
        own = {"PATH": path, "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8"}
        here = process_state.current()
        ours = local_variables(own, region=region, url=here.url, keys=here.keys)
        return ours | self._stand_in_variables()

    def _stand_in_variables(self) -> dict[str, str]:
        shown = {
            "FLEET_STAND_IN_GPU": self.gpu,
            "FLEET_STAND_IN_COMPUTE_CAPABILITY": self.compute_capability,
        }
        found = _RELEASE.search(self.image)
        tensorrt = expected_tensorrt(release(found[1])) if found and found[1] in releases() else None
        return shown | ({"TRT_VERSION": tensorrt} if tensorrt else {})
