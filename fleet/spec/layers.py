"""The partial specs that a spec is laid over, and those that are laid over it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field

from fleet.findings import FindingsError
from fleet.spec.endpoint import EndpointSpec
from fleet.spec.problems import did_you_mean, validate
from fleet.spec.profile import EnvironmentName, EnvironmentOverrides, ProfileNames
from fleet.spec.reader import read_source
from fleet.spec.source import KeyPath, Source, finding_at
from fleet.spec.spec_files import FOLDER, PROFILES, folder_files, yaml_stems

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
    """

    kind: LayerKind
    source: Source
    name: str = ""
    origin: LayerKind | None = None


class _Named(BaseModel):
    """The keys by which a partial spec names layers; all others are checked when it is merged."""

    model_config = ConfigDict(extra="ignore", strict=True)

    profile: ProfileNames = ()
    overrides: EnvironmentOverrides = {}
    environments: Annotated[tuple[EnvironmentName, ...], Field(strict=False)] | None = None


_NAMES_NOTHING = _Named()


class Layering:
    """How specs of one environment are merged; each profile and each folder's file is read once.

    From the lowest to the highest: the environment's `defaults`, the files of the spec's folders, the
    outermost first, the spec, the environment's `overrides` for the endpoint. Directly below each of them are
    the profiles that it names, and directly above it is its own `overrides` for the environment.
    """

    def __init__(
        self,
        root: Path | None,
        environment: Source,
        environments: Sequence[str] = (),
        *,
        expanded: bool = False,
    ) -> None:
        """Read nothing yet.

        Args:
            root: The fleet with the profiles; None: there are none.
            environment: The file of the environment, or what stands for it.
            environments: All that a file may name in `overrides`; empty: this one alone is looked at.
            expanded: Whether specs hold the keys of the profiles that they name.
        """
        self._root, self._environment, self._environments = root, environment, environments
        self._expanded = expanded
        self._name = str(environment.data.get("environment", ""))
        self._files = cache(_partial_or_findings)
        self._folders = cache(self._folder_layers)
        self.profile_names = cache(self._profile_names)

    def layers(self, spec: Source) -> tuple[Layer, ...]:
        """All layers of a spec, the lowest first; a profile that is listed twice counts where it is first.

        Raises:
            FindingsError: a profile does not exist or leads back to itself, or a file of a layer is wrong.
        """
        endpoint = str(spec.data.get("endpoint"))
        folder = self._folders(spec.file.parent) if self._root else ()
        named: list[tuple[LayerKind, Source, str]] = [
            (LayerKind.DEFAULTS, self._environment.section("defaults"), ""),
            *((LayerKind.FOLDER, source, name) for source, name in folder),
            (LayerKind.SPEC, spec, ""),
            (LayerKind.OVERRIDES, self._environment.section("overrides", endpoint), ""),
        ]
        layers, profiles = list[Layer](), set[str]()
        for kind, source, name in named:
            layers += self._with_profiles(kind, source, name, profiles, (), kind)
        return tuple(layers)

    def _with_profiles(
        self,
        kind: LayerKind,
        source: Source,
        name: str,
        known: set[str],
        chain: tuple[str, ...],
        origin: LayerKind,
    ) -> Iterator[Layer]:
        """A layer between the profiles that it names and its overrides; `chain` led to it."""
        if not source.data:
            return
        named = any(key in source.data for key in (*OWN_KEYS, "environments"))
        asked = validate(_Named, source) if named else _NAMES_NOTHING
        self._check_environments(kind, asked, source)
        expanded = self._expanded and source.file != self._environment.file
        for index, profile in enumerate(() if expanded else asked.profile):
            path = ("profile", index) if isinstance(source.data["profile"], list) else ("profile",)
            self._require(profile, source, path, chain)
            if profile not in known:
                known.add(profile)
                below = self._partial(self._profile_file(profile))
                yield from self._with_profiles(
                    LayerKind.PROFILE, below, profile, known, (*chain, profile), origin
                )
        keep = ("profile",) if kind is LayerKind.SPEC or expanded else ()
        yield Layer(kind, _without_own_keys(source, keep=keep), name, origin)
        yield from self._overrides(asked, source, known, chain)

    def _overrides(
        self, asked: _Named, source: Source, known: set[str], chain: tuple[str, ...]
    ) -> Iterator[Layer]:
        if "overrides" not in source.data:
            return
        for environment in asked.overrides:
            self._require_environment(environment, source, ("overrides", environment))
        above = source.section("overrides", self._name)
        if "overrides" in above.data:
            message = "`overrides` of an environment cannot have `overrides` of their own"
            raise FindingsError([finding_at(above.mark(("overrides",)), "FL112", message, "move them up")])
        yield from self._with_profiles(LayerKind.OVERRIDES, above, "", known, chain, LayerKind.OVERRIDES)

    def _check_environments(self, kind: LayerKind, asked: _Named, source: Source) -> None:
        """`environments` names environments, in a file that is not an environment's."""
        if asked.environments is None:
            return
        if kind in (LayerKind.DEFAULTS, LayerKind.OVERRIDES):
            message = "`environments` is a key of specs, profiles and folders, for all environments"
            hint = "an environment's file chooses its endpoints by `endpoints`"
            raise FindingsError([finding_at(source.mark(("environments",)), "FL112", message, hint)])
        for index, environment in enumerate(asked.environments):
            self._require_environment(environment, source, ("environments", index))

    def _require_environment(self, environment: str, source: Source, path: KeyPath) -> None:
        if self._environments and environment not in self._environments:
            message = f"`{path[0]}` names an environment that has no file: {environment!r}"
            hint = did_you_mean(environment, self._environments, list_all=True)
            raise FindingsError([finding_at(source.mark(path), "FL120", message, hint)])

    def _require(self, profile: str, source: Source, path: KeyPath, chain: tuple[str, ...]) -> None:
        mark = source.mark(path)
        if profile in chain:
            circle = " → ".join((*chain[chain.index(profile) :], profile))
            message = f"a profile leads back to itself: {circle}"
            raise FindingsError([finding_at(mark, "FL505", message, "remove one of these `profile` keys")])
        names = self.profile_names()
        if profile not in names:
            via = f", which {' → '.join(chain)} names" if len(chain) > 1 else ""
            message = f"there is no profile {profile!r}{via}"
            hint = did_you_mean(profile, names, list_all=True)
            raise FindingsError([finding_at(mark, "FL504", message, hint)])

    def _profile_names(self) -> list[str]:
        """The profiles that have a file."""
        return yaml_stems(self._root / PROFILES)[0] if self._root else []

    def _profile_file(self, name: str) -> Path:
        assert self._root is not None  # noqa: S101 - without it there are no names
        return self._root / PROFILES / f"{name}.yaml"

    def _folder_layers(self, folder: Path) -> list[tuple[Source, str]]:
        assert self._root is not None  # noqa: S101 - asked for only then
        files = folder_files(self._root, folder / "any.yaml")
        return [(self._partial(file), file.parent.relative_to(self._root).as_posix()) for file in files]

    def _partial(self, file: Path) -> Source:
        found = self._files(file)
        if isinstance(found, FindingsError):
            raise FindingsError(found.findings)
        return found


