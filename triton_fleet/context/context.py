"""The context of a spec in its environment: image, machine, driver, default model, variables, tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from triton_fleet.catalog.amis import Ami, ami, amis, inference_ami, runs_by_default, unnamed_ami
from triton_fleet.catalog.images import Image, image, regions_of, releases
from triton_fleet.catalog.instances import Instance, Processor, instance, instance_types
from triton_fleet.catalog.releases import versions_differ
from triton_fleet.context.machines import (
    OWN_VARIANT,
    Machine,
    RawProperties,
    has_pools,
    machines,
    raw_variants,
)
from triton_fleet.context.models import ContainerContext, ModelsContext, PlacedModel
from triton_fleet.context.own_image import own_image
from triton_fleet.context.shared_container import Route, passed_on, shared_routes, shared_variables
from triton_fleet.context.variables import VariableSetting, all_variables, decided_settings
from triton_fleet.core.reads import closure
from triton_fleet.project.project import LoadedSpec
from triton_fleet.spec.endpoint import EndpointSpec, Mode, in_s3
from triton_fleet.spec.environment import LOCAL, Environment
from triton_fleet.spec.lock import Lock, LockedArchive
from triton_fleet.spec.source import KeyPath, Source


@dataclass(frozen=True, kw_only=True)
class EndpointContext:
    """One endpoint in one environment, with all that its spec leads to; None where nothing fits.

    `machine`, `image` and host image are those of `placed_machine`, on which `base` is looked at, else of the
    spec's own instance type. `reads_folders`: the spec's folders are checked beside it.
    """

    loaded_spec: LoadedSpec
    environment: Environment
    lock: Lock | None
    placed_machine: Machine | None = None
    base: EndpointContext | None = None
    reads_folders: bool = False

    @property
    def spec(self) -> EndpointSpec:
        """The spec as it holds in this environment."""
        return self.loaded_spec.spec

    @property
    def source(self) -> Source:
        """Where each of the spec's keys stands."""
        return self.loaded_spec.source

    @property
    def region(self) -> str:
        """The environment's region."""
        return self.environment.region

    @cached_property
    def machines(self) -> tuple[Machine, ...]:
        """The instance types that it may run on, the spec's own first."""
        return machines(self.spec, self.raw_variants) if self.base is None else self.base.machines

    @cached_property
    def raw_variants(self) -> Mapping[str, RawProperties]:
        """The raw properties of each variant, by the variant's place."""
        return raw_variants(self.spec) if self.base is None else self.base.raw_variants

    @property
    def is_pooled(self) -> bool:
        """Whether raw InstancePools stand in place of the variant's instance type, computed ones too."""
        return has_pools(self.raw_variants.get(OWN_VARIANT, {}))

    def on(self, machine: Machine) -> EndpointContext:
        """The same endpoint on one of its instance types; of a model of others nothing is known."""
        if machine is self._machine:
            return self  # with all that is computed of it
        return replace(
            self, placed_machine=machine, base=self, lock=self.lock if machine.runs_model else None
        )

    @property
    def _machine(self) -> Machine:
        return self.placed_machine or self.machines[0]

    @property
    def instance_type(self) -> str:
        """The name of the instance type."""
        return self._machine.type

    @property
    def variant(self) -> str:
        """The place of the variant that the instance type is of, such as `ProductionVariants.0`."""
        return self._machine.variant

    @cached_property
    def machine(self) -> Instance | None:
        """The facts of the instance type; None for a type that the catalog does not have."""
        return _facts(self.instance_type)

    @cached_property
    def own_machine(self) -> Instance | None:
        """The facts of `instance.type`, by which images and engines go; None as for `machine`."""
        return _facts(self.spec.instance.type)

    @cached_property
    def image(self) -> Image | None:
        """The container's image: the spec's own, else the release's; None where there is none."""
        own, release = self.spec.own_image, self.release_image
        # The local fleet has no image, and knows by the tag of the release what would be inside.
        if own is None or release is None or self.environment.environment == LOCAL:
            return release
        return own_image(release, own, self.lock.image if self.lock else None, self.environment)

    @cached_property
    def engine_image(self) -> Image | None:
        """The image in which engines are built: the release's.

        Only the environment lets an image of the spec's own build, where its TensorRT is another one: what
        such an image runs is its team's, and so is the version of TensorRT that it claims.
        """
        own = self.environment.engine_builds.own_images and self.has_own_tensorrt
        return self.image if own else self.release_image

    @property
    def has_own_tensorrt(self) -> bool:
        """Whether the container's TensorRT is not certainly that of the release's image."""
        image, release = self.image, self.release_image
        if image is None or release is None:
            return False
        inside, usual = image.details.tensorrt or "", release.details.tensorrt or ""
        return versions_differ(inside, usual) if inside and usual else inside != usual

    @cached_property
    def release_image(self) -> Image | None:
        """The release's image in the region, for GPUs or for CPUs; None where there is none."""
        release, own = self.spec.triton, self.own_machine
        if (
            release not in releases()
            or self.region not in regions_of(release)
            or not self._machine.runs_model
        ):
            return None
        base_image = image(release, self.region, gpu=own is None or own.kind is not Processor.CPU)
        is_local = self.environment.environment == LOCAL
        return base_image if is_local else replace(base_image, digest=self.spec.image_digest)

    @property
    def named_ami(self) -> str | None:
        """The host image that the spec names, by its key or as a raw property; None: to be chosen."""
        return self._machine.ami

    @property
    def named_ami_path(self) -> KeyPath:
        """Where a host image that is named stands."""
        return self._machine.ami_path

    @cached_property
    def ami(self) -> Ami | None:
        """The host image: the one named, else the one whose driver runs the container on this family.

        One is chosen for the spec's own variant, with all its instance pools where one fits them all. A raw
        variant that names none has SageMaker's own choice.
        """
        ami_name = self.named_ami
        if ami_name is not None:
            return ami(ami_name) if ami_name in {image.name for image in amis()} else None
        if self.image is None or self.machine is None or self.machine.kind is not Processor.GPU:
            return None
        family, cuda = self.machine.family, self.image.cuda
        if self.base is None or self._machine == self.machines[0]:
            return inference_ami(cuda, family, *self._families) or inference_ami(cuda, family)
        ami_value = self.base.ami if self.variant == OWN_VARIANT else unnamed_ami()
        if ami_value is None or inference_ami(cuda, family) is None:
            return inference_ami(cuda, family)
        return ami_value if ami_value.name or runs_by_default(cuda, family) else None

    @property
    def _families(self) -> list[str]:
        """The GPU families of the spec's own variant."""
        families = (_facts(machine.type) for machine in self.machines if machine.variant == OWN_VARIANT)
        return [
            instance.family
            for instance in families
            if instance is not None and instance.kind is Processor.GPU
        ]

    @cached_property
    def archives(self) -> Mapping[str, LockedArchive]:
        """The lock's entries for the spec's archives that it has, by name."""
        archives = self.lock.archives if self.lock else {}
        return {
            archive.name: archives[archive.name]
            for archive in self.spec.packed_archives
            if archive.name in archives
        }

    @cached_property
    def default_model(self) -> str | None:
        """The model behind /invocations: the one named, or the only one; none where calls name theirs."""
        if self.spec.mode is not Mode.SINGLE:
            return None
        model_names = [name for archive in self.archives.values() for name in archive.models]
        return self.spec.default_model or (model_names[0] if len(model_names) == 1 else None)

    @cached_property
    def settings(self) -> Mapping[str, str]:
        """Variables of AWS's start script, or of a shared container's options, sorted by name."""
        return all_variables(self.spec, self.decided_settings)

    @cached_property
    def variables(self) -> Mapping[str, str]:
        """The whole environment of the container, sorted by name."""
        if self.spec.mode is not Mode.SHARED_CONTAINER:
            return self.settings
        values = {name: setting.value for name, setting in self.decided_variables.items()}
        return dict(sorted((values | passed_on(self.spec)).items()))

    @cached_property
    def decided_variables(self) -> Mapping[str, VariableSetting]:
        """The part of that environment that follows from other keys than `environment`."""
        if self.spec.mode is Mode.SHARED_CONTAINER:
            gpus = self.machine.gpus if self.machine else 0
            return shared_variables(self.spec, self.routes, self.settings, gpus)
        return self.decided_settings

    @cached_property
    def decided_settings(self) -> Mapping[str, VariableSetting]:
        """The part of `settings` that follows from other keys than `environment`."""
        return decided_settings(self.spec, self.default_model)

    @cached_property
    def routes(self) -> Mapping[str, Route]:
        """The names by which a shared container is called; none in other modes."""
        if self.spec.mode is not Mode.SHARED_CONTAINER:
            return {}
        return shared_routes(self.spec, {model.name: model.facts for model in self.models})

    @cached_property
    def models(self) -> tuple[PlacedModel, ...]:
        """The models of all locked repositories, those of copies once."""
        return tuple(self._models())

    def _models(self) -> Iterator[PlacedModel]:
        for archive in self.spec.packed_archives:
            if archive.copy in (None, 0) and archive.name in self.archives:
                for name, facts in self.archives[archive.name].models.items():
                    yield PlacedModel(index=archive.index, archive=archive.name, name=name, facts=facts)

    def knows_by_lock_alone(self, model: PlacedModel) -> bool:
        """Whether the files of a model are not checked beside the endpoint."""
        return not self.reads_folders or in_s3(self.spec.models[model.index])

    @cached_property
    def parts(self) -> frozenset[tuple[str, str]]:
        """Archive and name of all that ensembles call."""
        return frozenset((model.archive, step) for model in self.models for step in model.facts.steps)

    @cached_property
    def loaded_models(self) -> tuple[PlacedModel, ...]:
        """The models that the container loads: the default one, those of flags, their parts; else all."""
        if self.spec.mode is Mode.SHARED_CONTAINER:
            return self.models
        return self._with_parts([*self.spec.container.further_models])

    def called_models(self) -> tuple[PlacedModel, ...]:
        """The models that callers reach: the default one, the targets without their parts, or the routes'."""
        if self.spec.mode is Mode.MULTI_MODEL:
            return tuple(model for model in self.models if (model.archive, model.name) not in self.parts)
        names = {route.model for route in self.routes.values()} or {self.default_model or ""}
        return tuple(model for model in self.models if model.name in names)

    @cached_property
    def models_context(self) -> ModelsContext:
        """The models that the container loads, and what is known of it."""
        container = ContainerContext(
            mode=self.spec.mode,
            triton=self.spec.triton,
            contents=self.image.details if self.image else None,
            has_own_image=self.spec.own_image is not None,
            machine=self.machine,
            settings=self.settings,
        )
        samples, targets = self.spec.samples, self.called_models()
        return ModelsContext(
            models=self.loaded_models, reachable_models=targets, samples=samples, container=container
        )

    def answering_models(self) -> tuple[PlacedModel, ...]:
        """Those that callers reach, with their parts; all of a multi-model endpoint."""
        return self._with_parts([route.model for route in self.routes.values()])

    def _with_parts(self, further: list[str]) -> tuple[PlacedModel, ...]:
        if self.default_model is not None:
            further = [self.default_model, *further]
        elif not self.routes:
            return self.models
        steps = {model.name: model.facts.steps for model in self.models}
        models = {*closure(further, lambda name: steps.get(name, ()))}
        return tuple(model for model in self.models if model.name in models)


