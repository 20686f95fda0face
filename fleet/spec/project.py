"""The files of one environment: which exist, and their merged content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from fleet.findings import Finding, FindingsError, all_of
from fleet.spec.deployment import Deployment, place_of
from fleet.spec.endpoint import EndpointSpec
from fleet.spec.environment import Environment
from fleet.spec.kept_tags import kept_tags
from fleet.spec.layers import Layer, Layering, merged, profiles_of
from fleet.spec.lock import Lock
from fleet.spec.membership import members_of
from fleet.spec.problems import did_you_mean, validate
from fleet.spec.reader import read_source
from fleet.spec.source import Source, finding_at
from fleet.spec.spec_files import PROFILES, require_own_folders, spec_files, yaml_stems

LOCK_BYTES = 64 << 20
"""A lock of so many bytes at most is read; 10,000 archives of a few files take some 3 MB."""


@dataclass(frozen=True)
class LoadedSpec:
    """One endpoint's spec as it holds in one environment; `source` knows which file each key came from.

    `layers` are what the source was merged from, the lowest first.
    """

    spec: EndpointSpec
    source: Source
    layers: tuple[Layer, ...] = ()

    @property
    def profiles(self) -> tuple[str, ...]:
        """The profiles that are part of it, each once, the lowest first; a promoted spec holds their keys."""
        return tuple(dict.fromkeys((*profiles_of(self.layers), *self.spec.profile)))


@dataclass(frozen=True)
class Project:
    """One environment and the endpoints that were asked for; specs are read when they are loaded.

    `findings` are what is wrong with the folders themselves.
    """

    root: Path
    environment: Environment
    environment_source: Source
    endpoints: tuple[str, ...]
    findings: tuple[Finding, ...]
    layering: Layering
    spec_files: Mapping[str, Path]
    """The specs of all endpoints that the environment has; `endpoints` are among them."""
    absent: Mapping[str, Finding] = field(default_factory=dict)
    """Why the environment does not have the others that have a spec."""
    unpromoted: tuple[str, ...] = ()
    """Those of them that `fleet promote` may bring."""

    @property
    def is_promoted(self) -> bool:
        """Whether its specs are those that `fleet promote` wrote beside their locks."""
        return self.environment.promoted_from is not None

    @cached_property
    def place(self) -> Deployment:
        """Where the environment's fleet lives."""
        return place_of(self.environment)

    def load(self, endpoint: str) -> LoadedSpec:
        """Read an endpoint's spec as it holds in this environment.

        Raises:
            FindingsError: every mistake of its files.
        """
        return _load_spec(endpoint, self.spec_files[endpoint], self.layering)

    def draft(self, file: Path) -> LoadedSpec:
        """Read a spec from any place, merged with this environment; its file may have any name.

        Raises:
            FindingsError: every mistake of its files.
        """
        return self.draft_source(read_source(file))

    def draft_source(self, source: Source) -> LoadedSpec:
        """As `draft`, of a spec that need not be in a file yet.

        Raises:
            FindingsError: every mistake in it.
        """
        return load_spec(source, self.draft_layering)

    def load_source(self, source: Source) -> LoadedSpec:
        """A spec that need not be in a file yet, as it would hold in this environment.

        Raises:
            FindingsError: every mistake in it.
        """
        return load_spec(source, self.layering)

    def lock_file(self, endpoint: str) -> Path:
        """The path of the endpoint's lock, whether or not it exists."""
        return self._locks / f"{endpoint}.lock.yaml"

    @cached_property
    def draft_layering(self) -> Layering:
        """How specs in model_specs/ are merged, also where the environment has promoted ones."""
        return Layering(self.root, self.environment_source, environment_names(self.root))

    @cached_property
    def given_buckets(self) -> frozenset[str]:
        """What the files of all environments name as `artifact_bucket`, whatever else is wrong with them."""
        found = set[object]()
        for name in environment_names(self.root):
            with suppress(FindingsError):  # reported when that environment is checked
                found.add(
                    read_source(self.root / "environments" / f"{name}.yaml").data.get("artifact_bucket")
                )
        return frozenset(each for each in found if isinstance(each, str))

    @cached_property
    def _locks(self) -> Path:
        return self.root / "locks" / self.environment.environment


def environment_names(root: Path) -> list[str]:
    """The environments that have a file."""
    return yaml_stems(root / "environments")[0]


