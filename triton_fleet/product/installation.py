"""Which triton-fleet a Python has: its version, where its packages are, and the cdk.json that it ships."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triton_fleet.findings import CannotRunError
from triton_fleet.product.distributions import DEPLOY
from triton_fleet.product.extras import require_extra

_PROBE = """
import importlib.metadata, importlib.util, json
from triton_fleet.core.sources import source_path
packages = {}
for name in ("triton_fleet", "fleet_stacks", "triton_endpoints"):
    if not (spec := importlib.util.find_spec(name)):
        raise ModuleNotFoundError(f"No module named {name!r}")
    packages[name] = spec.origin
found = {"version": importlib.metadata.version("triton-fleet"), "packages": packages}
print(json.dumps({**found, "cdk": source_path("cdk.json").read_text("utf-8")}))
"""


@dataclass(frozen=True, kw_only=True)
class Installation:
    """The triton-fleet of one Python; `packages` are the files of its packages, by name.

    `folders` hold packages that come before those that the Python has.
    """

    python: Path
    version: str
    packages: Mapping[str, Path]
    context: Mapping[str, Any]
    folders: Sequence[Path] = ()

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables of a process that is to import it."""
        return isolated(os.environ, self.folders)

    def __str__(self) -> str:
        """The version, and the folder of the package `fleet`."""
        return f"{self.version} ({self.packages['triton_fleet'].parent})"


def isolated(variables: Mapping[str, str], folders: Sequence[Path] = ()) -> dict[str, str]:
    """Environment variables that give a Python the packages in `folders`, and of no other place."""
    found = {name: value for name, value in variables.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
    return {**found, "PYTHONPATH": os.pathsep.join(map(str, folders))} if folders else found


def installation(python: Path, folders: Sequence[Path] = ()) -> Installation:
    """The triton-fleet that a Python imports by itself, or first from some folders.

    Raises:
        CannotRunError: it has none, or one without a part that is compared.
    """
    command = [str(python), "-P", "-c", _PROBE]
    variables = isolated(os.environ, folders)
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        if python == Path(sys.executable):
            require_extra(DEPLOY)
        reason = "".join(done.stderr.strip().splitlines()[-1:])
        raise CannotRunError(
            f"{python} has no triton-fleet to compare: {reason}",
            "name a version, or the Python of an environment that has one installed",
        )
    found = json.loads(done.stdout)
    return Installation(
        python=python,
        version=found["version"],
        packages={name: Path(file).resolve() for name, file in found["packages"].items()},
        context=json.loads(found["cdk"]).get("context", {}),
        folders=tuple(folders),
    )


def require_distinct(this: Installation, other: Installation) -> None:
    """Refuse two Pythons that import the same files.

    Raises:
        CannotRunError: they share a package, so its templates would be compared with themselves.
    """
    for name, file in other.packages.items():
        if file == this.packages[name]:
            raise CannotRunError(
                f"{other.python} imports {name} from {file.parent}, as {this.python} does: "
                "one version would be compared with itself",
                "name the Python of an environment that has another version installed",
            )
