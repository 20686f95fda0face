"""The templates of a fleet, synthesised by any version of triton-fleet that a Python has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from triton_fleet.core.files import write_atomically
from triton_fleet.endpoint.resolved_endpoint import stack_of
from triton_fleet.findings import CannotRunError
from triton_fleet.product.distributions import DEPLOY, DEPLOY_EXTRA
from triton_fleet.product.extras import require_extra
from triton_fleet.product.installation import Installation, isolated
from triton_fleet.product.setup_files import REQUIREMENTS
from triton_fleet.product.wheels import wheels_in
from triton_fleet.project.project import Project

THIS = Path(sys.executable)
BY_HASH = ("--require-hashes", "--no-deps", "--only-binary=:all:")
"""What pip installs as `make setup` does."""
_SUFFIX = ".template.json"
_APP = "import sys, pathlib; from fleet_stacks.app import run; run(pathlib.Path(sys.argv[1]))"
"""What the app.py of a fleet runs; app.py itself may be changed, and imports the packages beside it."""


def app_command(python: Path, root: Path) -> list[str]:
    """The command that runs the product's CDK app for the fleet in `root`, and no file of that fleet."""
    return [str(python), "-P", "-c", _APP, str(root)]


def install(folder: Path, fleet: Path, *requirements: str) -> Path:
    """A Python that has what a fleet's requirements list, each by its hash, in a virtual environment.

    Args:
        folder: Where the environment is made, in place of one that exists.
        fleet: The folder that paths in requirements are relative to.
        requirements: The names of the files in it.

    Raises:
        CannotRunError: pip cannot install it.
    """
    python = folder / "bin" / "python"
    for command in (
        [str(THIS), "-P", "-m", "venv", "--clear", str(folder)],
        [str(python), "-P", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *BY_HASH]
        + [f"--requirement={name}" for name in requirements],
    ):
        variables = isolated(os.environ)
        done = subprocess.run(command, cwd=fleet, capture_output=True, text=True, check=False, env=variables)
        if done.returncode:
            reason = (done.stderr or done.stdout).strip().splitlines()[-1:]
            raise CannotRunError(
                f"{', '.join(requirements)} cannot be installed: {''.join(reason)}",
                "each line of these files needs a version, or a wheel, and its hash",
            )
    return python


def install_wheel(folder: Path, file: Path) -> Path:
    """A Python that has the wheel of triton-fleet, those beside it, and the dependencies that it locks.

    Raises:
        CannotRunError: the file is another one, a wheel is missing beside it, or pip cannot install them.
    """
    try:
        with ZipFile(file) as packed:
            locked = packed.read("triton_fleet/sources/requirements.txt").decode()
    except (OSError, BadZipFile, KeyError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CannotRunError(
            f"{file} is not a wheel of triton-fleet: {reason}",
            "name one, such as dist/triton_fleet-0.3.0-py3-none-any.whl",
        ) from error
    wheels = wheels_in(file.parent, file.name.split("-")[1])
    with tempfile.TemporaryDirectory() as name:
        fleet = Path(name)
        for path, content in wheels.files(DEPLOY_EXTRA).items():
            write_atomically(fleet / path, content)
        lines = "\n".join(wheels.lines(DEPLOY_EXTRA))
        write_atomically(fleet / REQUIREMENTS, f"{lines}\n{locked}")
        return install(folder, fleet, REQUIREMENTS)


def settings(root: Path) -> Mapping[str, Any]:
    """The CDK context that the cdk.json of a fleet sets; nothing without the file.

    Raises:
        CannotRunError: it is not a JSON object.
    """
    file = root / "cdk.json"
    try:
        found = json.loads(file.read_text("utf-8")) if file.is_file() else {}
        if not isinstance(found, dict):
            raise ValueError("it is another JSON value")
    except ValueError as error:
        raise CannotRunError(
            f"{file} is not a JSON object: {error}", "correct or restore the file"
        ) from error
    context: Mapping[str, Any] = found.get("context") or {}
    return context


def upgraded(context: Mapping[str, Any], this: Installation, other: Installation) -> dict[str, Any]:
    """The CDK context after an upgrade: what the other version ships, and the keys that the owner added."""
    own = {key: value for key, value in context.items() if key not in this.context}
    return {**own, **other.context}


def project_templates(
    version: Installation, project: Project, endpoints: Iterable[str]
) -> Mapping[str, Mapping[str, Any]]:
    """The templates of some endpoints of an environment by their names, and that of what they share under "".

    Raises:
        CannotRunError: the app failed, with what it reported, or its version makes other stacks.
    """
    deployment, names = project.deployment, list(endpoints)
    only = {"endpoints": ",".join(names)} if names else {"foundation": "only"}
    templates = synthesise(version, project.root, deployment.environment, {**settings(project.root), **only})
    stacks = {"": deployment.stack, **{name: stack_of(deployment, name) for name in names}}
    for stack in stacks.values():
        if stack not in templates:
            problem = f"triton-fleet {version.version} makes no stack {stack}"
            raise CannotRunError(problem, f"see what it makes: npx cdk list -c env={deployment.environment}")
    return {name: templates[stack] for name, stack in stacks.items()}


def synthesise(
    version: Installation, root: Path, environment: str, context: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The templates of an environment by stack, as a version makes them of the fleet in `root`.

    The CDK CLI is not needed, and the CDK's validation, which changes no template, is left out.

    Raises:
        CannotRunError: the app failed; with what it reported.
    """
    context = {**context, "env": environment, "aws:cdk:enable-path-metadata": True}
    python = version.python
    with tempfile.TemporaryDirectory() as output:
        variables = {
            **version.variables,
            "PATH": os.pathsep.join((str(python.parent), os.environ.get("PATH", os.defpath))),
            "CDK_OUTDIR": output,
            "CDK_CONTEXT_JSON": json.dumps(context),
            "CDK_VALIDATION": "false",
        }
        done = subprocess.run(
            app_command(python, root),
            cwd=root,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            if python == THIS:
                require_extra(DEPLOY)
            problem = f"{python} cannot synthesise {environment}:\n{done.stderr.strip()}"
            raise CannotRunError(problem, f"see what it finds: fleet check --env {environment}")
        files = sorted(Path(output).glob(f"*{_SUFFIX}"))
        return {file.name.removesuffix(_SUFFIX): json.loads(file.read_text("utf-8")) for file in files}
