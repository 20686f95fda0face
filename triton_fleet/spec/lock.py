"""The contract of `locks/ENV/ENDPOINT.lock.yaml`: what an environment runs, known before it is built."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from triton_fleet.spec.image import LockedImage
from triton_fleet.spec.values import Count, Digest, Document, ModelName, Name

Checksum = Annotated[str, StringConstraints(pattern=r"^crc32:[0-9a-f]{8}$")]
Whole = Annotated[int, Field(ge=0, le=2**63 - 1)]


NO_DIGEST = f"sha256:{0:064}"
"""Stands for the digest of what was looked at and not read, in a lock that is written nowhere."""


Version = Annotated[str, StringConstraints(pattern=r"^(0|[1-9][0-9]{0,18})$")]
"""A version directory that callers can name."""


class InstanceGroup(Document):
    """Instances of a model of one kind, as its config.pbtxt asks for them."""

    kind: Literal["KIND_AUTO", "KIND_GPU", "KIND_CPU", "KIND_MODEL"] = "KIND_AUTO"
    count: Count = 1
    """How many, on each of the GPUs if there are some."""
    gpus: Annotated[tuple[int, ...], Field(strict=False)] = ()
    """The GPUs by number; none named means all."""


class LockedModel(Document):
    """Facts of a model's config.pbtxt and files; all defaults where the config cannot be read."""

    unreadable: bool = False
    """Whether there is a config.pbtxt that is not in protobuf's text format, or holds what no model has."""
    name: str = ""
    """The config's name, where that is not the directory's."""
    backend: str = ""
    """The config's backend; without one, the backend whose file is in a version directory."""
    platform: str = ""
    """The config's platform, where it names more than the backend: `tensorflow_graphdef`."""
    max_batch_size: Whole = 0
    """0: requests are not batched."""
    instances: Annotated[tuple[InstanceGroup, ...], Field(strict=False)] = ()
    """None: Triton chooses."""
    versions: Annotated[tuple[Version, ...], Field(strict=False)] | None = None
    """Mode `shared-container`: the versions that its policy has Triton load, the newest last."""
    size: Whole = 0
    """Bytes of the files in the version directories that Triton would load."""
    decoupled: bool = False
    """Whether a request may have any number of answers."""
    response_cache: bool = False
    """Whether the config turns the response cache on."""
    steps: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """The models that an ensemble calls, in the order of its steps, each once."""
    item_bytes: Whole = 0
    """Bytes of the inputs that a request of batch size 1 has to have.

    A variable dimension counts as 1, a string as 0.
    """
    plans: dict[str, str] = Field(default_factory=dict)
    """TensorRT's version, `10.9.0.34`, of the plans in those versions, by path below the model directory.

    "" where the plan's header does not contain it.
    """
    by_compute_capability: dict[str, str] = Field(default_factory=dict)
    """File names by the compute capability of the GPU that they are for: `cc_model_filenames`."""


def _without_facts(models: object) -> object:
    if isinstance(models, list) and all(isinstance(name, str) for name in models):
        return {name: LockedModel() for name in models}
    return models


class LockedEngine(Document):
    """A TensorRT plan that is built before the archive is packed."""

    key: Digest
    """Follows from the ONNX model, trtexec's arguments, the GPU and the container image."""
    onnx: Digest
    """The ONNX model's."""
    size: Whole
    """The ONNX model's, in bytes."""


class LockedArchive(Document):
    """One archive as it was when the lock was written."""

    digest: Digest
    """The tar stream's, before compression; with `engines`, that of `repository` and their keys."""
    size: Whole
    """The tar stream's, in bytes; without the plans of `engines`."""
    repository: Digest | None = None
    """With `engines`: the digest of the tar stream without their plans."""
    engines: dict[ModelName, LockedEngine] = Field(default_factory=dict)
    """By the model that the plan is for."""
    models: Annotated[dict[ModelName, LockedModel], BeforeValidator(_without_facts)]
    """The model directories inside, sorted; a list of names, as in old locks, has no facts of them."""


class LockedRepository(Document):
    """The repository that an entry of `models` was packed from; it names what has changed since."""

    onnx: dict[str, Digest] = Field(default_factory=dict)
    """Digests of the ONNX files, by path."""
    files: dict[str, Checksum] = Field(default_factory=dict)
    """A checksum of each file, by path; those of a folder with many files as one, under `FOLDER/*`."""


class Lock(Document):
    """Artifacts that one environment runs behind one endpoint."""

    endpoint: Name
    promoted_from: str | None = None
    """The environment in which these archives were tested; the repositories here may have changed since."""
    product: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    """The version of triton-fleet that promoted the endpoint, where the spec beside this lock is its own."""
    template: Digest | None = None
    """The digest of the template that this version made of the spec, the lock and the environment."""
    inputs: Digest | None = None
    """The digest of that spec, as it held in the environment, and of the environment's own settings."""
    image: LockedImage | None = None
    """Default: the release's own."""
    archives: dict[Name, LockedArchive]
    """By the archive's name, each copy for itself."""
    repositories: dict[Name, LockedRepository] = Field(default_factory=dict)
    """By the name of the entry in the spec's `models`."""

    @property
    def is_measured(self) -> bool:
        """Whether the archives were read, as `fleet lock` does, and not only looked at."""
        return all(archive.digest != NO_DIGEST for archive in self.archives.values())
