"""The engines that archives need, and which of them the bucket lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triton_fleet.builds.engines.artifacts import MANIFEST, PLAN, PLANS, built_key
from triton_fleet.endpoint.endpoint_parts import ResolvedEngine
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.store.archive_requirements import ArchiveRequirement, Content
from triton_fleet.store.content_store import ObjectListing, list_objects

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


@dataclass(frozen=True)
class EngineUse:
    """An engine of one endpoint."""

    endpoint: ResolvedEndpoint
    engine: ResolvedEngine

    @property
    def name(self) -> str:
        """Endpoint and model, for progress and findings."""
        return f"{self.endpoint.name}/{self.engine.model}"


@dataclass(frozen=True)
class WantedEngine:
    """One engine, and all uses of it: equal models on equal GPUs share it."""

    key: str
    uses: tuple[EngineUse, ...]

    @property
    def first(self) -> EngineUse:
        """The use for which it is built."""
        return self.uses[0]


@dataclass(frozen=True, kw_only=True)
class StoredPlan:
    """A plan in the bucket: its key, its size in bytes, and the digest of its content."""

    key: str
    size: int
    etag: str


def engines_in(requirement: ArchiveRequirement) -> list[ResolvedEngine]:
    """The engines that an archive is packed with."""
    index = requirement.artifact.source.index
    return [engine for engine in requirement.endpoint.engines if engine.index == index]


def engines_of(contents: Iterable[Content]) -> list[WantedEngine]:
    """The engines of these contents, each once."""
    return _by_key(
        EngineUse(requirement.endpoint, engine)
        for content in contents
        for requirement in content.requirements
        for engine in engines_in(requirement)
    )


def size_with_plans(content: Content, plans: Mapping[str, StoredPlan]) -> int:
    """Bytes of a content's tar stream with its plans, which are all in `plans`, without their headers."""
    return content.size + sum(plans[engine.build.key].size for engine in engines_in(content.requirements[0]))


def all_engines(endpoints: Iterable[ResolvedEndpoint]) -> list[WantedEngine]:
    """The engines of these endpoints, each once, whether or not an archive still needs them."""
    return _by_key(EngineUse(endpoint, engine) for endpoint in endpoints for engine in endpoint.engines)


def stored_plans(s3: S3Client, bucket: str, engines: Iterable[WantedEngine]) -> Mapping[str, StoredPlan]:
    """The engines that the bucket has, by key; from one listing."""
    requests = list(engines)
    if not requests:
        return {}
    stored_objects = list_objects(s3, bucket, PLANS)
    plans = {engine.key: _find_plan(stored_objects, engine.key) for engine in requests}
    return {key: plan for key, plan in plans.items() if plan is not None}


def stored_plan(s3: S3Client, bucket: str, key: str) -> StoredPlan | None:
    """The plan of one engine; None if the bucket lacks it."""
    return _find_plan(list_objects(s3, bucket, built_key(key, "")), key)


def _by_key(uses: Iterable[EngineUse]) -> list[WantedEngine]:
    """Each engine with its uses, of which archives and copies may repeat one."""
    uses_by_key: dict[str, list[EngineUse]] = {}
    for use in uses:
        if use not in uses_by_key.setdefault(use.engine.build.key, []):
            uses_by_key[use.engine.build.key].append(use)
    return [WantedEngine(key, tuple(engine_uses)) for key, engine_uses in uses_by_key.items()]


def _find_plan(stored_objects: Mapping[str, ObjectListing], key: str) -> StoredPlan | None:
    """Whether the manifest exists: it is written last, so the plan is complete."""
    plan, manifest = (built_key(key, name) for name in (PLAN, MANIFEST))
    if plan not in stored_objects or manifest not in stored_objects:
        return None
    return StoredPlan(key=plan, size=stored_objects[plan].size, etag=stored_objects[plan].etag)
