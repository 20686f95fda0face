"""Which models are in memory at one time, and what their weights take on a GPU."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from triton_fleet.catalog.variables import Weights, weights_of_instances
from triton_fleet.context.models import ModelsContext, PlacedModel
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.lock import InstanceGroup, LockedModel


def resident_models(context: ModelsContext) -> list[list[PlacedModel]]:
    """Models that are certain to be in memory together: for a multi-model endpoint, those of one archive."""
    if context.container.mode is not Mode.MULTI_MODEL:
        return [list(context.models)]
    by_archive = defaultdict[str, list[PlacedModel]](list)
    for model in context.models:
        by_archive[model.archive].append(model)
    return list(by_archive.values())


def instances_on_gpu(facts: LockedModel, number: int) -> int:
    """Instances of a model on the GPU of a number; of KIND_MODEL, which its backend places, one at most."""
    groups = [group for group in facts.instances or (InstanceGroup(),) if group.kind != "KIND_CPU"]
    here = [group for group in groups if not group.gpus or number in group.gpus]
    return sum(1 if group.kind == "KIND_MODEL" else group.count for group in here)


def weights_on_gpu(facts: LockedModel, number: int, own: Collection[Weights]) -> int:
    """Bytes of a model's weights on a GPU, counted for each instance where its backend is one of `own`.

    The files of a backend of which nothing is known count once.
    """
    count = instances_on_gpu(facts, number)
    return facts.size * (count if weights_of_instances().get(facts.backend) in own else min(count, 1))
