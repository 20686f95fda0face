"""The partial specs that a spec is laid over, and those that are laid over it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.fleet_files import FleetFiles
from triton_fleet.project.spec_files import folder_files
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.problems import did_you_mean, dotted_path, validate
from triton_fleet.spec.profile import (
    PROFILE_NAME_RULE,
    EnvironmentName,
    EnvironmentOverrides,
    ProfileNames,
    is_profile_name,
    written_names,
)
from triton_fleet.spec.source import FOLDER, PROFILES, KeyPath, Mark, Source, finding_at


@cache
def takes_null(path: KeyPath) -> bool:
    """Whether `null` stays at a key of a spec: as its value, or because the key is unknown and is refused."""
    types: list[Any] = [EndpointSpec]
    for part in path:
        types = [inner for kind in types for inner in _below(kind, part)]
    return not types or any(kind in (NoneType, object) for kind in types)


def _below(annotation: Any, part: str | int) -> Iterator[Any]:
    """The types of what a mapping or list of this type has at a key or index."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field = annotation.model_fields.get(str(part))
        yield from _alternatives(field.annotation) if field else ()
    elif get_origin(annotation) in (dict, tuple) and (inner := get_args(annotation)):
        yield from _alternatives(inner[1] if get_origin(annotation) is dict else inner[0])


def _alternatives(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) in (Union, UnionType):
        for argument in get_args(annotation):
            yield from _alternatives(argument)
    elif get_origin(annotation) is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    else:
        yield annotation


OWN_KEYS = ("profile", "overrides")
"""The keys by which a layer names other layers."""


class LayerKind(StrEnum):
    """Where a value of a spec comes from, as `fleet show` names it; the last two stand for no file."""

    DEFAULTS = "defaults"
    FOLDER = "folder"
    PROFILE = "profile"
    SPEC = "spec"
    OVERRIDES = "overrides"
    CONTRACT = "default"
    NOBODY = "not given"


@dataclass(frozen=True)
class Layer:
    """A partial spec without the keys that name other layers; `name` is that of its profile or folder.

    `origin` is the kind of the layer that it belongs to: of a profile, that of the layer that names it.
    `named_by` has the kind and the place of what names a profile, which may be another profile.
    """

    kind: LayerKind
    source: Source
    name: str = ""
    origin: LayerKind | None = None
    named_by: tuple[LayerKind, Mark] | None = None


def profiles_of(layers: Sequence[Layer]) -> dict[str, tuple[LayerKind, Mark]]:
    """The profiles among layers, each once where it counts last, with what names it there."""
    profiles = dict[str, tuple[LayerKind, Mark]]()
    for layer in layers:
        if layer.kind is LayerKind.PROFILE and layer.named_by:
            profiles.pop(layer.name, None)
            profiles[layer.name] = layer.named_by
    return profiles


class _Names(BaseModel):
    """The keys by which a partial spec names layers; all others are checked when it is merged."""

    model_config = ConfigDict(extra="ignore", strict=True)

    profile: ProfileNames = ()
    overrides: Annotated[
        EnvironmentOverrides, BeforeValidator(lambda value: {} if value is None else value)
    ] = {}
    environments: Annotated[tuple[EnvironmentName, ...], Field(strict=False)] | None = None


_NO_NAMES = _Names()


