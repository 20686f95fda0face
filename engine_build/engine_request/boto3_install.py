"""boto3, which the Python of a build may lack."""

from __future__ import annotations

import atexit
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from .problems import UNFIT_IMAGE


def require_boto3() -> None:
    """Make boto3 importable: the installed one, else the pinned one from the machine's package index.

    Raises:
        SystemExit: with the exit code of an unfit image; pip has printed the reason.
    """
    if importlib.util.find_spec("boto3") is not None:
        return
    pins = files("engine_request").joinpath("requirements.txt").read_bytes()
    folder = Path(tempfile.mkdtemp(prefix="engine-build-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "requirements.txt").write_bytes(pins)
    print("boto3 is missing: installing the pinned version")
    # A folder of its own: the Python of Ubuntu 24.04 lets pip install nothing among the system's packages.
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    process = subprocess.run(
        [*pip, "--target", folder / "lib", "-r", folder / "requirements.txt"], check=False
    )
    if process.returncode:
        print(
            "error: boto3 could not be installed: give the build access to a package index (PIP_INDEX_URL)",
            file=sys.stderr,
        )
        sys.exit(UNFIT_IMAGE.exit_code)
    sys.path.insert(0, str(folder / "lib"))
    importlib.invalidate_caches()
