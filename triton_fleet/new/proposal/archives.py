"""The entries of `models`: an archive for each repository, with its engines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.builds.engines.model_fit import Dims, input_dims
from triton_fleet.catalog.instances import Instance, Processor, instance, instance_types
from triton_fleet.catalog.proposals import proposals
from triton_fleet.check.spec_repositories import onnx_header
from triton_fleet.context.context import EndpointContext
from triton_fleet.new.proposal.repositories import FolderRepositories
from triton_fleet.new.proposal.yaml_text import Key
from triton_fleet.repository.config.message import ANY_SIZE, ParsedConfig
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.loading.models import Model, models_of
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

    folder_repositories: FolderRepositories
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
        value, sentences_by_index = list[dict[str, object]](), dict[int, tuple[str, ...]]()
        for index, name in enumerate(self.names):
            repository = Path(os.path.relpath(self.folder_repositories.repositories[index].place, self.below))
            entry: dict[str, object] = {"archive": name, "repository": repository.as_posix()}
            reasons = [
                *self._about_name(index),
                *(reason for engine in self.engines[index] for reason in engine.reasons),
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
                entry["engines"] = [engine.entry(self.below) for engine in self.engines[index]]
            value.append(entry)
            sentences_by_index[index] = tuple(reasons)
        return Key(name="models", value=value, reasons=self._sentences(), why_items=sentences_by_index)

    def _sentences(self) -> tuple[str, ...]:
        sentences = []
        if not self.folder_repositories.folder.is_relative_to(self.root):
            sentences.append("The folder is outside this project: everyone who clones the project needs it.")
        if self.folder_repositories.left_out:
            sentences.append(
                f"Left out, because they contain no model: {', '.join(self.folder_repositories.left_out)}."
            )
        return tuple(sentences)

    def _about_name(self, index: int) -> tuple[str, ...]:
        folder, name = self.folder_repositories.repositories[index].place.name, self.names[index]
        if len(self.names) == 1 or folder == name:
            return ()
        return (f"{folder} cannot be the name of an archive: letters, digits and inner hyphens.",)


def archives_of(folder_repositories: FolderRepositories, endpoint: str, below: Path, root: Path) -> Archives:
    """The archive of one repository is called as the endpoint, those of several as their folders."""
    folders: Sequence[str] = [repository.place.name for repository in folder_repositories.repositories]
    names = [NO_NAME.sub("-", folder).strip("-") or "models" for folder in folders]
    return Archives(
        folder_repositories=folder_repositories,
        names=tuple(names) if len(names) > 1 else (endpoint,),
        engines=tuple(map(proposed_engines, folder_repositories.repositories)),
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
    instances = (instance(instance_type) for instance_type in instance_types())
    gpus = {
        gpu_instance.gpu
        for gpu_instance in instances
        if gpu_instance.kind is Processor.GPU and gpu_instance.compute_capability == capability
    }
    return (
        bool(with_plans)
        and all(capability in facts.by_compute_capability for facts in with_plans)
        and gpus == {machine.gpu}
    )


TENSORRT, PLAN, ONNX = "tensorrt", ".plan", ".onnx"


@dataclass(frozen=True, kw_only=True)
class ProposedEngine:
    """An engine of a model.

    Attributes:
        onnx: The file.
        size: Its bytes, by which those of the plan are guessed.
        shapes: By input that varies: smallest, usual, largest.
        reasons: Sentences.
    """

    model: str
    onnx: Path
    size: int
    shapes: Mapping[str, tuple[str, str, str]]
    reasons: tuple[str, ...]

    def entry(self, below: Path) -> dict[str, object]:
        """As the spec has it, with paths relative to a folder."""
        shapes = {name: list(sizes) for name, sizes in self.shapes.items()}
        onnx = Path(os.path.relpath(self.onnx, below)).as_posix()
        return {"model": self.model, "onnx": onnx, **({"shapes": shapes} if shapes else {})}


def proposed_engines(contents: Contents) -> tuple[ProposedEngine, ...]:
    """One for each model of the TensorRT backend without a plan of which an ONNX model is found."""
    models = models_of(contents)[0]
    return tuple(
        _engine(name, model.config, onnx)
        for name, model in models.items()
        if model.backend == TENSORRT and not _has_plan(contents, model)
        for onnx in _onnx_beside(contents, name)
    )


def _has_plan(contents: Contents, model: Model) -> bool:
    message = model.config.message
    plan_names = {message.default_model_filename, *message.cc_model_filenames.values()}
    return any(
        path.startswith(f"{model.directory}/") and (path.endswith(PLAN) or Path(path).name in plan_names)
        for path in contents.entries
    )


def _onnx_beside(contents: Contents, model: str) -> Iterator[Path]:
    """The ONNX model in the model's directory, else one of its name in the repository or beside that."""
    within = [path for path in contents.entries if path.startswith(f"{model}/") and path.endswith(ONNX)]
    place = contents.place
    beside = [place / f"{model}{ONNX}", place.parent / f"{model}{ONNX}"]
    yield from [file for file in [*(place / path for path in within), *beside] if file.is_file()][:1]


def _engine(model: str, config: ParsedConfig, onnx: Path) -> ProposedEngine:
    size = onnx.stat().st_size
    graph = onnx_header(onnx, size)
    dims = {
        name: input_sizes
        for name, input_sizes in input_dims(config, graph).items()
        if ANY_SIZE in input_sizes
    }
    batches = config.message.max_batch_size > 0
    batch = _batch(config)
    shapes = {
        name: _shapes(input_sizes, batch if batches else None) for name, input_sizes in sorted(dims.items())
    }
    sentences = [
        f"{model} uses the TensorRT backend and has no plan: it is built from {onnx.name}, on the"
        " endpoint's own GPU."
    ]
    if batches and shapes:
        sentences.append(
            f"The batches {', '.join(map(str, batch))} follow from its config.pbtxt; the engine is optimised"
            " for the second."
        )
    if open_inputs := [
        name for name, input_sizes in sorted(dims.items()) if ANY_SIZE in input_sizes[1 if batches else 0 :]
    ]:
        sizes = ", ".join(map(str, proposals().open_dimension))
        sentences.append(
            f"Guessed: the ONNX model leaves dimensions of {', '.join(open_inputs)} open, so {sizes} are"
            " placeholders; write the ones that calls use."
        )
    sentences.append("In FP32; `precision: fp16` is faster and rounds, see `fleet docs engines`.")
    return ProposedEngine(model=model, onnx=onnx, size=size, shapes=shapes, reasons=tuple(sentences))


def _batch(config: ParsedConfig) -> tuple[int, int, int]:
    """Smallest, usual and largest: what the model prefers, else the largest where calls are gathered."""
    max_size = int(config.message.max_batch_size)
    preferred_sizes = list(config.message.dynamic_batching.preferred_batch_size)
    usual_size = max_size if config.message.HasField("dynamic_batching") else 1
    return 1, preferred_sizes[-1] if preferred_sizes else usual_size, max_size


def _shapes(dims: Dims, batch: tuple[int, int, int] | None) -> tuple[str, str, str]:
    first, second, third = (
        "x".join(map(str, _sizes(dims, open_size, None if batch is None else batch[number])))
        for number, open_size in enumerate(proposals().open_dimension)
    )
    return first, second, third


def _sizes(dims: Dims, open_size: int, batch: int | None) -> Iterator[int]:
    for at, size in enumerate(dims):
        yield size if size != ANY_SIZE else open_size if at or batch is None else batch
