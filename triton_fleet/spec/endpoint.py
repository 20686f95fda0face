"""The contract of `model_specs/*.yaml`: one endpoint, in typed and frozen objects."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo, field_validator

from triton_fleet.catalog.metrics import utilization_measures
from triton_fleet.spec.access import EndpointAccess
from triton_fleet.spec.alarms import Alarms
from triton_fleet.spec.contacts import EndpointOwner
from triton_fleet.spec.container import Container, Network, Variables
from triton_fleet.spec.engine import Engine
from triton_fleet.spec.image import NO_IMAGE_SOURCE, ONE_OF_TWO, SHARED_FOLDER, OwnImage
from triton_fleet.spec.instance import Instance, InstanceType, Scaling, Timeouts
from triton_fleet.spec.monitoring import PUBLISH_SECONDS, Capture, Logs, Metrics
from triton_fleet.spec.profile import EnvironmentName, EnvironmentOverrides, ProfileNames
from triton_fleet.spec.rollout import Rollout
from triton_fleet.spec.samples import ArchiveName, Sample
from triton_fleet.spec.values import (
    NAME_LENGTH,
    Count,
    Digest,
    Document,
    Mistake,
    ModelName,
    Name,
    Tags,
    Text,
    first_duplicate,
    require_unique,
)

ARCHIVES = 10_000
"""Behind one endpoint, copies counted one by one."""
Rule = Annotated[str, StringConstraints(pattern=r"^(FL[0-9]{3}|[a-z0-9]+(-[a-z0-9]+)*)$")]
"""The name of a rule, or its code."""
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3)]


class Mode(StrEnum):
    """How the endpoint serves its models."""

    SINGLE = "single"
    MULTI_MODEL = "multi-model"
    SHARED_CONTAINER = "shared-container"


LANGUAGE = 1
"""The version of the language of specs. Another one changes what a key that exists means, or removes one."""


class ArchiveSet(StrEnum):
    """Whether the archives of a multi-model endpoint change with a deploy or without one."""

    LOCKED = "locked"
    LIVE = "live"


class Compression(StrEnum):
    """How an endpoint's model data are stored for SageMaker."""

    GZIP = "gzip"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class PackedArchive:
    """One archive as it is packed: its name, its entry in `models`, and which copy it is."""

    name: str
    index: int
    copy: int | None
    version: int | None


class Archive(Document):
    """A Triton model repository that is packed into one archive, or into several copies."""

    archive: Name
    """Name of the archive, without `.tar.gz`: letters, digits and inner hyphens."""
    repository: Text
    """The model repository: a folder relative to this file, an archive `s3://BUCKET/KEY.tar.gz`, or the files
    below `s3://BUCKET/PREFIX/`."""
    digest: Digest | None = None
    """For a repository in S3: the digest of its tar stream; other content is refused."""
    copies: Count | None = None
    """Mode `multi-model`: how many archives the repository becomes: `ARCHIVE-0`, `ARCHIVE-1` and so on, with
    models `MODEL_0`, `MODEL_1` and so on; default: one archive of the repository as it is."""
    version: Count | None = None
    """With `archive_set: live`: the version in the target's name; raise it whenever the content changes."""
    compression: Annotated[Compression, Field(strict=False)] = Compression.GZIP
    """With one repository: `none` stores the files as they are, so a new instance unpacks nothing."""
    engines: tuple[Engine, ...] = Field(default=(), strict=False)
    """TensorRT plans to build for models of this repository."""
    built_on: InstanceType | None = None
    """For TensorRT plans in the repository: an instance type with the GPU that built them."""

    def packed_archives(self, index: int) -> tuple[PackedArchive, ...]:
        """The archives that entry number `index` of `models` stands for."""
        names = (
            {None: self.archive}
            if self.copies is None
            else {copy: f"{self.archive}-{copy}" for copy in range(self.copies)}
        )
        return tuple(
            PackedArchive(name=name, index=index, copy=copy, version=self.version)
            for copy, name in names.items()
        )