def _partial_or_findings(file: Path) -> Source | FindingsError:
    try:
        source = read_source(file)
    except FindingsError as error:
        return error
    if "endpoint" in source.data:
        what = "the file of a folder" if file.name == FOLDER else "a profile"
        mark, message = source.mark(("endpoint",)), f"{what} has no key `endpoint`"
        return FindingsError([finding_at(mark, "FL110", message, "each spec has its own")])
    return source


def _without_own_keys(source: Source, *, keep: tuple[str, ...]) -> Source:
    """A layer without the keys by which it names others."""
    dropped = {key for key in OWN_KEYS if key in source.data and key not in keep}
    if not dropped:
        return source
    data = {key: value for key, value in source.data.items() if key not in dropped}
    marks = {path: mark for path, mark in source.marks.items() if not dropped & set(path[:1])}
    return Source(source.file, data, marks)


def merged(spec: Source, layers: Sequence[Layer]) -> Source:
    """The layers laid over each other. `null` takes a key away unless the key has it as a value."""
    lowest = layers[0].source if layers else Source(spec.file, {})
    found = Source(spec.file, lowest.data, lowest.marks)
    for layer in layers[1:]:
        found = found.merged(layer.source, takes_null)
    return Source(spec.file, found.data, {**found.marks, (): spec.mark(())})


@cache
def takes_null(path: KeyPath) -> bool:
    """Whether `null` is a value of a spec's key."""
    types: list[Any] = [EndpointSpec]
    for part in path:
        types = [inner for each in types for inner in _below(each, part)]
    return any(each in (NoneType, object) for each in types)


def _below(annotation: Any, part: str | int) -> Iterator[Any]:
    """The types of what a mapping or list of this type has at a key or index."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field = annotation.model_fields.get(str(part))
        yield from _alternatives(field.annotation) if field else ()
    elif get_origin(annotation) in (dict, tuple) and (inner := get_args(annotation)):
        yield from _alternatives(inner[1] if get_origin(annotation) is dict else inner[0])


def _alternatives(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) in (Union, UnionType):
        for each in get_args(annotation):
            yield from _alternatives(each)
    elif get_origin(annotation) is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    else:
        yield annotation
