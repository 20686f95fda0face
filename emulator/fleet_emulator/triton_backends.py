"""The stand-ins for backends of Triton, for the server that loads them: modules, needs, and a variable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

_TRITON = Path(__file__).parent / "stand_ins" / "triton"
BACKENDS = {
    file.parent.name: f"fleet_emulator.stand_ins.triton.backends.{file.parent.name}.model"
    for file in sorted(_TRITON.glob("backends/*/model.py"))
}
"""By the backend's name, the module with its TritonPythonModel."""
ANY_BACKEND = _TRITON / "any_backend" / "model.py"
"""The file of the backend that takes every model and answers no request."""
RELEASE_VARIABLE = "TRITON_FLEET_RELEASE"
"""The variable by which the stand-ins learn the release of the image."""
Find = Callable[[str], object | None]


@dataclass(frozen=True)
class Package:
    """A package by the name of its module, the version that is tried here, and what models need it."""

    module: str
    version: str
    models: str

    @property
    def install(self) -> str:
        """The command that installs it."""
        return f"pip install {self.module}=={self.version}"

    @property
    def problem(self) -> str:
        """The message where it is not installed."""
        return f"{self.models} need {self.module}, which is not installed"


PACKAGES = {"pytorch": Package("torch", "2.13.0", "TorchScript models")}
"""By the backend whose stand-in needs it. With CUDA, torch takes gigabytes."""


def missing_package(backend: str, find: Find = find_spec) -> Package | None:
    """The package that the stand-in for a backend lacks; None where it has all.

    Args:
        backend: Such as "pytorch".
        find: What is behind a module's name, if anything: the module itself is not loaded.
    """
    package = PACKAGES.get(backend)
    return None if package is None or find(package.module) is not None else package
