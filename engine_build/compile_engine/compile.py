"""One engine, from what is there to the manifest; each step leaves nothing that reads as done and is not."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from engine_request.bucket import Bucket, TakenError
from engine_request.deadline import Deadline
from engine_request.file_digest import file_digest
from engine_request.host import job_folder, now
from engine_request.outcome import Client
from engine_request.problems import REFUSED, BuildError
from engine_request.process import run
from engine_request.request import Request

from .gpu import require_gpu
from .manifest import manifest
from .measured import measured
from .onnx_model import download
from .reasons import build_error, load_error
from .tensorrt import TensorRT, require_tensorrt
from .trtexec import build_command, load_command
from .upload import upload_plan


def compile_engine(request: Request, bucket: Bucket, client: Client) -> None:
    """Build the engine, unless it is there.

    Raises:
        BuildError: there is no engine, and why.
        ClientError, BotoCoreError: S3 refused something.
    """
    deadline, started = Deadline(request.seconds), now()
    if bucket.head(request.manifest) is not None:
        print(f"{bucket.url(request.plan)} is there already: nothing to do.")
        return
    gpu = require_gpu(request)
    print(f"{gpu.name}, compute capability {gpu.compute_capability}, {gpu.memory}, driver {gpu.driver}")
    tensorrt = require_tensorrt()
    print(f"TensorRT {tensorrt.version}: {tensorrt.trtexec}")
    with _folder() as folder:
        plan, seconds = folder / "model.plan", None
        if bucket.head(request.plan) is None:
            seconds = _build(request, bucket, tensorrt, deadline, plan)
            figures, digest = _load_back(request, tensorrt, deadline, plan), file_digest(plan)
            try:
                upload_plan(bucket, request.plan, plan, digest)
            except TakenError:
                print("Another build has put its plan there first: that one counts.")
                seconds = None
        if seconds is None:
            digest = _fetch(request, bucket, plan)
            remedy = f"delete {bucket.url(request.plan)}, and publish again"
            figures = _load_back(request, tensorrt, deadline, plan, remedy)
        document = manifest(
            request,
            gpu,
            tensorrt,
            plan_digest=digest,
            plan_size=plan.stat().st_size,
            started=started,
            build_seconds=seconds,
            figures=figures,
        )
    try:
        bucket.write(request.manifest, json.dumps(document, indent=2).encode(), only_if_new=True)
    except TakenError:
        print("Another build has said so first.")
    print(f"{bucket.url(request.plan)} is built: {document['plan']['size']} bytes.")


def _build(request: Request, bucket: Bucket, tensorrt: TensorRT, deadline: Deadline, plan: Path) -> float:
    """Compile the plan into a file; the seconds that trtexec took."""
    onnx, cache = plan.with_name("model.onnx"), plan.with_name("timing.cache")
    print(f"{bucket.url(request.onnx)}: {request.onnx_size} bytes")
    download(bucket, request, onnx)
    kept = bucket.read(request.timing_cache)
    if kept is not None:
        cache.write_bytes(kept)
    begun = time.monotonic()
    command = build_command(tensorrt, request.arguments, onnx=onnx, plan=plan, timing_cache=cache)
    ended = run(command, deadline)
    seconds = time.monotonic() - begun
    if ended.exit_code or not plan.is_file():
        raise build_error(ended)
    if cache.is_file():
        _keep_timings(request, bucket, cache)
    return round(seconds, 1)


def _keep_timings(request: Request, bucket: Bucket, cache: Path) -> None:
    """They make the next build faster; the plan does not wait for them."""
    try:
        bucket.write(request.timing_cache, cache.read_bytes())
    except (ClientError, BotoCoreError) as error:
        print(f"no timing cache is kept, the next build will take its full time: {error}", file=sys.stderr)


def _load_back(
    request: Request, tensorrt: TensorRT, deadline: Deadline, plan: Path, remedy: str = ""
) -> dict[str, float]:
    ended = run(load_command(tensorrt, request.arguments, plan=plan), deadline)
    if ended.exit_code:
        raise load_error(ended, remedy)
    return measured(ended.lines)


def _fetch(request: Request, bucket: Bucket, plan: Path) -> str:
    """The plan of a build that was first, or ended before it could write the manifest; its digest."""
    print(f"{bucket.url(request.plan)} is there without a manifest: looking whether it is good.")
    metadata = bucket.head(request.plan) or {}
    bucket.download(request.plan, plan)
    digest = file_digest(plan)
    if metadata.get("digest") != digest:
        raise BuildError(
            REFUSED,
            f"{bucket.url(request.plan)} is not what was uploaded there",
            remedy="delete it, and publish again",
        )
    return digest


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder for models and plans: on the volume of a job, where its script lies, else in TMPDIR."""
    beside = Path(sys.argv[0]).resolve().parent if job_folder() is not None else None
    with tempfile.TemporaryDirectory(
        prefix="engine-", dir=beside if beside is not None and os.access(beside, os.W_OK) else None
    ) as folder:
        yield Path(folder)
