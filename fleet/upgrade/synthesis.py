"""The templates of a fleet, synthesised by any version of triton-fleet that a Python has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fleet.findings import CannotRunError

THIS = Path(sys.executable)
_SUFFIX = ".template.json"


def install(requirement: str, folder: Path) -> Path:
    """A Python that has another version, in a virtual environment.

    Args:
        requirement: A version such as "0.2.0", or what pip takes: a wheel, a URL.
        folder: Where the environment is made, in place of one that exists.

    Raises:
        CannotRunError: pip cannot install it.
    """
    wanted = f"triton-fleet=={requirement}" if requirement[:1].isdigit() else requirement
    python = folder / "bin" / "python"
    for command in (
        [str(THIS), "-m", "venv", "--clear", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = (done.stderr or done.stdout).strip().splitlines()[-1:]
            raise CannotRunError(
                f"{wanted} cannot be installed: {''.join(reason)}",
                "name a version that pip finds, or a wheel",
            )
    return python


def synthesise(python: Path, root: Path, environment: str) -> Mapping[str, Any]:
    """The templates of an environment by stack, as the app of `root` makes them with a Python's packages.

    The CDK CLI is not needed, and the CDK's validation, which changes no template, is left out.

    Raises:
        CannotRunError: the app failed; with what it reported.
    """
    settings = json.loads((root / "cdk.json").read_text("utf-8"))
    context = {**settings.get("context", {}), "env": environment, "aws:cdk:enable-path-metadata": True}
    with tempfile.TemporaryDirectory() as output:
        variables = {
            **os.environ,
            "PATH": os.pathsep.join((str(python.parent), os.environ.get("PATH", os.defpath))),
            "CDK_OUTDIR": output,
            "CDK_CONTEXT_JSON": json.dumps(context),
            "CDK_VALIDATION": "false",
        }
        done = subprocess.run(
            [str(python), str(root / "app.py")],
            cwd=root,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            problem = f"{python} cannot synthesise {environment}:\n{done.stderr.strip()}"
            raise CannotRunError(problem, f"see what it finds: fleet check --env {environment}")
        files = sorted(Path(output).glob(f"*{_SUFFIX}"))
        return {file.name.removesuffix(_SUFFIX): json.loads(file.read_text("utf-8")) for file in files}
