"""Where the files are that are part of the product and not of a Python package of it."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
PRODUCT = (
    "triton_fleet",
    "client",
    "constructs",
    "containers",
    "emulator",
    "stacks",
    "lambda",
    "engine_build",
    "pyproject.toml",
)
"""The folders of the product where it is in the clone of a fleet, as in its own repository."""


def is_product_clone(root: Path) -> bool:
    """Whether the folder of a fleet is a clone of the product."""
    return (root / "triton_fleet/core/sources.py").is_file()


def source_path(name: str) -> Path:
    """A file or a folder of the repository: in the wheel inside of the package, in a clone beside it.

    Args:
        name: Its path in the repository, such as "lambda"; pyproject.toml lists what the wheel has.
    """
    installed = _PACKAGE / "sources"
    return (installed if installed.is_dir() else _PACKAGE.parent) / name