class EndpointSpec(Document):
    """One NVIDIA Triton endpoint on Amazon SageMaker."""

    endpoint: Name
    """Fixed public name, the same as the file's: letters, digits and inner hyphens, at most 63."""
    profile: ProfileNames = ()
    """Profiles that the spec builds on: files in profiles/ without `.yaml`; a later one overrides earlier."""
    owner: EndpointOwner | None = None
    """Who owns the endpoint."""
    environments: Annotated[tuple[EnvironmentName, ...], Field(strict=False)] | None = None
    """Environments that have the endpoint; default: all. The environment `local` always has it."""
    mode: Annotated[Mode, Field(strict=False)] = Mode.SINGLE
    """`single`: one repository, whose default model answers. `multi-model`: an archive for each target, which
    SageMaker loads when it is called. `shared-container`: one repository, whose models are all loaded and
    called by name."""
    archive_set: Annotated[ArchiveSet, Field(strict=False)] = ArchiveSet.LOCKED
    """Mode `multi-model`. `locked`: every set of archives has its own Model, so a change can be rolled back.
    `live`: archives are added and removed below one fixed prefix, without a deploy."""
    triton: Annotated[str, StringConstraints(pattern=r"^[0-9]{2}\.[0-9]{2}$")]
    """Container release, in quotes: `"25.04"`."""
    image_digest: Digest | None = None
    """The digest of that release's image, `sha256:...`, as `fleet preflight` prints it; default: the image
    that the tag names when an instance starts, which AWS may replace."""
    image: OwnImage | None = None
    """Default: the image of `triton`'s release, or the built image of a shared container. Local endpoints run
    this machine's Triton instead."""
    instance: Instance
    default_model: ModelName | None = None
    """Mode `single`: the model that answers. `shared-container`: the route of calls that name none. Default:
    the only one that exists."""
    routes: dict[ModelName, ModelName] = Field(default_factory=dict)
    """Mode `shared-container`: the names that callers use, each with its model; other models cannot be
    called. Default: every model by its own name."""
    models: Annotated[tuple[Archive, ...], Field(strict=False)]
    """Model repositories; only mode `multi-model` may have several. The target model of an archive is
    `ARCHIVE.tar.gz`; with `archive_set: live` it is `ARCHIVE-vVERSION.tar.gz`, and with `copies`
    `ARCHIVE-0.tar.gz` and so on."""
    scaling: Scaling | None = None
    """Default: always `instance.count` instances."""
    rollout: Rollout | None = None
    """Default: all calls move to the new instances at once."""
    samples: tuple[Sample, ...] = Field(default=(), strict=False)
    """Calls that the endpoint has to answer after each deploy; otherwise the deploy is rolled back."""
    warm: Annotated[tuple[ArchiveName, ...], Field(strict=False), AfterValidator(require_unique)] = ()
    """Mode `multi-model`: archives to load after each deploy, before the samples are sent. If an archive has
    a sample with status 200, that sample loads it."""
    alarms: Alarms | None = Field(default=Alarms(), validate_default=True)
    """Alarm thresholds. A breach notifies operators and rolls back a `rollout`. `null` disables all alarms
    but that of a `rollout` on 1% of failed calls, which `rollback_on: []` disables."""
    metrics: Metrics = Metrics()
    logs: Logs = Logs()
    network: Network = Network()
    access: EndpointAccess = EndpointAccess()
    capture: Capture | None = None
    """Default: no call is captured."""
    tags: Tags = Field(default_factory=dict)
    """Tags of all resources in the endpoint's stack, beside the environment's, which they override."""
    container: Container = Container()
    environment: Variables = Field(default_factory=dict)
    """Further environment variables of the container, for settings without a key in `container`."""
    timeouts: Timeouts = Timeouts()
    cloudformation: dict[str, dict[str, object]] = Field(default_factory=dict)
    """Raw CloudFormation properties, set in the template and checked: `{EndpointConfig: {Path: value}}`."""
    overrides: EnvironmentOverrides = Field(default_factory=dict, exclude=True)
    """By environment: keys that replace the spec's own there."""
    language: int = LANGUAGE
    """Version of the spec language, 1. A version of triton-fleet that reads another one refuses the spec."""
    allow: dict[Rule, Reason] = Field(default_factory=dict)
    """Rules broken on purpose, by name or code, each with the reason: `{incompatible-ami: "tried"}`."""

    @field_validator("image")
    @classmethod
    def _is_the_only_image(cls, image: OwnImage | None, info: ValidationInfo) -> OwnImage | None:
        is_mode = info.data.get("mode") is Mode.SHARED_CONTAINER
        if image is not None and not image.has_place and not is_mode:
            raise Mistake(NO_IMAGE_SOURCE, ONE_OF_TWO)
        if image is not None and info.data.get("image_digest") is not None and image.uri is not None:
            raise Mistake("`image_digest` is of the release's image", "leave one of the two out", ("uri",))
        return image

    @field_validator("language")
    @classmethod
    def _is_read_here(cls, language: int) -> int:
        if language != LANGUAGE:
            message = (
                "another version of triton-fleet reads it: see `fleet upgrade-check`"
                if language > LANGUAGE
                else ""
            )
            hint = message or f"write the spec in version {LANGUAGE}, which `fleet docs spec` describes"
            raise Mistake(f"this triton-fleet reads version {LANGUAGE} of the spec language", hint)
        return language

    @field_validator("models")
    @classmethod
    def _fits_its_mode(cls, models: tuple[Archive, ...], info: ValidationInfo) -> tuple[Archive, ...]:
        mode = info.data.get("mode", Mode.MULTI_MODEL)
        if mode is not Mode.MULTI_MODEL and len(models) != 1:
            raise ValueError(f"mode `{mode.value}` serves one model repository, not {len(models)}")
        if not models and info.data.get("archive_set") is ArchiveSet.LOCKED:
            raise ValueError("a locked set of archives has at least one")
        if (count := sum(model.copies or 1 for model in models)) > ARCHIVES:
            raise ValueError(f"these are {count} archives; an endpoint has {ARCHIVES} at most")
        names = [
            archive.name for index, model in enumerate(models) for archive in model.packed_archives(index)
        ]
        if name := first_duplicate(sorted(names)):
            raise ValueError(f"two archives are named {name!r}: a target model's name leads to one")
        if long := [name for name in names if len(name) > NAME_LENGTH]:
            raise ValueError(f"{long[0]!r} is longer than {NAME_LENGTH} characters")
        return models

    @field_validator("samples")
    @classmethod
    def _have_names_of_their_own(cls, samples: tuple[Sample, ...]) -> tuple[Sample, ...]:
        if name := first_duplicate(sample.name for sample in samples):
            raise ValueError(f"two samples are named {name!r}")
        return samples

    @field_validator("alarms")
    @classmethod
    def _fits_several_models(cls, alarms: Alarms | None, info: ValidationInfo) -> Alarms | None:
        several = info.data.get("mode") is Mode.MULTI_MODEL
        return alarms.of_several_models() if several and alarms else alarms

    @field_validator("metrics")
    @classmethod
    def _are_published_for_their_readers(cls, metrics: Metrics, info: ValidationInfo) -> Metrics:
        """Refuse a rare publication of what others read by the minute.

        Target tracking has alarms of its own, which cannot scale by a metric that lacks values. Source:
        Application Auto Scaling user guide, target tracking.
        """
        scaling, below = info.data.get("scaling"), ("publish_every",)
        if metrics.interval <= PUBLISH_SECONDS:
            return metrics
        hint = "write `60s` or less"
        if metrics.enhanced:
            problem = (
                "`enhanced` has calls published as rarely, and alarms and scaling read them by the minute"
            )
            raise Mistake(problem, f"{hint}, or `enhanced: false`", below)
        for measure in scaling.targets if scaling else ():
            if measure in utilization_measures():
                problem = f"`scaling.{measure}` reads that metric by the minute"
                raise Mistake(problem, f"{hint}, or scale by `invocations_per_instance`", below)
        return metrics

    @property
    def builds_mode_image(self) -> bool:
        """Whether its image is that of the mode, which this package has."""
        return self.mode is Mode.SHARED_CONTAINER and not (self.image and self.image.has_place)

    @property
    def own_image(self) -> OwnImage | None:
        """The image in place of the release's: `image`, or where that names none that of the mode."""
        if not self.builds_mode_image:
            return self.image
        return OwnImage(build=SHARED_FOLDER, args=self.image.args if self.image else {})

    @property
    def packed_archives(self) -> tuple[PackedArchive, ...]:
        """All archives, copies one by one, in the order of the spec."""
        return tuple(
            archive for index, model in enumerate(self.models) for archive in model.packed_archives(index)
        )


S3 = "s3://"
FORM = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/(?:.*/|.*\.tar\.gz)?")
HINT = "write `s3://BUCKET/KEY.tar.gz`, or `s3://BUCKET/PREFIX/` with a slash at its end"
"""The hint for a repository that is misnamed."""


def in_s3(archive: Archive) -> bool:
    """Whether a repository is in S3, not in a folder."""
    return archive.repository.startswith(S3)


def onnx_in_s3(engine: Engine) -> bool:
    """Whether an engine's ONNX model is in S3, not in a file."""
    return engine.onnx.startswith(S3)


def name_problem(archive: Archive) -> str:
    """The problem of the name of a repository in S3; empty where it is an archive or a prefix."""
    if FORM.fullmatch(archive.repository):
        return ""
    return f"{archive.repository!r} is neither an archive nor a prefix in S3"
