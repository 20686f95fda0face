"""A wheel that installs itself: it writes what `make setup` reads; the installed command writes the rest."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from triton_fleet.core.files import require_writable, write_atomically
from triton_fleet.findings import CannotRunError
from triton_fleet.product.distributions import product_line
from triton_fleet.product.setup_files import REQUIREMENTS, setup_files
from triton_fleet.product.wheels import wheels_in


def first_install(file: Path, arguments: Sequence[str]) -> int:
    """Set up the fleet that is named, and run `fleet init` in it; no file is overwritten.

    Only the standard library is needed.

    Args:
        file: The wheel of triton-fleet; beside it are those of the other distributions.
        arguments: Those of the command: `init`, the folder, options.

    Returns:
        The exit code of `fleet init`.

    Raises:
        CannotRunError: the arguments are others, or a file or an installation is in the way.
    """
    if len(arguments) < 2 or arguments[0] != "init" or arguments[1].startswith("-"):
        raise CannotRunError(
            f"{file.name} only sets up a fleet",
            f"python3 {file.name}/triton_fleet init DIR, then the options of `fleet init`",
        )
    folder = Path(arguments[1])
    wheels = wheels_in(file.parent, file.name.split("-")[1])
    contents = setup_files(folder, wheels)
    require_writable(folder, contents)
    for path, content in contents.items():
        if not (folder / path).exists():
            write_atomically(folder / path, content, root=folder)
    if product_line((folder / REQUIREMENTS).read_text("utf-8", "replace")) is None:
        lines = "\n".join(wheels.lines(wheels.extras))
        raise CannotRunError(
            f"{folder / REQUIREMENTS} exists, without triton-fleet", f"add these lines:\n{lines}"
        )
    try:
        done = subprocess.run(["make", "--no-print-directory", "-C", str(folder), "setup"], check=False)
    except FileNotFoundError as error:
        raise CannotRunError("make is not installed", "install it, and run this command again") from error
    if done.returncode:
        raise CannotRunError(f"`make setup` in {folder} failed", "run this command again to continue")
    command = [str(folder / ".venv" / "bin" / "fleet"), *arguments]
    return subprocess.run(command, check=False).returncode
