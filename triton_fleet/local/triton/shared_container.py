"""A shared container on this machine: its own program, with this machine's nginx and Triton."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from triton_fleet.context.shared_container import NAMESPACE, OPTIONS, ROUTES, joined_value
from triton_fleet.core.folders import source_path
from triton_fleet.core.formats import plain_line

if TYPE_CHECKING:
    from triton_fleet.local.triton.runtime import TritonRuntime

PROGRAM, TRITON = "shared_container", "tritonserver"
NGINX, MODULE = "nginx", "ngx_http_js_module.so"
MODULES = (
    "/usr/lib/nginx/modules",
    "/etc/nginx/modules",
    "/usr/lib64/nginx/modules",
    "/usr/share/nginx/modules",
)
"""Where nginx's packages put its modules; the program looks there as well."""


def is_shared(environment: Mapping[str, str]) -> bool:
    """Whether a Model's variables are those of a shared container."""
    return ROUTES in environment


def missing_program() -> str | None:
    """Programs of a shared container that this machine lacks; None where it has all."""
    if shutil.which(NGINX) is None and not Path("/usr/sbin", NGINX).is_file():
        return NGINX
    return None if any(Path(folder, MODULE).is_file() for folder in MODULES) else MODULE


def shared_command(runtime: TritonRuntime, repository: Path, shm_prefix: str) -> list[str]:
    """The command line of the container's program; the variables of the Model decide the rest.

    Args:
        runtime: The Triton of this machine.
        repository: The model repository, staged for this machine; nginx has a folder beside it.
        shm_prefix: How the names of Triton's shared memory regions begin.
    """
    options = (
        f"--backend-directory={runtime.backend_directory}",
        f"--cache-directory={runtime.cache_directory}",
        f"--backend-config=python,shm-region-prefix-name={shm_prefix}",
    )
    return [
        sys.executable,
        "-P",
        "-m",
        PROGRAM,
        "serve",
        f"--tritonserver={runtime.binary}",
        f"--model-repository={repository}",
        f"--folder={repository.parent / 'router'}",
        *(f"--triton-option={option}" for option in options),
    ]


def program_environment() -> dict[str, str]:
    """The variable by which Python finds the program."""
    return {"PYTHONPATH": str(source_path("containers/shared"))}


def tritons_options(environment: Mapping[str, str]) -> list[str]:
    """The options of tritonserver that a Model's variables have."""
    return list(json.loads(joined_value(environment, OPTIONS) or "[]"))


def published_namespace(environment: Mapping[str, str]) -> str:
    """The CloudWatch namespace of the metrics that the container prints; empty where it prints none."""
    return environment.get(NAMESPACE, "")


def tritons_pid(program: int) -> int:
    """The process of tritonserver below that of the program; the program's where it has none."""
    import psutil  # a deploy to an account loads this module, without the extra that brings it

    try:
        children = psutil.Process(program).children()
        return next((child.pid for child in children if child.name() == TRITON), program)
    except psutil.Error:
        return program


def tritons_lines(log: str) -> str:
    """A log in which the lines of Triton have the form that Triton gives them."""
    return "\n".join(map(plain_line, log.splitlines()))
