"""A Dockerfile becomes an image: files are copied and settings are made, and no command is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fleet.images.dockerfile import PREDEFINED, Dockerfile, Stage
from fleet.images.instruction import Instruction, assignments
from fleet.images.substitution import UnresolvedError, substitute
from fleet_emulator.stand_ins.docker.file_tree import FileTree, TreeError
from fleet_emulator.stand_ins.docker.image import Image, MediaTypes, assembled_image
from fleet_emulator.stand_ins.docker.output import DockerError, report
from fleet_emulator.stand_ins.docker.stage import StageState
from fleet_emulator.stand_ins.docker.store import ImageStore

SCRATCH = "scratch"


@dataclass(frozen=True, kw_only=True)
class BuildInput:
    """What a build is given.

    Attributes:
        context: The files of the build context, without those that .dockerignore excludes.
        arguments: Build arguments.
        labels: That the image gets besides its own.
        target: The name of the stage to stop at; empty for the last.
        types: Of the manifest.
        find: The image of a name.
    """

    dockerfile: Dockerfile
    context: FileTree
    arguments: Mapping[str, str]
    labels: Mapping[str, str]
    target: str
    types: MediaTypes
    find: Callable[[str], Image]


@dataclass
class _Build:
    given: BuildInput
    store: ImageStore
    globals: dict[str, str] = field(default_factory=dict)
    states: list[tuple[Stage, StageState]] = field(default_factory=list)


def assemble_image(given: BuildInput, store: ImageStore) -> Image:
    """Assemble the image of a Dockerfile.

    Raises:
        DockerError: an instruction is one that the stand-in does not have, or docker would refuse it too; the
            message names file and line.
    """
    build = _Build(given, store)
    _declare_globals(build)
    for stage in given.dockerfile.stages:
        _assemble_stage(build, stage)
        if given.target and given.target.lower() in (stage.name, str(stage.index)):
            break
    else:
        if given.target:
            raise DockerError(f"target stage {given.target!r} could not be found")
    state = build.states[-1][1]
    config = dict(state.config)
    if given.labels:
        config["Labels"] = {**config.get("Labels", {}), **given.labels}
    if idle := sorted(given.arguments.keys() - state.consumed - build.globals.keys() - PREDEFINED.keys()):
        report(f"[Warning] one or more build-args {idle} were not consumed")
    return assembled_image(config, state.layers, state.history, build.given.types)


def _declare_globals(build: _Build) -> None:
    """The arguments before the first FROM."""
    dockerfile = build.given.dockerfile
    for each in dockerfile.instructions:
        if each.keyword == "FROM":
            return
        for name, default in assignments(each):
            value = build.given.arguments.get(name)
            if value is None and default is not None:
                value = _resolve(build, each, default)
            if value is not None:
                build.globals[name] = value


def _assemble_stage(build: _Build, stage: Stage) -> None:
    dockerfile = build.given.dockerfile
    name = _resolve(build, stage.start, stage.base)
    state = _base_state(build, stage, name)
    build.states.append((stage, state))
    total = len(stage.instructions)
    where = stage.name or f"stage-{stage.index}"
    report(f"[{where} 0/{total}] FROM {name}")
    for number, each in enumerate(stage.instructions, 1):
        report(f"[{where} {number}/{total}] {each.keyword} {each.raw}")
        try:
            state.follow(each, build.given.context, lambda text: _other_tree(build, text))
        except (DockerError, TreeError, UnresolvedError) as error:
            lines = error.args if isinstance(error, DockerError) else (str(error),)
            raise DockerError(
                *(f"{dockerfile.file}:{each.line}: {each.keyword}: {line}" for line in lines)
            ) from error


def _base_state(build: _Build, stage: Stage, name: str) -> StageState:
    platform = stage.start.flag("platform")
    place = f"{build.given.dockerfile.file}:{stage.start.line}: FROM"
    if platform and _resolve(build, stage.start, platform) != PREDEFINED["TARGETPLATFORM"]:
        raise DockerError(f"{place}: the stand-in assembles images of {PREDEFINED['TARGETPLATFORM']} alone")
    if not name:
        raise DockerError(f"{place}: base name ({stage.base}) should not be blank")
    new = StageState(
        build.store,
        escape=build.given.dockerfile.escape,
        globals=build.globals,
        given=build.given.arguments,
    )
    if name == SCRATCH:
        return new
    for earlier, state in reversed(build.states):
        if earlier.name and earlier.name == name.lower():
            return state.copy()
    try:
        image = build.given.find(name)
    except DockerError as error:
        raise DockerError(*(f"{place}: {line}" for line in error.args)) from error
    new.start_from(image)
    return new


def _other_tree(build: _Build, name: str) -> FileTree:
    """The file system that a `--from` names: a stage by its name or number, or an image."""
    for earlier, state in reversed(build.states[:-1]):
        if name.lower() in (earlier.name, str(earlier.index)):
            return state.tree
    return build.store.tree(build.given.find(name))


def _resolve(build: _Build, instruction: Instruction, text: str) -> str:
    values = {**PREDEFINED, **build.globals}
    try:
        return substitute(text, values, build.given.dockerfile.escape).text
    except UnresolvedError as error:
        place = f"{build.given.dockerfile.file}:{instruction.line}"
        raise DockerError(f"{place}: {instruction.keyword}: {error}") from error
