"""The container's start: the model that its start script loads, and the Triton command that it makes.

Source: docker/sagemaker/serve of triton-inference-server/server, r25.04; the errors are in its words.
Where this machine must decide for itself (addresses, folders of the installation) its options come last,
so that they win.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from fleet_emulator.hosting import HostingError
from triton_fleet.catalog.variables import safe_ports, variables, variables_of
from triton_fleet.context.variables import Listener, is_moved_by_image, listeners, publishes_metrics
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.shared_container import (
    is_shared,
    program_environment,
    published_namespace,
    shared_command,
    tritons_options,
)
from triton_fleet.repository.model_config import CONFIG

DEFAULT_MODEL = "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"
INFERENCE_TYPE = "SAGEMAKER_TRITON_INFERENCE_TYPE"
MULTI_MODEL = "SAGEMAKER_MULTI_MODEL"
INFERENCE_TYPES = ("infer", "generate", "generate_stream")


def is_multi_model(environment: Mapping[str, str]) -> bool:
    """Whether models are loaded later, one repository each; the script compares with the lower-case word."""
    return environment.get(MULTI_MODEL) == "true"


def default_model(repository: Path, environment: Mapping[str, str]) -> str:
    """The directory that single-model mode loads and that /invocations asks.

    Raises:
        HostingError: the container would not start with this repository and environment.
    """
    if (repository / CONFIG).is_file():
        raise HostingError(
            "Incorrect directory structure. Model directory needs to contain the top level folder"
            " (config.pbtxt is at the root of the archive)"
        )
    inference_type = environment.get(INFERENCE_TYPE)
    if inference_type and inference_type not in INFERENCE_TYPES:
        choices = ", ".join(INFERENCE_TYPES)
        raise HostingError(f"Invalid {INFERENCE_TYPE} '{inference_type}'. Must be one of: {choices}")
    if name := environment.get(DEFAULT_MODEL):
        if not (repository / name).is_dir():
            raise HostingError(f"Directory with provided {DEFAULT_MODEL} {name} does not exist")
        return name
    return _only_directory(repository)


def _only_directory(repository: Path) -> str:
    # `find -type d`, as the script does it: hidden directories count, links to directories do not.
    paths = repository.iterdir() if repository.is_dir() else ()
    names = sorted(path.name for path in paths if path.is_dir() and not path.is_symlink())
    if not names:
        raise HostingError("No model found in model repository")
    if len(names) > 1:
        raise HostingError(
            "More than 1 model directory found in model repository. Either provide a single directory or set"
            f" {DEFAULT_MODEL} to run the ensemble backend."
            f" Directories found in model repository: {' '.join(names)}"
        )
    return names[0]


SAGEMAKER_PORT = 8080
"""Where /ping and /invocations answer."""
SAFE_PORTS = f"{safe_ports()[0]}-{safe_ports()[-1]}"
_UNSUPPORTED_VARIABLES = {
    "SAGEMAKER_BIND_TO_PORT": f"{SAGEMAKER_PORT} is used, as SageMaker sets it",
    "SAGEMAKER_SAFE_PORT_RANGE": f"{SAFE_PORTS} is passed on, as SageMaker sets it",
    "SAGEMAKER_TRITON_MODEL_LOAD_GPU_LIMIT": "there is no GPU",
}
_PING_MODE = "SAGEMAKER_TRITON_PING_MODE"
EVERYWHERE = "0.0.0.0"  # noqa: S104 - of a network of its own; the address at which Triton checks ports


def start_command(
    runtime: TritonRuntime,
    repository: Path,
    environment: Mapping[str, str],
    *,
    shm_prefix: str,
) -> list[str]:
    """The command line of the server, which has a network for itself: its ports are those of the container.

    Args:
        runtime: The Triton of this machine.
        repository: The model repository, staged for this machine; in multi-model mode an empty folder.
        environment: The variables of the deployed Model.
        shm_prefix: How the names of this server's shared memory regions begin.

    Raises:
        HostingError: the container would not start, or not do here what it does there.
    """
    values = dict(environment)
    if is_shared(environment):
        return shared_command(runtime, repository, shm_prefix)
    if not is_multi_model(environment):
        values[DEFAULT_MODEL] = default_model(repository, environment)
    inference_type = environment.get(INFERENCE_TYPE) or "infer"
    if inference_type != "infer" and runtime.release < "25.03":
        raise HostingError(
            f"{INFERENCE_TYPE}={inference_type} needs Triton 25.03; this machine has {runtime.release}"
        )
    return [
        str(runtime.binary),
        "--allow-sagemaker=true",
        "--allow-http=false",
        "--model-control-mode=explicit",
        f"--model-repository={repository}",
        # The script leaves its line unquoted, so white space in any value begins a new option.
        *_options(values).split(),
        f"--sagemaker-port={SAGEMAKER_PORT}",
        f"--sagemaker-safe-port-range={SAFE_PORTS}",
        *_service_options(environment),
        f"--backend-directory={runtime.backend_directory}",
        f"--cache-directory={runtime.cache_directory}",
        f"--backend-config=python,shm-region-prefix-name={shm_prefix}",
    ]


def _options(environment: Mapping[str, str]) -> str:
    mode = "multi-model" if is_multi_model(environment) else "single"
    options = (
        variable
        for variable in variables().values()
        if variable.option is not None
        and mode in variable.modes
        and variable.name not in _UNSUPPORTED_VARIABLES
    )
    return " ".join(
        f"{variable.option}{value}"
        for variable in options
        if (value := environment.get(variable.name) or variable.default) is not None
    )


def _service_options(environment: Mapping[str, str]) -> Iterator[str]:
    """Address and port of each service that is allowed.

    Triton checks ports at the address of /invocations alone: every service has that address to be refused.
    """
    for listener in listeners(_options(environment).split()):
        yield f"--{listener.service.flag}-address={EVERYWHERE}"
        yield f"{listener.service.port_flag}={_port(listener, environment)}"


def service_ports(environment: Mapping[str, str]) -> dict[str, int]:
    """Where each service that is allowed answers, by its name; without those whose port is not a number."""
    options = tritons_options(environment) if is_shared(environment) else _options(environment).split()
    ports = {
        listener.service.name: replace(listener, port=_port(listener, environment)).number
        for listener in listeners(options)
    }
    return {name: number for name, number in ports.items() if number is not None}


def _port(listener: Listener, environment: Mapping[str, str]) -> str:
    """As it is given; for a blocked one of which AWS's image takes a free port, the first of the range."""
    if listener.is_safe or not is_moved_by_image(listener, environment):
        return listener.port
    ports = {listener.number for listener in listeners(_options(environment).split())}
    return str(next(port for port in safe_ports() if port not in ports))


