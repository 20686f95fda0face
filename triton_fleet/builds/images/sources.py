"""Sources of COPY, ADD and RUN --mount: paths of the build context, other stages, images, URLs.

Source: https://docs.docker.com/reference/dockerfile/#copy: a path is relative to the context, even one that
begins with a slash, and `../` that leads out of it is removed. BuildKit accepts wildcards that match nothing.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator

from triton_fleet.builds.images.bases import check_image_name
from triton_fleet.builds.images.dockerfile import Stage
from triton_fleet.builds.images.ignore_file import SPECIAL, PatternError, parse_pattern
from triton_fleet.builds.images.inputs import ImageInputs, StageScope
from triton_fleet.builds.images.instruction import Instruction
from triton_fleet.builds.images.lines import MAX_SHOWN_CHARACTERS, MAX_WORD_CHARACTERS, quote
from triton_fleet.core.folders import PRIVATE_NAMES
from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.entry_path import MAX_PATH
from triton_fleet.spec.problems import did_you_mean

MAX_WILDCARDS = 100
"""Sources with wildcards that are compared with all files; further ones are not checked."""
MAX_NAMES = 100
"""Stages that are compared with an unknown name."""
_URL = re.compile(r"(https?://|git://|ssh://|git@)")
_STAGE_INDEX = re.compile(r"[0-9]{1,6}")


def check_sources(inputs: ImageInputs) -> Iterator[Finding]:
    """Each source of each stage."""
    sources = _Sources(inputs)
    for stage in inputs.dockerfile.stages:
        scope = StageScope(inputs.dockerfile)
        for instruction in stage.instructions:
            scope.pass_by(instruction)
            if instruction.keyword in ("ADD", "COPY"):
                yield from sources.check_copy(stage, instruction, scope)
            elif instruction.keyword == "RUN":
                yield from sources.check_mounts(stage, instruction, scope)
            elif instruction.trigger is not None:
                yield from sources.check_trigger(instruction.trigger, scope)


def _normal_path(source: str) -> str:
    return posixpath.normpath(source.lstrip("/") or ".")


def _leads_out(path: str) -> bool:
    return path == ".." or path.startswith("../")


class _Sources:
    def __init__(self, inputs: ImageInputs) -> None:
        self._inputs, self._context = inputs, inputs.context
        self._is_complete = not any(problem.code == "FL939" for problem in inputs.context.findings)
        self._wildcards = 0

    def check_copy(self, stage: Stage, instruction: Instruction, scope: StageScope) -> Iterator[Finding]:
        if len(instruction.arguments) < 2:
            if instruction.arguments:
                message = f"{instruction.keyword} needs a source and a destination"
                yield self._inputs.finding("FL921", message, instruction.line)
            return
        origin = instruction.flag("from")
        if origin is not None:
            yield from self._check_origin(stage, instruction, origin)
            return
        raw = instruction.arguments[:-1]
        local = list[str]()
        for source in filter(None, map(scope.resolve, raw)):
            if instruction.keyword == "COPY" or not _URL.match(source):
                local.append(source)
            elif instruction.flag("checksum") is None:
                yield self._url_finding(instruction, source)
        yield from self._check_paths(instruction, local, whole=len(local) == len(raw))

    def check_mounts(self, stage: Stage, instruction: Instruction, scope: StageScope) -> Iterator[Finding]:
        for mount in instruction.mounts():
            if mount.get("from"):
                yield from self._check_origin(stage, instruction, mount["from"])
                continue
            kind, source = scope.resolve(mount.get("type", "bind")), scope.resolve(mount.get("source", ""))
            if source and (kind or "").lower() == "bind":
                yield from self._check_mount(instruction, source)

    def check_trigger(self, instruction: Instruction, scope: StageScope) -> Iterator[Finding]:
        """The images and addresses of an ONBUILD; a later stage reads its paths."""
        origins = [mount.get("from") for mount in instruction.mounts()]
        if instruction.keyword in ("ADD", "COPY"):
            origins.append(instruction.flag("from"))
        for origin in filter(None, origins):
            yield from self._check_origin(None, instruction, origin)
        if instruction.keyword == "ADD" and instruction.flag("checksum") is None:
            for source in filter(None, map(scope.resolve, instruction.arguments[:-1])):
                if _URL.match(source):
                    yield self._url_finding(instruction, source)

    def _check_mount(self, instruction: Instruction, source: str) -> Iterator[Finding]:
        path = _normal_path(source)
        if _leads_out(path):
            yield self._outside_finding(instruction, source, path)
        elif self._is_complete and path != ".":
            yield from self._check_path(instruction, path)

    def _check_origin(self, stage: Stage | None, instruction: Instruction, origin: str) -> Iterator[Finding]:
        """A `from`: the number or the name of a stage, or an image; without `stage` a later one asks."""
        dockerfile, line = self._inputs.dockerfile, instruction.line
        if _STAGE_INDEX.fullmatch(origin):
            if stage is not None and int(origin) >= stage.index:
                message = f"there is no stage {origin} before this one, which is stage {stage.index}"
                yield self._inputs.finding("FL931", message, line, "stages count from 0; use their names")
            return
        origin_stage = dockerfile.stage(origin)
        if stage is not None and origin_stage is not None and origin_stage.index == stage.index:
            yield self._inputs.finding("FL931", f"the stage {quote(origin)} copies from itself", line)
        elif origin_stage is None and any(sign in origin for sign in "/:@$"):
            yield from check_image_name(self._inputs, origin, line)
        elif origin_stage is None:
            message = f"there is no stage {quote(origin)}, so Docker would download an image of that name"
            names = [stage.name for stage in dockerfile.stages[:MAX_NAMES] if stage.name]
            near = did_you_mean(origin[:MAX_WORD_CHARACTERS], names)
            hint = f"{near}; an image is written with its tag and digest"
            yield self._inputs.finding("FL931", message, line, hint)

    def _url_finding(self, instruction: Instruction, url: str) -> Finding:
        address = quote(re.sub(r"//[^/@]*@", "//", url.partition("?")[0]))
        message = f"ADD downloads {address} without a checksum, and its content may change"
        hint = "write `ADD --checksum=sha256:...`, or put the file into the build context"
        return self._inputs.finding("FL932", message, instruction.line, hint, Severity.WARNING)

    def _check_paths(self, instruction: Instruction, sources: list[str], *, whole: bool) -> Iterator[Finding]:
        absent_sources = list[str]()
        is_any = not whole
        for source in sources:
            path = _normal_path(source)
            if _leads_out(path):
                yield self._outside_finding(instruction, source, path)
                is_any = True
            elif not self._is_complete or path == ".":
                is_any = True
            elif SPECIAL.isdisjoint(path):
                is_any = True
                yield from self._check_path(instruction, path)
            elif instruction.flag("parents") is not None or self._wildcards == MAX_WILDCARDS:
                is_any = True
            else:
                self._wildcards += 1
                try:
                    is_matched = self._matches(path)
                except PatternError as error:
                    message = f"Docker refuses the pattern {quote(source)}: {error}"
                    yield self._inputs.finding("FL921", message, instruction.line)
                    is_matched = True
                is_any = is_any or is_matched
                absent_sources += [] if is_matched else [source]
        if absent_sources and not is_any:
            message = f"{instruction.keyword} copies nothing: {quote(absent_sources[0])} matches no file"
            hint = f"paths are relative to {self._inputs.folder}; .dockerignore may exclude the files"
            yield self._inputs.finding("FL929", message, instruction.line, hint, Severity.WARNING)

    def _matches(self, path: str) -> bool:
        pattern = parse_pattern(re.sub(r"\*{2,}", "*", path), 1)
        paths = (*self._context.copyable, *self._context.folders)
        return pattern is None or any(pattern.matches(candidate) for candidate in paths)

    def _outside_finding(self, instruction: Instruction, source: str, path: str) -> Finding:
        inside = re.sub(r"^(\.\.(/|$))+", "", path) or "."
        verb = "mount" if instruction.keyword == "RUN" else "copy"
        effect = f"so Docker would {verb} {quote(inside)}"
        message = f"{quote(source)} leads out of the build context, {effect}"
        hint = f"put the file into {self._inputs.folder}: a build reads nothing else"
        return self._inputs.finding("FL928", message, instruction.line, hint)

    def _check_path(self, instruction: Instruction, path: str) -> Iterator[Finding]:
        context, line = self._context, instruction.line
        if path in context.copyable or path in context.folders or self._is_behind_link(path):
            return
        if own := PRIVATE_NAMES.intersection(path.split("/")):
            message = f"{quote(path)} is not in the build context: no build gets {min(own)}"
            yield self._inputs.finding("FL930", message, line, "copy what you need to another name")
            return
        exists = os.path.lexists(context.folder / path)
        pattern = context.ignore_file.ignored_by(path) if exists else None
        if pattern is not None:
            excluder = quote(pattern.source_text)
            message = f"{quote(path)} is not in the build context: {excluder} excludes it"
            place = f"{context.ignore_file.file}:{pattern.line}"
            yield self._inputs.finding(
                "FL930", message, line, f"add `!{path[:MAX_SHOWN_CHARACTERS]}` below {place}"
            )
            return
        if exists and not (context.folder / path).is_dir():
            return  # a link or a device that the context reports
        if exists:
            message = f"the folder {quote(path)} is empty, or .dockerignore excludes its content"
            hint = "empty folders are not sent: create it with RUN mkdir, or put a file into it"
        else:
            message = f"{quote(path)} does not exist in the build context"
            name = path.rpartition("/")[2]
            near = (candidate for candidate in context.copyable if candidate.rpartition("/")[2] == name)
            hint = f"did you mean `{proposal}`?" if (proposal := next(near, "")) else ""
            hint = hint or f"paths are relative to {context.folder}"
        yield self._inputs.finding("FL929", message, line, hint)

    def _is_behind_link(self, path: str) -> bool:
        end = path.find("/") if len(path) <= MAX_PATH else -1
        while end != -1:
            entry = self._context.copyable.get(path[:end])
            if entry is not None and entry.target:
                return True
            end = path.find("/", end + 1)
        return False
