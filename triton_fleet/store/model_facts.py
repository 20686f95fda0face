"""The facts of a repository's models for its lock."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from triton_fleet.repository.backends import FILES, backend_of, platform_of
from triton_fleet.repository.contents import Contents, EntryKind
from triton_fleet.repository.copies import copied_name
from triton_fleet.repository.entry_path import is_version
from triton_fleet.repository.model_config import (
    CONFIG,
    item_bytes,
    loaded_versions,
    model_config,
    within_bounds,
)
from triton_fleet.repository.plan import plan_version
from triton_fleet.repository.reading.file_store import PLAN, kind_of
from triton_fleet.spec.lock import InstanceGroup, LockedModel

FIRST = ("1",)
"""The version of a plan that is not built yet."""
ROOT_MODEL = "model"
"""The name of a model whose files are at the root of its archive: SageMaker's name for its folder."""


def model_facts(
    contents: Contents, models: Iterable[str], sizes: Mapping[str, int] | None = None
) -> dict[str, LockedModel]:
    """The facts of each of the models, by directory; none for a model whose config cannot be read.

    Version directories without files do not count.

    Args:
        contents: The repository.
        models: The directories; "" for the root, which is called "model".
        sizes: Bytes of files, by path, where they are packed with other line ends.
    """
    folders = defaultdict[str, dict[str, int]](dict)
    for path, entry in contents.entries.items():
        if entry.kind is EntryKind.FILE:
            size = (sizes or {}).get(path, entry.size)
            for model, below in (("", path), path.partition("/")[::2]):
                if "/" in below:
                    folder = below.partition("/")[0]
                    folders[model][folder] = folders[model].get(folder, 0) + size
    plans = [path for path in sorted(contents.texts) if kind_of(path) == PLAN]
    return {model or ROOT_MODEL: _facts(contents, model, folders[model], plans) for model in models}


def _facts(contents: Contents, model: str, sizes: Mapping[str, int], plans: Sequence[str]) -> LockedModel:
    path = contents.path(model, CONFIG)
    content = contents.texts.get(path, b"")
    if contents.is_file(path) and path not in contents.texts:  # too large
        return LockedModel()
    config = model_config(content)
    if config is None:
        return LockedModel(unreadable=within_bounds(content))
    first = contents.below(contents.path(model, min(sizes))) if sizes else {}
    versions = loaded_versions(config, [size for size in sizes if is_version(size)])
    steps = (step.model_name for step in config.ensemble_scheduling.step)
    return LockedModel(
        name=config.name if config.name != (model or ROOT_MODEL) else "",
        backend=backend_of(config, model or ROOT_MODEL, [name for name in FILES if name in first]),
        platform=platform_of(config),
        max_batch_size=max(config.max_batch_size, 0),
        instances=tuple(_instance_groups(config)),
        size=sum(sizes[version] for version in versions),
        decoupled=config.model_transaction_policy.decoupled,
        response_cache=config.response_cache.enable,
        steps=tuple(dict.fromkeys(steps)),
        versions=_served_versions(contents, model, config),
        item_bytes=item_bytes(config),
        plans=_plans(contents, model, versions, plans),
        by_compute_capability=dict(sorted(config.cc_model_filenames.items())),
    )


def _served_versions(contents: Contents, model: str, config: Any) -> tuple[str, ...]:
    """The versions that Triton loads, the newest last; without folders that of a plan to be built."""
    folders = [folder for folder in contents.folders(model) if is_version(folder)]
    return tuple(reversed(loaded_versions(config, folders))) if folders else FIRST


def _plans(contents: Contents, model: str, versions: Iterable[str], plans: Sequence[str]) -> dict[str, str]:
    """The TensorRT of each plan in a version that is loaded, by path in the model."""
    version_prefixes = tuple(f"{contents.path(model, version)}/" for version in versions)
    return {
        path[len(model) + 1 if model else 0 :]: plan_version(contents.texts[path])
        for path in plans
        if path.startswith(version_prefixes)
    }


def _instance_groups(config: Any) -> Iterator[InstanceGroup]:
    """The instance groups, without those of an unknown kind; one instance if there are none."""
    for group in config.instance_group:
        kind = type(group).DESCRIPTOR.enum_types_by_name["Kind"].values_by_number.get(group.kind)
        if kind is not None:
            gpus = tuple(dict.fromkeys(group.gpus))
            yield InstanceGroup(kind=kind.name, count=max(group.count, 1), gpus=gpus)


def renamed_facts(facts: LockedModel, copy: int) -> LockedModel:
    """The facts of a model with the names that it and its steps have in a copy."""
    steps = tuple(copied_name(step, copy) for step in facts.steps)
    name = copied_name(facts.name, copy) if facts.name else ""
    return facts.model_copy(update={"steps": steps, "name": name})
