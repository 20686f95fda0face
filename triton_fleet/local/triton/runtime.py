"""Finds the Triton of this machine: the payload of the `nvidia-pytriton` wheel, which is never imported."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from types import MappingProxyType

from fleet_emulator.triton_backends import BACKENDS, RELEASE_VARIABLE
from triton_fleet.catalog.releases import release_packages, stub_python
from triton_fleet.findings import CannotRunError
from triton_fleet.local.triton.cache_folder import cache_folder
from triton_fleet.local.triton.model_python import PYTHON, ModelPython, model_python, product_model
from triton_fleet.local.triton.network import check_network

WHEEL = "nvidia-pytriton"
WHEEL_VERSION = "0.7.0"
RELEASE, SERVER_VERSION = (
    "24.10",
    "2.51.0",
)  # of that version of the wheel; its server logs it in its first lines

_PLATFORMS = (
    f"{WHEEL} exists for Linux with glibc 2.35 or newer, on x86_64 and aarch64; "
    "synth and every test that is not marked `triton` work here all the same"
)
TOO_NEW = (3, 13)


@dataclass(frozen=True, kw_only=True)
class TritonRuntime:
    """A tritonserver that runs on this machine, and where its parts are.

    `image_release` is the Triton of the image that it stands in for, `release` its own.
    """

    binary: Path
    library_path: tuple[Path, ...]
    backend_directory: Path
    cache_directory: Path
    python: ModelPython
    release: str
    image_release: str = RELEASE

    def environment(self) -> dict[str, str]:
        """The variables of a server process, which no variable of a Model replaces.

        Triton's Python stub is the environment of the first python3 on PATH.
        """
        return {
            "PATH": os.pathsep.join((str(self.python.bin), os.environ.get("PATH", os.defpath))),
            "LD_LIBRARY_PATH": os.pathsep.join(map(str, self.library_path)),
            RELEASE_VARIABLE: self.image_release,
        }

    def for_release(self, release: str, packages: Mapping[str, str] = MappingProxyType({})) -> TritonRuntime:
        """The same, whose models find the packages of a release's image, or of one that is built on it.

        Args:
            release: Such as "25.04".
            packages: What an image of one's own has besides, or in other versions, by its facts.
        """
        python = model_python(
            self.python.prefix.parent, release_packages(release) | dict(packages), stub_python(release)[0]
        )
        return replace(self, python=python, image_release=release)


def find_runtime(cache: Path) -> TritonRuntime:
    """The runtime of this machine; its backend directory is assembled below `cache` and reused.

    Raises:
        CannotRunError: this platform or Python has none, a library that it needs is missing, or it cannot
            have a network of its own.
    """
    _check_platform()
    wheel = _wheel()
    server = Path(str(wheel.locate_file("pytriton/tritonserver")))
    stub = server / "python_backend_stubs" / PYTHON / "triton_python_backend_stub"
    if not stub.is_file():
        versions = sorted(path.name for path in stub.parent.parent.glob("*"))
        raise CannotRunError(
            f"Triton {RELEASE} has no Python stub for Python {PYTHON}",
            f"use one of Python {', '.join(versions)}",
        )
    _check_numpy()
    library_path = (Path(str(wheel.locate_file("nvidia_pytriton.libs"))), *libpython_directory())
    check_network()
    check_starts([str(stub)], library_path)
    check_starts([str(server / "bin/tritonserver"), "--help"], library_path)
    return TritonRuntime(
        binary=server / "bin/tritonserver",
        library_path=library_path,
        backend_directory=assemble(cache, server / "backends", stub),
        cache_directory=server / "caches",
        python=model_python(cache, release_packages(RELEASE), stub_python(RELEASE)[0]),
        release=RELEASE,
    )


def _check_platform() -> None:
    if (platform.system(), platform.machine()) not in {("Linux", "x86_64"), ("Linux", "aarch64")}:
        raise CannotRunError(f"there is no Triton for {platform.system()} {platform.machine()}", _PLATFORMS)
    if sys.version_info >= TOO_NEW:
        problem = f"Triton's Python stub needs numpy 1, which does not exist for Python {PYTHON}"
        raise CannotRunError(
            problem, "use Python 3.11 or 3.12: `make clean`, then `make setup PYTHON=python3.12`"
        )


def _wheel() -> metadata.Distribution:
    install = f"pip install --no-deps {WHEEL}=={WHEEL_VERSION}"
    try:
        wheel = metadata.distribution(WHEEL)
    except metadata.PackageNotFoundError:
        raise CannotRunError(
            f"the wheel {WHEEL}, which carries Triton, is not installed", f"{install}; {_PLATFORMS}"
        ) from None
    if wheel.version != WHEEL_VERSION:
        raise CannotRunError(f"{WHEEL} {wheel.version} is installed; only {WHEEL_VERSION} is known", install)
    return wheel


def _check_numpy() -> None:
    try:
        version = metadata.version("numpy")
    except metadata.PackageNotFoundError:
        version = "none"
    if not version.startswith("1."):
        problem = f"Triton's Python stub is built against numpy 1, but this environment has {version}"
        raise CannotRunError(problem, 'pip install "numpy<2" (on Python 3.12 or older)')


def assemble(cache: Path, wheel_backends: Path, stub: Path) -> Path:
    """A directory of copies below `cache`, named by their content.

    Args:
        cache: Where to keep it; made when missing.
        wheel_backends: The backends of the wheel, one directory each.
        stub: The program that runs Python models, for the running Python's version.
    """
    # Copies, not links: Triton refuses a backend whose real path is outside of this directory.
    sources = {Path("python") / stub.name: stub}
    sources |= {
        file.relative_to(wheel_backends): file for file in wheel_backends.glob("*/*") if file.is_file()
    }
    models = {Path(name) / "model.py": product_model(module) for name, module in BACKENDS.items()}

    digests = {name: hashlib.sha256(source.read_bytes()).hexdigest() for name, source in sources.items()}
    digests |= {name: hashlib.sha256(text.encode()).hexdigest() for name, text in models.items()}
    lines = "".join(f"{name} {digest}\n" for name, digest in sorted(digests.items()))

    def fill(folder: Path) -> None:
        for name in digests:
            (folder / name).parent.mkdir(exist_ok=True)
        for name, source in sources.items():
            shutil.copy2(source, folder / name)
        for name, text in models.items():
            (folder / name).write_text(text, "utf-8")

    return cache_folder(cache, f"backends-{hashlib.sha256(lines.encode()).hexdigest()[:16]}", fill)


LIBPYTHON = f"libpython{sys.version_info.major}.{sys.version_info.minor}"


def libpython_directory() -> tuple[Path, ...]:
    """Where the running Python keeps its shared library; empty when it was built without one.

    Triton's Python stub is linked to that library. Without this directory the system's own is taken, if any.
    """
    directory = Path(sysconfig.get_config_var("LIBDIR") or "")
    return (directory,) if (directory / f"{LIBPYTHON}.so.1.0").is_file() else ()


def check_starts(command: list[str], library_path: tuple[Path, ...]) -> None:
    """Run a command that only prints its usage.

    Raises:
        CannotRunError: the linker cannot start it; the text names the library and how to get it.
    """
    environment = {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(map(str, library_path))}
    try:
        run = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=60
        )
    except OSError as error:
        raise CannotRunError(f"{Path(command[0]).name} of Triton cannot be started: {error}") from error
    # 127 is the linker's own exit code; any output of the program itself means that it was linked.
    if run.returncode == 127 or "error while loading shared libraries" in run.stderr:
        raise linker_error(Path(command[0]).name, run.stderr)


def linker_error(program: str, stderr: str) -> CannotRunError:
    """Meaning of the linker's complaint for the user."""
    complaint = (stderr.strip().splitlines() or ["no reason given"])[0].split(": ", 1)[-1]
    if LIBPYTHON in complaint:
        package = f"install a shared {LIBPYTHON} (Debian, Ubuntu: apt install {LIBPYTHON})"
        remedy = f"{package}, or use a Python built with --enable-shared"
    elif re.search(r"GLIBC_[\d.]+", complaint):
        remedy = "Triton's wheel needs glibc 2.35 or newer: Ubuntu 22.04, Debian 12, RHEL 10"
    else:
        remedy = "install the library that it names"
    return CannotRunError(f"{program} of Triton does not start: {complaint}", remedy)