def server_environment(
    runtime: TritonRuntime, repository: Path, environment: Mapping[str, str]
) -> dict[str, str]:
    """The variables of the server process: the Model's, and what the programs need on this machine."""
    process = {key: os.environ[key] for key in ("HOME", "LANG", "TMPDIR") if key in os.environ}
    process |= environment
    if is_shared(environment):
        return process | runtime.environment() | program_environment()
    multi = is_multi_model(environment)
    if not multi:
        process[DEFAULT_MODEL] = default_model(repository, environment)
    # The script assigns the ping mode but never exports it: only a variable that existed before is changed.
    if _PING_MODE in environment:
        usual = "live" if multi else "ready"
        process[_PING_MODE] = environment.get("SAGEMAKER_TRITON_OVERRIDE_PING_MODE") or usual
    return process | runtime.environment()


def metrics_namespace(environment: Mapping[str, str]) -> str:
    """The CloudWatch namespace that Triton's metrics are published under; empty where they are not."""
    if is_shared(environment):
        return published_namespace(environment)
    values = (environment.get(name) for name in variables_of("namespace"))
    return next(filter(None, values), "") if publishes_metrics(environment) else ""


def departures(environment: Mapping[str, str]) -> list[str]:
    """One line for each variable of the Model that is not followed on this machine."""
    return [
        f"{variable}={environment[variable]}: {instead}"
        for variable, instead in _UNSUPPORTED_VARIABLES.items()
        if environment.get(variable)
    ]