class Layering:
    """How specs of one environment are merged; each folder is looked into once.

    From the lowest to the highest: the environment's `defaults`, the files of the spec's folders, the
    outermost first, the spec, the environment's `overrides` for the endpoint. Directly below each of them are
    the profiles that it names, and directly above it is its own `overrides` for the environment. A profile
    that a layer names counts there, even if a lower layer names it too; one that only other profiles name
    counts where it is first.
    """

    def __init__(
        self,
        files: FleetFiles | None,
        environment: Source,
        environments: Sequence[str] = (),
        *,
        is_expanded: bool = False,
    ) -> None:
        """Read nothing yet.

        Args:
            files: The fleet with the profiles; None: there are none.
            environment: The file of the environment, or what stands for it.
            environments: All that a file may name in `overrides`; empty: this one alone is looked at.
            is_expanded: Whether specs hold the keys of the profiles that they name.
        """
        self._fleet, self.environment, self._environments = files, environment, environments
        self._is_expanded = is_expanded
        self._name = str(environment.data.get("environment", ""))
        self._folders = cache(self._folder_layers)

    @property
    def profile_names(self) -> list[str]:
        """The profiles that have a file."""
        return self._fleet.profiles if self._fleet else []

    def layers(self, spec: Source) -> tuple[Layer, ...]:
        """All layers of a spec, the lowest first.

        Raises:
            FindingsError: a profile does not exist or leads back to itself, or a file of a layer is wrong.
        """
        layers, findings = self.readable_layers(spec)
        if findings:
            raise FindingsError(findings)
        return layers

    def readable_layers(self, spec: Source) -> tuple[tuple[Layer, ...], list[Finding]]:
        """The layers of a spec that can be read, the lowest first, and what is wrong with the others.

        Raises:
            FindingsError: the file of a folder is wrong.
        """
        endpoint = str(spec.data.get("endpoint"))
        folder = self._folders(spec.file.parent) if self._fleet else ()
        layer_sources: list[tuple[LayerKind, Source, str]] = [
            (LayerKind.DEFAULTS, self.environment.section("defaults"), ""),
            *((LayerKind.FOLDER, source, name) for source, name in folder),
            (LayerKind.SPEC, spec, ""),
            (LayerKind.OVERRIDES, self.environment.section("overrides", endpoint), ""),
        ]
        profiles = set[str]()
        items = [
            item
            for kind, source, name in layer_sources
            for item in self._with_profiles(kind, source, name, profiles, (), kind)
        ]
        layers = tuple(item for item in items if isinstance(item, Layer))
        return layers, [item for item in items if isinstance(item, Finding)]

    def _with_profiles(
        self,
        kind: LayerKind,
        source: Source,
        name: str,
        names_of_files: set[str],
        chain: tuple[str, ...],
        origin: LayerKind,
        named_by: tuple[LayerKind, Mark] | None = None,
    ) -> Iterator[Layer | Finding]:
        """A layer between the profiles that it names and its overrides; `chain` led to it."""
        if not source.data and kind is not LayerKind.PROFILE:
            return
        wrong_names, names = [*self._wrong_names(source)], _NO_NAMES
        yield from wrong_names
        try:
            names = _read_names(source, wrong_keys=("profile",) if wrong_names else ())
        except FindingsError as error:
            yield from error.findings
        yield from self._wrong_environments(kind, names, source)
        is_expanded = self._is_expanded and source.file != self.environment.file
        for index, profile in enumerate(() if is_expanded else names.profile):
            path = ("profile", index) if isinstance(source.data["profile"], list) else ("profile",)
            if problem := self._missing_profile(profile, source, path, chain):
                yield problem
            elif profile not in names_of_files or not chain:
                names_of_files.add(profile)
                assert self._fleet is not None  # noqa: S101 - without it there are no names
                try:
                    below = _partial(self._fleet, self._fleet.root / PROFILES / f"{profile}.yaml")
                except FindingsError as error:
                    yield from error.findings
                    continue
                by = kind, source.mark(path)
                yield from self._with_profiles(
                    LayerKind.PROFILE, below, profile, names_of_files, (*chain, profile), origin, by
                )
        keep = ("profile",) if kind is LayerKind.SPEC or is_expanded else ()
        yield Layer(kind, _without_own_keys(source, keep=keep), name, origin, named_by)
        yield from self._overrides(names, source, names_of_files, chain)

    def _wrong_names(self, source: Source) -> Iterator[Finding]:
        """Each name of a profile that no profile can have."""
        for path, name in written_names(source.data.get("profile")):
            if not is_profile_name(name):
                message = f'`{dotted_path(path)}` is "{name}": {PROFILE_NAME_RULE}'
                profile = re.sub(r"[\s_]+", "-", name.lower())
                hint = did_you_mean(profile, self.profile_names, whole_list=True)
                yield finding_at(source.mark(path), "FL112", message, hint)

    def _overrides(
        self, names: _Names, source: Source, names_of_files: set[str], chain: tuple[str, ...]
    ) -> Iterator[Layer | Finding]:
        if "overrides" not in source.data:
            return
        for environment in names.overrides:
            yield from self._unknown_environment(environment, source, ("overrides", environment))
        above = source.section("overrides", self._name)
        if "overrides" in above.data:
            message = "`overrides` of an environment cannot have `overrides` of their own"
            yield finding_at(above.mark(("overrides",)), "FL112", message, "move them up")
            return
        yield from self._with_profiles(
            LayerKind.OVERRIDES, above, "", names_of_files, chain, LayerKind.OVERRIDES
        )

    def _wrong_environments(self, kind: LayerKind, names: _Names, source: Source) -> Iterator[Finding]:
        """`environments` names environments, in a file that is not an environment's."""
        if "environments" not in source.data:
            return
        if kind in (LayerKind.DEFAULTS, LayerKind.OVERRIDES):
            message = "`environments` is a key of specs, profiles and folders, for all environments"
            hint = "an environment's file chooses its endpoints by `endpoints`"
            yield finding_at(source.mark(("environments",)), "FL112", message, hint)
            return
        for index, environment in enumerate(names.environments or ()):
            yield from self._unknown_environment(environment, source, ("environments", index))

    def _unknown_environment(self, environment: str, source: Source, path: KeyPath) -> Iterator[Finding]:
        if self._environments and environment not in self._environments:
            message = f"`{path[0]}` names an environment that has no file: {environment!r}"
            hint = did_you_mean(environment, self._environments, whole_list=True)
            yield finding_at(source.mark(path), "FL120", message, hint)

    def _missing_profile(
        self, profile: str, source: Source, path: KeyPath, chain: tuple[str, ...]
    ) -> Finding | None:
        """Why a layer cannot have a profile that it names."""
        mark = source.mark(path)
        if profile in chain:
            circle = " → ".join((*chain[chain.index(profile) :], profile))
            message = f"a profile leads back to itself: {circle}"
            return finding_at(mark, "FL505", message, "remove one of these `profile` keys")
        names = self.profile_names
        if profile not in names:
            via = f", which {' → '.join(chain)} names" if chain else ""
            message = f"there is no profile {profile!r}{via}"
            hint = did_you_mean(profile, names, whole_list=True)
            return finding_at(mark, "FL504", message, hint)
        return None

    def _folder_layers(self, folder: Path) -> list[tuple[Source, str]]:
        assert self._fleet is not None  # noqa: S101 - asked for only then
        root = self._fleet.root
        files = folder_files(root, folder / "any.yaml")
        return [(_partial(self._fleet, file), file.parent.relative_to(root).as_posix()) for file in files]


