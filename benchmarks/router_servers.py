"""The servers that the benchmark of the router asks: a shared container, and the reference beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
from router_bodies import CODE, CONFIG, MODEL
from urllib3 import PoolManager
from urllib3.exceptions import HTTPError

from triton_fleet.core.folders import source_path
from triton_fleet.local.triton.runtime import TritonRuntime

PORT, REFERENCE_PORT, TRITON_PORT, GRPC_PORT = 8080, 8081, 23000, 23001
SECONDS_TO_START = 60
ROUTES = {"routes": {MODEL: {"model": MODEL, "versions": ["1"]}}}
_NGINX = """\
worker_processes 1;
daemon off;
pid FOLDER/nginx.pid;
error_log stderr;
events {}
http {
    client_body_temp_path FOLDER/body;
    proxy_temp_path FOLDER/proxy;
    fastcgi_temp_path FOLDER/fastcgi;
    uwsgi_temp_path FOLDER/uwsgi;
    scgi_temp_path FOLDER/scgi;
    access_log FOLDER/access.log combined;
    upstream gunicorn { server unix:FOLDER/gunicorn.sock; }
    server {
        listen PORT deferred;
        client_max_body_size 5m;
        keepalive_timeout 5;
        proxy_read_timeout 1200s;
        location ~ ^/(ping|invocations) {
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header Host $http_host;
            proxy_redirect off;
            proxy_pass http://gunicorn;
        }
        location / { return 404 "{}"; }
    }
}
"""
"""The directives of the post's nginx.conf."""


@contextmanager
def container(folder: Path, runtime: TritonRuntime) -> Iterator[psutil.Process]:
    """The container's program with one model; the process of nginx."""
    model = folder / "repository" / MODEL
    (model / "1").mkdir(parents=True)
    (model / "1/model.py").write_text(CODE)
    (model / "config.pbtxt").write_text(CONFIG)
    command = [
        *(sys.executable, "-m", "shared_container", "serve"),
        f"--tritonserver={runtime.binary}",
        f"--model-repository={folder / 'repository'}",
        f"--folder={folder / 'run'}",
        f"--triton-option=--backend-directory={runtime.backend_directory}",
        f"--triton-option=--cache-directory={runtime.cache_directory}",
        *(f"--triton-option={each}" for each in ("--allow-grpc=true", f"--grpc-port={GRPC_PORT}")),
    ]
    variables = {
        **runtime.environment(),
        "PYTHONPATH": str(source_path("containers/shared")),
        "SAGEMAKER_BIND_TO_PORT": str(PORT),
        "SAGEMAKER_SAFE_PORT_RANGE": f"{TRITON_PORT}-{TRITON_PORT}",
        "TRITON_FLEET_ROUTES": json.dumps(ROUTES),
    }
    with _process(command, variables, folder, "container.log") as process:
        _wait(PORT, process, folder / "container.log")
        children = psutil.Process(process.pid).children()
        yield next(child for child in children if child.name() == "nginx")


@contextmanager
def reference(folder: Path, nginx: str) -> Iterator[None]:
    """The reference, which asks the Triton of the container."""
    config = folder / "nginx.conf"
    config.write_text(_NGINX.replace("FOLDER", str(folder)).replace("PORT", str(REFERENCE_PORT)))
    gunicorn = [
        *(sys.executable, "-m", "gunicorn", "router_reference:app", f"--chdir={Path(__file__).parent}"),
        *("--worker-class=gevent", f"--workers={len(os.sched_getaffinity(0))}", "--timeout=60"),
        f"--bind=unix:{folder / 'gunicorn.sock'}",
    ]
    variables = {"TRITON": f"127.0.0.1:{TRITON_PORT}", "TRITON_GRPC": f"127.0.0.1:{GRPC_PORT}"}
    front = [nginx, "-p", str(folder), "-e", "stderr", "-c", str(config)]
    with (
        _process(gunicorn, variables, folder, "gunicorn.log"),
        _process(front, {}, folder, "nginx.log") as process,
    ):
        _wait(REFERENCE_PORT, process, folder / "nginx.log")
        yield


@contextmanager
def _process(
    command: Sequence[str], variables: Mapping[str, str], folder: Path, log: str
) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / log).open("wb") as output:
        process = subprocess.Popen(
            command, env={**os.environ, **variables}, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when /ping answers 200."""
    pool, end = PoolManager(retries=False), time.monotonic() + SECONDS_TO_START
    while True:
        try:
            if pool.request("GET", f"http://127.0.0.1:{port}/ping").status == 200:
                return
        except HTTPError:
            pass
        if process.poll() is not None or time.monotonic() > end:
            raise AssertionError(log.read_text()[-4000:])
        time.sleep(0.05)
