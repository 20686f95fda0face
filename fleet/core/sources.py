"""Where the code is that runs elsewhere: functions of Lambda, and the build of engines."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def source_folder(name: str) -> Path:
    """The folder `lambda` or `engine_build`: in the wheel inside of the package, in a clone beside it."""
    installed = _PACKAGE / "sources" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name
