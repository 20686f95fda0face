"""The files of one environment: which exist, and their merged content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from triton_fleet.core.reads import ReadCache
from triton_fleet.findings import Finding, FindingsError, all_of
from triton_fleet.project.fleet_files import FleetFiles
from triton_fleet.project.layers import Layer, Layering, merged_source, profiles_of
from triton_fleet.project.membership import members_of
from triton_fleet.project.reader import read_source
from triton_fleet.project.spec_files import require_own_folders, yaml_stems
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.problems import certain_mistakes, did_you_mean, validate
from triton_fleet.spec.source import FOLDER, LOCKS, PROFILES, Source, finding_at


def kept_tags(environment: Source, layers: Sequence[Layer]) -> Iterator[Finding]:
    """Each `null` over a tag that the environment's own `tags` have, unless a higher layer has a value."""
    tags = environment.data.get("tags")
    for tag in tags if isinstance(tags, dict) else ():
        for layer in reversed(layers):
            own_tags = layer.source.data.get("tags")
            if not isinstance(own_tags, dict) or tag not in own_tags:
                continue
            if own_tags[tag] is None:
                file = f"environments/{environment.file.name}"
                message = f"`null` does not remove the tag {tag!r}: it is in the top-level `tags` of {file}"
                hint = f"write another value here, or move the tag to `defaults.tags` of {file}"
                yield finding_at(layer.source.mark(("tags", tag)), "FL517", message, hint)
            break


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
    """One environment of a fleet that is open, and the endpoints that were asked for.

    Specs and locks are read when they are asked for, each once. `findings` are what is wrong with the folders
    themselves.
    """

    fleet: Fleet
    environment: Environment
    environment_source: Source
    endpoints: tuple[str, ...]
    findings: tuple[Finding, ...]
    layering: Layering
    spec_files: Mapping[str, Path]
    """The specs of all endpoints that the environment has; `endpoints` are among them."""
    specs: ReadCache[str, LoadedSpec]
    """Reads each of them, as it holds in this environment."""
    absent: Mapping[str, Finding] = field(default_factory=dict)
    """Why the environment does not have the others that have a spec."""
    unpromoted_names: tuple[str, ...] = ()
    """Those of them that `fleet promote` may bring."""
    absent_in_main: Mapping[str, Finding] = field(default_factory=dict)
    """Why main no longer has some of those that were promoted here."""

    @property
    def root(self) -> Path:
        """The fleet's folder."""
        return self.fleet.root

    @property
    def is_promoted(self) -> bool:
        """Whether its specs are those that `fleet promote` wrote beside their locks."""
        return self.environment.promoted_from is not None

    @cached_property
    def deployment(self) -> Deployment:
        """Where the environment's fleet lives."""
        return Deployment.of(self.environment)

    def load(self, endpoint: str) -> LoadedSpec:
        """An endpoint's spec as it holds in this environment.

        Raises:
            FindingsError: every mistake of its files.
        """
        return self.specs(endpoint)

    def readable_specs(self) -> list[LoadedSpec]:
        """The specs without mistakes; those of other endpoints are reported where they are resolved."""
        specs = map(self.specs.readable, self.endpoints)
        return [spec for spec in specs if spec is not None]

    def lock(self, endpoint: str) -> Lock:
        """An endpoint's lock.

        Raises:
            FindingsError: it is missing or does not hold what a lock holds.
        """
        return self.fleet.lock(self.lock_file(endpoint))

    def readable_lock(self, endpoint: str) -> Lock | None:
        """An endpoint's lock; None where it is missing or broken, which is reported where it is resolved."""
        return self.fleet.lock.readable(self.lock_file(endpoint))

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
        return self.fleet.lock_file(self.environment.environment, endpoint)

    @cached_property
    def origins(self) -> tuple[Project, ...]:
        """The environments that a change passes before this one, the nearest first; the last follows main.

        Raises:
            FindingsError: one of them is wrong, or does not exist.
        """
        chain = {self.environment.environment: self}  # a circle in it is a finding of `fleet check`
        while (name := [*chain.values()][-1].environment.promoted_from) and name not in chain:
            chain[name] = self.fleet.open(name)
        return tuple(chain.values())[1:]

    @cached_property
    def following_main(self) -> Project:
        """The environment as it would be if it followed the specs in model_specs/."""
        layering, files = self.draft_layering, self.fleet.specs.by_endpoint
        return replace(
            self, layering=layering, spec_files=files, specs=_spec_cache(self.fleet, layering, files)
        )

    @cached_property
    def draft_layering(self) -> Layering:
        """How specs in model_specs/ are merged, also where the environment has promoted ones."""
        return Layering(self.fleet, self.environment_source, self.fleet.environments)

    @property
    def locks(self) -> Path:
        """The folder with its locks."""
        return self.root / LOCKS / self.environment.environment