def endpoint_names(root: Path) -> list[str]:
    """The endpoints that have a spec."""
    return list(spec_files(root).by_endpoint)


def open_project(
    root: Path, environment: str, endpoints: Sequence[str] = (), elsewhere: Sequence[str] = ()
) -> Project:
    """Read one environment and choose its endpoints: those named, else all that it has.

    `elsewhere` names endpoints whose specs are in other places; the environment may have overrides for them.

    Raises:
        FindingsError: a name has no file, the environment does not have an endpoint that is named, or it is
            wrong; then what is wrong with the specs is reported as well.
    """
    require_own_folders(root, environment)
    environments = environment_names(root)
    file = root / "environments" / f"{require_known(environment, environments, 'environment')}.yaml"
    specs = spec_files(root)
    names = list(specs.by_endpoint)
    findings, source = [*_overlooked_files(root), *specs.findings], Source(file, {})
    try:
        source = read_source(file)
        settings = validate(Environment, source)
        _named_as_its_file(source, "environment", settings.environment)
    except FindingsError as error:
        # Without the environment's defaults only the specs' own YAML can be checked.
        chosen = tuple(require_known(name, names, "endpoint") for name in dict.fromkeys(endpoints)) or names
        layering = Layering(root, source, environments)
        look = partial(_load_spec, layering=layering) if source.data else lambda _, path: read_source(path)
        all_of(chosen, lambda name: look(name, specs.by_endpoint[name]), error.findings + findings)
        raise
    layering = Layering(root, source, environments, expanded=settings.promoted_from is not None)
    members = members_of(root, settings, source, specs)
    known = [*members.files, *members.absent]
    named = tuple(require_known(name, known, "endpoint") for name in dict.fromkeys(endpoints))
    if absent := [members.absent[name] for name in named if name in members.absent]:
        raise FindingsError(absent)
    chosen = named or tuple(members.files)
    findings += [*members.findings, *_stray_overrides(settings, source, {*names, *known, *elsewhere})]
    return Project(
        root,
        settings,
        source,
        chosen,
        tuple(findings),
        layering,
        members.files,
        members.absent,
        members.unpromoted,
    )


def load_lock(file: Path) -> Lock:
    """Read one lock.

    Raises:
        FindingsError: it is missing or does not hold what a lock holds.
    """
    return validate(Lock, read_source(file, LOCK_BYTES))


def _load_spec(endpoint: str, file: Path, layering: Layering) -> LoadedSpec:
    loaded = load_spec(read_source(file), layering)
    _named_as_its_file(loaded.source, "endpoint", loaded.spec.endpoint, endpoint)
    return loaded


def load_spec(source: Source, layering: Layering) -> LoadedSpec:
    """A spec merged with its layers.

    Raises:
        FindingsError: every key and value that does not fit, or what is wrong with a layer.
    """
    layers = layering.layers(source)
    whole = merged(source, layers)
    spec = validate(EndpointSpec, whole)
    if kept := list(kept_tags(layering.environment, layers)):
        raise FindingsError(kept)
    return LoadedSpec(spec, whole, layers)


def _named_as_its_file(source: Source, key: str, name: str, stem: str = "") -> None:
    stem = stem or source.file.stem
    if name != stem:
        mark = source.mark((key,))
        message = f"`{key}` is {name!r} in a file called {source.file.name}"
        hint = f"write `{key}: {stem}`, or rename the file"
        raise FindingsError([finding_at(mark, "FL113", message, hint)])


def require_known(name: str, names: list[str], noun: str) -> str:
    """A name that exists.

    Raises:
        FindingsError: it does not.
    """
    if name in names:
        return name
    message = f"there is no {noun} {name!r}" if name else f"no {noun} was named"
    hint = did_you_mean(name, names, list_all=True)
    raise FindingsError([Finding(code="FL120", message=message, hint=hint)])


def _stray_overrides(settings: Environment, source: Source, names: set[str]) -> list[Finding]:
    strays = []
    for name in settings.overrides:
        if name not in names:
            mark = source.mark(("overrides", name))
            message, hint = (
                f"`overrides` names an endpoint that has no spec: {name!r}",
                did_you_mean(name, names),
            )
            strays.append(finding_at(mark, "FL120", message, hint))
    return strays


def _overlooked_files(root: Path) -> list[Finding]:
    return [each for folder in ("environments", PROFILES) for each in yaml_stems(root / folder)[1]]