def _facts(instance_type: str) -> Instance | None:
    return instance(instance_type) if instance_type in instance_types() else None


def endpoint_tags(environment: Environment, spec: EndpointSpec) -> dict[str, str]:
    """Tags of everything in an endpoint's stack; of one key the spec's value wins."""
    return {**environment.resource_tags, **spec.tags, **own_tags(spec)}


def own_tags(spec: EndpointSpec) -> dict[str, str]:
    """The endpoint's name, and its owner where it has one."""
    tags = {"triton-fleet:endpoint": spec.endpoint}
    if spec.owner is not None:
        tags["triton-fleet:owner"] = spec.owner.team
        if spec.owner.contact is not None:
            tags["triton-fleet:contact"] = spec.owner.contact
    return tags


def machines_with_volume(endpoint: EndpointContext) -> tuple[Instance, ...]:
    """The instance types without storage of their own, of pools and shadow variants as well.

    Those that the catalog does not have are left out.
    """
    instances = (endpoint.on(machine).machine for machine in endpoint.machines)
    return tuple(
        dict.fromkeys(instance for instance in instances if instance is not None and not instance.nvme_gb)
    )


def volume_key(endpoint: EndpointContext) -> str | None:
    """EndpointConfig's KmsKeyId: the environment's key, where one of the instance types has a volume.

    Local storage is encrypted by its hardware; SageMaker takes a key for it and does not use it. Source:
    botocore 1.44.5, CreateEndpointConfig, KmsKeyId.
    """
    return endpoint.environment.kms_key if machines_with_volume(endpoint) else None