def _read_names(source: Source, wrong_keys: Collection[str]) -> _Names:
    """The profiles and environments that a partial spec names, without those of wrong keys.

    Raises:
        FindingsError: a key has another type.
    """
    data = {key: value for key, value in source.data.items() if key not in wrong_keys}
    if not any(key in data for key in (*OWN_KEYS, "environments")):
        return _NO_NAMES
    return validate(_Names, Source(source.file, data, source.marks))


def _partial(files: FleetFiles, file: Path) -> Source:
    """The source of a profile or a folder's file.

    Raises:
        FindingsError: it is wrong, or a spec.
    """
    source = files.source(file)
    if "endpoint" in source.data:
        noun = "the file of a folder" if file.name == FOLDER else "a profile"
        mark, message = source.mark(("endpoint",)), f"{noun} has no key `endpoint`"
        raise FindingsError([finding_at(mark, "FL110", message, "each spec has its own")])
    return source


def _without_own_keys(source: Source, *, keep: tuple[str, ...]) -> Source:
    """A layer without the keys by which it names others."""
    own = {key for key in OWN_KEYS if key in source.data and key not in keep}
    if not own:
        return source
    data = {key: value for key, value in source.data.items() if key not in own}
    marks = {path: mark for path, mark in source.marks.items() if not own & set(path[:1])}
    return Source(source.file, data, marks)


def merged_source(
    spec: Source, layers: Sequence[Layer], keeps_null: Callable[[KeyPath], bool] = takes_null
) -> Source:
    """The layers laid over each other. `null` takes a key away unless `keeps_null`, for each layer below."""
    document = Source(spec.file, {})
    for layer in layers:
        document = document.merge(layer.source, keeps_null)
    return Source(spec.file, document.data, {**document.marks, (): spec.mark(())})
