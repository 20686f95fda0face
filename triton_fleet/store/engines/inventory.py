"""The engines in a bucket, from the manifests of their builds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from triton_fleet.builds.engines.artifacts import MANIFEST, PLANS
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.fleet_files import load_locks
from triton_fleet.store.content_store import list_objects

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

MAX_PARALLEL_READS = 16


class _Gpu(BaseModel):
    name: str
    compute_capability: str


class _Plan(BaseModel):
    digest: str
    size: int


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="ignore")

    key: str
    model: str
    image: str
    tensorrt: str
    gpu: _Gpu
    plan: _Plan
    ended: AwareDatetime


@dataclass(frozen=True, kw_only=True)
class HeldEngine:
    """One engine.

    Attributes:
        key: Its key.
        model: The model that it was built for first.
        gpu: The GPU that built it, by nvidia-smi's name.
        compute_capability: The GPU's.
        tensorrt: The version that built it, `10.9.0.34`.
        image: The container image in which it was built.
        size: Bytes of the plan.
        built: The time in UTC: `2026-07-06T08:00:00+00:00`.
        needed_by: `ENDPOINT/MODEL` of all locks of the environment that use it.
    """

    key: str
    model: str
    gpu: str
    compute_capability: str
    tensorrt: str
    image: str
    size: int
    built: str
    needed_by: tuple[str, ...]


def held_engines(s3: S3Client, bucket: str, locks: Path) -> list[HeldEngine]:
    """The engines of a bucket, the newest last; `locks` is the folder of the environment's locks.

    Raises:
        FindingsError: a lock or a manifest cannot be read.
        ClientError: access is denied.
    """
    plans_by_key = _plans_by_key(locks)
    keys = [key for key in list_objects(s3, bucket, PLANS) if key.endswith(f"/{MANIFEST}")]
    manifests = all_in_parallel(keys, lambda key: _manifest(s3, bucket, key), MAX_PARALLEL_READS)
    engines = (
        HeldEngine(
            key=manifest.key,
            model=manifest.model,
            gpu=manifest.gpu.name,
            compute_capability=manifest.gpu.compute_capability,
            tensorrt=manifest.tensorrt,
            image=manifest.image,
            size=manifest.plan.size,
            built=manifest.ended.astimezone(UTC).isoformat(timespec="seconds"),
            needed_by=plans_by_key.get(manifest.key, ()),
        )
        for manifest in manifests
    )
    return sorted(engines, key=lambda manifest: (manifest.built, manifest.key))


def _plans_by_key(locks: Path) -> Mapping[str, tuple[str, ...]]:
    plans = defaultdict[str, dict[str, None]](dict)
    for lock in load_locks(locks):
        for archive in lock.archives.values():
            for model, engine in archive.engines.items():
                plans[engine.key][f"{lock.endpoint}/{model}"] = None
    return {key: tuple(names) for key, names in plans.items()}


def _manifest(s3: S3Client, bucket: str, key: str) -> _Manifest:
    try:
        return _Manifest.model_validate_json(s3.get_object(Bucket=bucket, Key=key)["Body"].read())
    except ValidationError as error:
        message = f"s3://{bucket}/{key} is not a valid manifest of an engine: {error.errors()[0]['msg']}"
        hint = "delete it: the engine is built again when it is needed"
        raise FindingsError([Finding(code="FL382", message=message, hint=hint)]) from error
