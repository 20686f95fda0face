"""Python packages that the local fleet needs, and how to install those that are missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

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
    def missing(self) -> str:
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