class Fleet(FleetFiles):
    """A fleet that is open: its files, each parsed once, and its environments."""

    def __init__(self, root: Path) -> None:
        """Read nothing yet."""
        super().__init__(root)
        self._projects = dict[str, Project]()

    def open(self, environment: str, endpoints: Sequence[str] = (), elsewhere: Sequence[str] = ()) -> Project:
        """One environment with the endpoints that are named, else with all that it has.

        `elsewhere` names endpoints whose specs are in other places; the environment may have overrides for
        them.

        Raises:
            FindingsError: a name has no file, the environment does not have an endpoint that is named, or it
                is wrong; then what is wrong with the specs is reported as well.
        """
        if environment not in self._projects:
            self._projects[environment] = self._read_project(environment, endpoints)
        project = self._projects[environment]
        all_names = [*project.spec_files, *project.absent]
        selection = tuple(require_member(name, all_names, "endpoint") for name in dict.fromkeys(endpoints))
        if absent := [project.absent[name] for name in selection if name in project.absent]:
            raise FindingsError(absent)
        names = {*self.specs.by_endpoint, *all_names, *elsewhere}
        strays = _stray_overrides(project.environment, project.environment_source, names)
        return replace(
            project, endpoints=selection or project.endpoints, findings=(*project.findings, *strays)
        )

    def _read_project(self, environment: str, endpoints: Sequence[str]) -> Project:
        """An environment with all of its endpoints; if it is wrong, those that are named are looked at."""
        require_own_folders(self.root, environment)
        file = self.environment_file(require_member(environment, self.environments, "environment"))
        names = list(self.specs.by_endpoint)
        findings, source = [*_overlooked_files(self.root), *self.specs.findings], Source(file, {})
        try:
            source = self.source(file)
            settings = self.environment(environment)
            _named_as_its_file(source, "environment", settings.environment)
        except FindingsError as error:
            # Without the environment's defaults only the specs' own YAML can be checked.
            selection = tuple(require_member(name, names, "endpoint") for name in dict.fromkeys(endpoints))
            cache = _spec_cache(self, Layering(self, source, self.environments), self.specs.by_endpoint)
            look = cache if source.data else lambda name: self.source(self.specs.by_endpoint[name])
            all_of(selection or names, look, error.findings + findings)
            raise
        layering = Layering(self, source, self.environments, is_expanded=settings.promoted_from is not None)
        members = members_of(self, settings, source)
        return Project(
            self,
            settings,
            source,
            tuple(members.files),
            (*findings, *members.findings),
            layering,
            members.files,
            _spec_cache(self, layering, members.files),
            members.absent,
            members.unpromoted_names,
            members.absent_in_main,
        )


def open_project(root: Path, environment: str, endpoints: Sequence[str] = ()) -> Project:
    """Open a fleet for one of its environments, as `Fleet.open` does.

    Raises:
        FindingsError: likewise.
    """
    return Fleet(root).open(environment, endpoints)


def _spec_cache(
    fleet: FleetFiles, layering: Layering, files: Mapping[str, Path]
) -> ReadCache[str, LoadedSpec]:
    return ReadCache(lambda endpoint: _load_spec(endpoint, fleet.source(files[endpoint]), layering))


def _load_spec(endpoint: str, source: Source, layering: Layering) -> LoadedSpec:
    if "endpoint" not in source.data and endpoint.strip("_-").lower() in ("folder", "folders"):
        message = f"the key `endpoint` is missing; a file for all specs of its folder is called {FOLDER}"
        raise FindingsError([finding_at(source.mark(()), "FL111", message, f"rename it to {FOLDER}")])
    spec = load_spec(source, layering)
    _named_as_its_file(spec.source, "endpoint", spec.spec.endpoint, endpoint)
    return spec


def load_spec(source: Source, layering: Layering) -> LoadedSpec:
    """A spec merged with its layers.

    Raises:
        FindingsError: every key and value that does not fit, or what is wrong with a layer.
    """
    layers, findings_of_layers = layering.readable_layers(source)
    whole = merged_source(source, layers)
    if findings_of_layers:
        places = {finding.place for finding in findings_of_layers}
        mistakes = certain_mistakes(EndpointSpec, whole)
        raise FindingsError([*findings_of_layers, *(item for item in mistakes if item.place not in places)])
    spec = validate(EndpointSpec, whole)
    if findings := list(kept_tags(layering.environment, layers)):
        raise FindingsError(findings)
    return LoadedSpec(spec, whole, layers)


def _named_as_its_file(source: Source, key: str, name: str, stem: str = "") -> None:
    stem = stem or source.file.stem
    if name != stem:
        mark = source.mark((key,))
        message = f"`{key}` is {name!r} in a file called {source.file.name}"
        hint = f"write `{key}: {stem}`, or rename the file"
        raise FindingsError([finding_at(mark, "FL113", message, hint)])


def require_member(name: str, names: list[str], noun: str) -> str:
    """A name that exists.

    Raises:
        FindingsError: it does not.
    """
    if name in names:
        return name
    message = f"there is no {noun} {name!r}" if name else f"no {noun} was named"
    hint = did_you_mean(name, names, whole_list=True)
    raise FindingsError([Finding(code="FL120", message=message, hint=hint)])


def _stray_overrides(settings: Environment, source: Source, names: set[str]) -> list[Finding]:
    strays = []
    for name in settings.overrides:
        if name not in names:
            mark = source.mark(("overrides", name))
            message = f"`overrides` names an endpoint that has no spec: {name!r}"
            strays.append(finding_at(mark, "FL120", message, did_you_mean(name, names)))
    return strays


def _overlooked_files(root: Path) -> list[Finding]:
    return [file for folder in ("environments", PROFILES) for file in yaml_stems(root / folder)[1]]
