"""The facts of an archive's models for its lock, from what was kept of their files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fleet.repository.backends import FILES, backend_of, platform_of
from fleet.repository.kept_files import KeptFiles
from fleet.repository.model_config import item_bytes, loaded_versions, model_config, within_bounds
from fleet.repository.plan_header import plan_version
from fleet.repository.version_folders import is_version
from fleet.spec.lock import InstanceGroup, LockedModel

FIRST = ("1",)
"""The version of a plan that is not built yet."""


def model_facts(models: Iterable[str], kept: KeptFiles) -> dict[str, LockedModel]:
    """The facts of each of the models; none for a model whose config cannot be read.

    Version directories without files do not count.
    """
    sizes = defaultdict[str, dict[str, int]](dict)
    for path, size in kept.sizes.items():
        model, _, folder = path.partition("/")
        sizes[model][folder] = size
    plans = defaultdict[str, dict[str, bytes]](dict)
    for path, head in kept.plans.items():
        model, _, below = path.partition("/")
        plans[model][below] = head
    return {model: _facts(model, kept, sizes[model], plans[model]) for model in models}


def _served_versions(model: str, kept: KeptFiles, config: Any) -> tuple[str, ...]:
    """The versions that Triton loads, the newest last; without folders that of a plan to be built."""
    folders = [path.removeprefix(f"{model}/") for path in kept.folders if path.startswith(f"{model}/")]
    there = [each for each in folders if is_version(each)]
    return tuple(reversed(loaded_versions(config, there))) if there else FIRST


def _facts(model: str, kept: KeptFiles, sizes: Mapping[str, int], plans: Mapping[str, bytes]) -> LockedModel:
    content = kept.configs.get(model, b"")
    config = None if content is None else model_config(content)
    if content is None or config is None:
        return LockedModel(unreadable=content is not None and within_bounds(content))
    folder = min(sizes, default="")
    names = [name for name in FILES if f"{model}/{folder}/{name}" in kept.names]
    versions = loaded_versions(config, [each for each in sizes if is_version(each)])
    steps = (step.model_name for step in config.ensemble_scheduling.step)
    return LockedModel(
        name=config.name if config.name != model else "",
        backend=backend_of(config, model, names),
        platform=platform_of(config),
        max_batch_size=max(config.max_batch_size, 0),
        instances=tuple(_instance_groups(config)),
        size=sum(sizes[version] for version in versions),
        decoupled=config.model_transaction_policy.decoupled,
        response_cache=config.response_cache.enable,
        steps=tuple(dict.fromkeys(steps)),
        versions=_served_versions(model, kept, config),
        item_bytes=item_bytes(config),
        plans={
            path: plan_version(head) for path, head in sorted(plans.items()) if path.split("/")[0] in versions
        },
        by_compute_capability=dict(sorted(config.cc_model_filenames.items())),
    )


def _instance_groups(config: Any) -> Iterator[InstanceGroup]:
    """The instance groups, without those of an unknown kind; one instance if there are none."""
    for group in config.instance_group:
        kind = type(group).DESCRIPTOR.enum_types_by_name["Kind"].values_by_number.get(group.kind)
        if kind is not None:
            gpus = tuple(dict.fromkeys(group.gpus))
            yield InstanceGroup(kind=kind.name, count=max(group.count, 1), gpus=gpus)
