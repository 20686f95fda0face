"""Stores the engine that a container has left in the bucket, if it is the one of the request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine_request.bucket import Bucket, TakenError
from engine_request.files import PLAN, RECORD, file_digest
from engine_request.host import builder, timestamp
from engine_request.problems import REFUSAL, BuildError
from engine_request.request import EngineRequest
from engine_request.run import Client

from .record import MAX_RECORD_BYTES, Record
from .upload import upload_plan


def store_folder(request: EngineRequest, bucket: Bucket, client: Client, *, folder: str) -> None:
    """Store the output of `compile` in a folder.

    Raises:
        BuildError: it is not the request's engine.
        ClientError, BotoCoreError: S3 refused something.
    """
    store_engine(request, bucket, Path(folder), by=builder())


def store_engine(request: EngineRequest, bucket: Bucket, folder: Path, *, by: str) -> None:
    """Write the plan, then the manifest, each only if there is none; `by` names its builder.

    Raises:
        BuildError: the files are not an engine of this request.
        ClientError, BotoCoreError: S3 refused something.
    """
    plan, file = folder / PLAN, folder / RECORD
    for output in (plan, file):
        if output.is_symlink() or not output.is_file():
            raise BuildError(REFUSAL, f"the build left no {output.name}")
    if file.stat().st_size > MAX_RECORD_BYTES:
        raise BuildError(REFUSAL, f"{RECORD} has more than {MAX_RECORD_BYTES} bytes")
    record = Record.of(file.read_bytes(), request)
    if (record.digest, record.size) != (file_digest(plan), plan.stat().st_size):
        raise BuildError(REFUSAL, "the plan is not the one of its record")
    document = _manifest(request, record, by)
    try:
        upload_plan(bucket, request.plan, plan, record.digest)
    except TakenError:
        print("Another build stored its plan first: that plan is kept.")
        first = bucket.head(request.plan)
        if first is None or not first.digest:
            raise BuildError(
                REFUSAL,
                f"{bucket.url(request.plan)} has no digest in its metadata, so no build wrote it",
                remedy="delete it, and publish again",
            ) from None
        plan_of_first = {"digest": first.digest, "size": first.size}
        document |= {"plan": plan_of_first, "build_seconds": None, "figures": {}}
    try:
        bucket.write(request.manifest, json.dumps(document, indent=2).encode(), only_if_new=True)
    except TakenError:
        print("Another build wrote the manifest first: that manifest is kept.")
    print(f"{bucket.url(request.plan)} has {document['plan']['size']} bytes.")


def _manifest(request: EngineRequest, record: Record, by: str) -> dict[str, Any]:
    """The content of manifest.json: the request, and the record of the container."""
    return {
        "key": request.key,
        "model": request.model,
        "onnx": {"digest": request.onnx_digest, "size": request.onnx_size},
        "arguments": list(request.arguments),
        "image": request.image,
        "tensorrt": record.tensorrt,
        "gpu": record.gpu,
        "plan": {"digest": record.digest, "size": record.size},
        "build_seconds": record.build_seconds,
        "figures": record.figures,
        "script": request.script_digest,
        "by": by,
        "started": record.start,
        "ended": timestamp(),
    }
