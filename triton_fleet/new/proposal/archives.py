"""The entries of `models`: an archive for each repository, with its engines."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.catalog.instances import Instance, Processor, instance, instance_types
from triton_fleet.context.context import EndpointContext
from triton_fleet.new.proposal.engines import ProposedEngine, proposed_engines
from triton_fleet.new.proposal.key import Key
from triton_fleet.new.proposal.repositories import FolderRepositories
from triton_fleet.spec.lock import LockedModel

NO_NAME = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, kw_only=True)
class Archives:
    """The archives by name, in the order of the repositories.

    Attributes:
        engines: Those of each repository.
        below: The spec's folder.
        root: The project.
    """

    found: FolderRepositories
    names: tuple[str, ...]
    engines: tuple[tuple[ProposedEngine, ...], ...]
    below: Path
    root: Path

    @property
    def plans(self) -> Mapping[tuple[str, str], int]:
        """By archive and model, bytes of the ONNX models whose plans do not exist yet."""
        by_archive = zip(self.names, self.engines, strict=True)
        return {(name, engine.model): engine.size for name, engines in by_archive for engine in engines}

    def key(self, endpoint: EndpointContext | None = None, machine: Instance | None = None) -> Key:
        """The entries; with what is known of the models, on which GPU their plans were built."""
        value, why = list[dict[str, object]](), dict[int, tuple[str, ...]]()
        for index, name in enumerate(self.names):
            repository = Path(os.path.relpath(self.found.repositories[index].place, self.below))
            entry: dict[str, object] = {"archive": name, "repository": repository.as_posix()}
            reasons = [
                *self._about_name(index),
                *(reason for each in self.engines[index] for reason in each.why),
            ]
            with_plans = _with_plans(endpoint, index)
            if machine is not None and _named_for(with_plans, machine):
                entry["built_on"] = machine.type
                reasons.append(
                    f"cc_model_filenames names the plans for compute capability {machine.compute_capability}:"
                    f" of SageMaker's GPUs, the {machine.gpu}. Another GPU with it may have built them."
                )
            elif with_plans:
                reasons.append(
                    "Undecided: no plan records the GPU that built it, and it loads on no other. Write that"
                    " instance type here, as `built_on`, and under `instance`."
                )
            if self.engines[index]:
                entry["engines"] = [each.entry(self.below) for each in self.engines[index]]
            value.append(entry)
            why[index] = tuple(reasons)
        return Key(name="models", value=value, why=self._why(), why_items=why)

    def _why(self) -> tuple[str, ...]:
        why = []
        if not self.found.folder.is_relative_to(self.root):
            why.append("The folder is outside this project: everyone who clones the project needs it.")
        if self.found.left_out:
            why.append(f"Left out, because they contain no model: {', '.join(self.found.left_out)}.")
        return tuple(why)

    def _about_name(self, index: int) -> tuple[str, ...]:
        folder, name = self.found.repositories[index].place.name, self.names[index]
        if len(self.names) == 1 or folder == name:
            return ()
        return (f"{folder} cannot be the name of an archive: letters, digits and inner hyphens.",)


def archives_of(found: FolderRepositories, endpoint: str, below: Path, root: Path) -> Archives:
    """The archive of one repository is called as the endpoint, those of several as their folders."""
    folders: Sequence[str] = [repository.place.name for repository in found.repositories]
    names = [NO_NAME.sub("-", folder).strip("-") or "models" for folder in folders]
    return Archives(
        found=found,
        names=tuple(names) if len(names) > 1 else (endpoint,),
        engines=tuple(map(proposed_engines, found.repositories)),
        below=below,
        root=root,
    )


def _with_plans(endpoint: EndpointContext | None, index: int) -> list[LockedModel]:
    """The models of an entry that bring plans, if they are known."""
    models = () if endpoint is None else endpoint.models
    return [model.facts for model in models if model.index == index and model.facts.plans]


def _named_for(with_plans: Sequence[LockedModel], machine: Instance) -> bool:
    """Whether all plans are named for a capability that only this GPU has."""
    capability = machine.compute_capability
    others = (instance(instance_type) for instance_type in instance_types())
    gpus = {
        each.gpu for each in others if each.kind is Processor.GPU and each.compute_capability == capability
    }
    return (
        bool(with_plans)
        and all(capability in facts.by_compute_capability for facts in with_plans)
        and gpus == {machine.gpu}
    )
