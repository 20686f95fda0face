"""The templates of a fleet, synthesised by any version of triton-fleet that a Python has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from triton_fleet.core.files import replace_file
from triton_fleet.endpoint.resolved_endpoint import stack_of
from triton_fleet.findings import CannotRunError
from triton_fleet.product.distributions import DEPLOY, DEPLOY_EXTRA, wheels_in
from triton_fleet.product.extras import require_extra
from triton_fleet.product.setup_files import REQUIREMENTS
from triton_fleet.project.project import Project

_PROBE = """
import importlib.metadata, importlib.util, json
from triton_fleet.core.folders import source_path
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
        return isolate(os.environ, self.folders)

    def __str__(self) -> str:
        """The version, and the folder of the package `fleet`."""
        return f"{self.version} ({self.packages['triton_fleet'].parent})"


def isolate(variables: Mapping[str, str], folders: Sequence[Path] = ()) -> dict[str, str]:
    """Environment variables that give a Python the packages in `folders`, and of no other place."""
    kept_variables = {
        name: value for name, value in variables.items() if name not in {"PYTHONPATH", "PYTHONHOME"}
    }
    return {**kept_variables, "PYTHONPATH": os.pathsep.join(map(str, folders))} if folders else kept_variables


def installation(python: Path, folders: Sequence[Path] = ()) -> Installation:
    """The triton-fleet that a Python imports by itself, or first from some folders.

    Raises:
        CannotRunError: it has none, or one without a part that is compared.
    """
    command = [str(python), "-P", "-c", _PROBE]
    variables = isolate(os.environ, folders)
    process = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if process.returncode:
        if python == Path(sys.executable):
            require_extra(DEPLOY)
        reason = "".join(process.stderr.strip().splitlines()[-1:])
        raise CannotRunError(
            f"{python} has no triton-fleet to compare: {reason}",
            "name a version, or the Python of an environment that has one installed",
        )
    record = json.loads(process.stdout)
    return Installation(
        python=python,
        version=record["version"],
        packages={name: Path(file).resolve() for name, file in record["packages"].items()},
        context=json.loads(record["cdk"]).get("context", {}),
        folders=tuple(folders),
    )


def require_distinct(own: Installation, second: Installation) -> None:
    """Refuse two Pythons that import the same files.

    Raises:
        CannotRunError: they share a package, so its templates would be compared with themselves.
    """
    for name, file in second.packages.items():
        if file == own.packages[name]:
            raise CannotRunError(
                f"{second.python} imports {name} from {file.parent}, as {own.python} does: "
                "one version would be compared with itself",
                "name the Python of an environment that has another version installed",
            )


OWN_PYTHON = Path(sys.executable)
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
        [str(OWN_PYTHON), "-P", "-m", "venv", "--clear", str(folder)],
        [str(python), "-P", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *BY_HASH]
        + [f"--requirement={name}" for name in requirements],
    ):
        variables = isolate(os.environ)
        process = subprocess.run(
            command, cwd=fleet, capture_output=True, text=True, check=False, env=variables
        )
        if process.returncode:
            reason = (process.stderr or process.stdout).strip().splitlines()[-1:]
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
        with ZipFile(file) as wheel:
            lock = wheel.read("triton_fleet/sources/requirements.txt").decode()
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
            replace_file(fleet / path, content)
        lines = "\n".join(wheels.lines(DEPLOY_EXTRA))
        replace_file(fleet / REQUIREMENTS, f"{lines}\n{lock}")
        return install(folder, fleet, REQUIREMENTS)


def settings(root: Path) -> Mapping[str, Any]:
    """The CDK context that the cdk.json of a fleet sets; nothing without the file.

    Raises:
        CannotRunError: it is not a JSON object.
    """
    file = root / "cdk.json"
    try:
        document = json.loads(file.read_text("utf-8")) if file.is_file() else {}
        if not isinstance(document, dict):
            raise ValueError("it is another JSON value")
    except ValueError as error:
        raise CannotRunError(
            f"{file} is not a JSON object: {error}", "correct or restore the file"
        ) from error
    context: Mapping[str, Any] = document.get("context") or {}
    return context


def upgraded_context(
    context: Mapping[str, Any], installation: Installation, newer: Installation
) -> dict[str, Any]:
    """The CDK context after an upgrade: what the other version ships, and the keys that the owner added."""
    own = {key: value for key, value in context.items() if key not in installation.context}
    return {**own, **newer.context}


def project_templates(
    version: Installation, project: Project, endpoints: Iterable[str]
) -> Mapping[str, Mapping[str, Any]]:
    """The templates of some endpoints of an environment by their names, and that of what they share under "".

    Raises:
        CannotRunError: the app failed, with what it reported, or its version makes other stacks.
    """
    deployment, names = project.deployment, list(endpoints)
    selection = {"endpoints": ",".join(names)} if names else {"foundation": "only"}
    templates = synthesise(
        version, project.root, deployment.environment, {**settings(project.root), **selection}
    )
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
        process = subprocess.run(
            app_command(python, root),
            cwd=root,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        if process.returncode:
            if python == OWN_PYTHON:
                require_extra(DEPLOY)
            problem = f"{python} cannot synthesise {environment}:\n{process.stderr.strip()}"
            raise CannotRunError(problem, f"see what it finds: fleet check --env {environment}")
        files = sorted(Path(output).glob(f"*{_SUFFIX}"))
        return {file.name.removesuffix(_SUFFIX): json.loads(file.read_text("utf-8")) for file in files}
