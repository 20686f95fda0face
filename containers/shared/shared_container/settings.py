"""Settings of the container: variables of SageMaker and of the fleet, and options of the command line."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from .routes import Routes, SettingsError, joined_value, read_routes

OPTIONS = "TRITON_FLEET_OPTIONS"
LOOPBACK = "127.0.0.1"
JS_MODULE = "ngx_http_js_module.so"
JS_FOLDERS = (
    "/usr/lib/nginx/modules",
    "/etc/nginx/modules",
    "/usr/lib64/nginx/modules",
    "/usr/share/nginx/modules",
)
DEFAULT_SECONDS = 60
"""SageMaker's limit of one real-time invocation."""
MAX_HTTP_THREADS = 8
"""Triton's default. Where there are more threads than cores, each request needs one that sleeps."""


@dataclass(frozen=True)
class Places:
    """Programs and folders; the defaults are those of the image."""

    tritonserver: str = "/opt/tritonserver/bin/tritonserver"
    entrypoint: str = "/opt/nvidia/nvidia_entrypoint.sh"
    """Of the release's image; where it exists it starts Triton, as it finds driver and CUDA's libraries."""
    model_repository: str = "/opt/ml/model"
    nginx: str = "nginx"
    js_module: str | None = None
    folder: Path = Path("/tmp/shared-container")  # noqa: S108 - in the image nobody else has a /tmp

    def js_module_file(self) -> str:
        """The module njs of nginx.

        Raises:
            SettingsError: it is not installed in any usual place.
        """
        if self.js_module is not None:
            return self.js_module
        for folder in JS_FOLDERS:
            if (Path(folder) / JS_MODULE).is_file():
                return str(Path(folder) / JS_MODULE)
        raise SettingsError(
            f"{JS_MODULE} is in none of {', '.join(JS_FOLDERS)}: install njs, or pass --js-module"
        )

    def nginx_program(self) -> str:
        """The path of nginx.

        Raises:
            SettingsError: there is none.
        """
        program = shutil.which(self.nginx, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
        if program is None:
            raise SettingsError(f"{self.nginx} is not a program: install nginx, or pass --nginx")
        return program


@dataclass(frozen=True)
class Settings:
    """Everything that is decided before a process starts."""

    routes: Routes
    places: Places
    port: int
    triton_port: int
    metrics_port: int | None
    triton_options: tuple[str, ...]
    namespace: str | None = None
    logs_all_requests: bool = False
    seconds: int = DEFAULT_SECONDS
    """In which Triton has to answer one inference."""

    def triton_command(self) -> list[str]:
        """The command line of tritonserver; what the container decides comes last, so that it wins."""
        metrics = () if self.metrics_port is None else (f"--metrics-port={self.metrics_port}",)
        entrypoint = self.places.entrypoint
        return [
            *((entrypoint,) if Path(entrypoint).is_file() else ()),
            self.places.tritonserver,
            f"--model-repository={self.places.model_repository}",
            "--allow-grpc=false",
            "--allow-metrics=false",
            "--exit-timeout-secs=10",
            f"--http-thread-count={min(len(os.sched_getaffinity(0)), MAX_HTTP_THREADS)}",
            *self.triton_options,
            "--allow-http=true",
            f"--http-address={LOOPBACK}",
            f"--http-port={self.triton_port}",
            *metrics,
        ]


def read_settings(
    environment: Mapping[str, str],
    places: Places,
    *,
    triton_options: Sequence[str] = (),
    seconds: int = DEFAULT_SECONDS,
) -> Settings:
    """The settings of the container; `triton_options` follow those of the environment.

    Raises:
        SettingsError: a variable is missing or wrong, or no port is free for Triton.
    """
    options = (*_options(environment), *triton_options)
    port = _port(environment.get("SAGEMAKER_BIND_TO_PORT") or "8080", "SAGEMAKER_BIND_TO_PORT")
    first, last = _range(environment.get("SAGEMAKER_SAFE_PORT_RANGE") or "23000-23999")
    busy_ports = {port, *(number for name in _PORTS if (number := _number(options, name)) is not None)}
    triton_port = _free_port(first, last, busy_ports)
    metrics_port = None
    if _is_true(option_value(options, "--allow-metrics")):
        metrics_port = _number(options, "--metrics-port")
        if metrics_port is None:
            metrics_port = _free_port(first, last, busy_ports | {triton_port})
    access = environment.get("TRITON_FLEET_ACCESS_LOG") or "errors"
    if access not in ("errors", "all"):
        raise SettingsError(f"TRITON_FLEET_ACCESS_LOG is {access!r}: write errors or all")
    return Settings(
        routes=read_routes(environment),
        places=places,
        port=port,
        triton_port=triton_port,
        metrics_port=metrics_port,
        triton_options=options,
        namespace=environment.get("TRITON_FLEET_METRICS_NAMESPACE") or None,
        logs_all_requests=access == "all",
        seconds=seconds,
    )


_PORTS = ("--metrics-port", "--grpc-port", "--sagemaker-port", "--vertex-ai-port")


def option_value(options: Sequence[str], name: str) -> str | None:
    """The last value of an option, written as `--name=value` or as two words; None where it is not given."""
    value = None
    for index, option in enumerate(options):
        if option.startswith(f"{name}="):
            value = option.partition("=")[2]
        elif option == name and index + 1 < len(options):
            value = options[index + 1]
    return value


def _options(environment: Mapping[str, str]) -> list[str]:
    text = joined_value(environment, OPTIONS)
    if text is None:
        return []
    try:
        options = json.loads(text)
    except ValueError as error:
        raise SettingsError(f"{OPTIONS} is not JSON: {error}") from None
    if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
        raise SettingsError(f"{OPTIONS} is not a list of texts")
    return options


def _number(options: Sequence[str], name: str) -> int | None:
    value = option_value(options, name)
    return None if value is None else _port(value, name)


def _port(text: str, name: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 1 << 16:
        raise SettingsError(f"{name} is {text!r}, which is not a port")
    return int(text)


def _range(text: str) -> tuple[int, int]:
    name = "SAGEMAKER_SAFE_PORT_RANGE"
    first, _, last = text.partition("-")
    low, high = _port(first, name), _port(last, name)
    if low > high:
        raise SettingsError(f"{name} is {text!r}, which has no port")
    return low, high


def _is_true(value: str | None) -> bool:
    return value is not None and value.lower() in ("true", "1", "on")


def _free_port(first: int, last: int, busy_ports: set[int]) -> int:
    for port in range(first, last + 1):
        if port in busy_ports:
            continue
        with closing(socket.socket()) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
            return port
    raise SettingsError(f"no port of {first}-{last} is free for Triton")
