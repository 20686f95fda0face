"""A Dockerfile, read without running anything: directives, instructions, stages and their base images.

Sources: https://docs.docker.com/reference/dockerfile/ and the order in which moby/buildkit
(frontend/dockerfile/parser) joins lines: comments between continued lines are dropped, empty ones too.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from triton_fleet.builds.images.instruction import KEYWORDS, Escape, Instruction, assignments
from triton_fleet.builds.images.lines import (
    MAX_WORD_CHARACTERS,
    Directive,
    InstructionLines,
    LineNotes,
    quote,
)
from triton_fleet.builds.images.substitution import Substitution, UnresolvedError, substitute
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.image import PLATFORM, TRITON_IMAGE
from triton_fleet.spec.problems import did_you_mean

DOCKERFILE = "Dockerfile"
MAX_DOCKERFILE_BYTES = 1 << 20
_OS, _ARCHITECTURE = PLATFORM.split("/")
BUILDKIT_VALUES: Mapping[str, str] = {
    f"{side}{name}": value
    for side in ("BUILD", "TARGET")
    for name, value in {"PLATFORM": PLATFORM, "OS": _OS, "ARCH": _ARCHITECTURE, "VARIANT": ""}.items()
}
"""What BuildKit sets before the first FROM, for the platform of the build."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One stage: a FROM and what follows it.

    Attributes:
        index: From 0, as `COPY --from=0` counts.
        base: As the FROM names it.
        image: With the values of variables; None where it cannot be worked out.
        unset: Variables of the base that have no value.
        below: The index of the earlier stage that is the base; None for an image.
        name: In lower case, as Docker compares it; "" for none.
        platform: With the values of variables; "" where the FROM has none, or it cannot be worked out.
        start: The FROM itself.
        instructions: All behind the FROM.
    """

    index: int
    base: str
    image: str | None
    unset: frozenset[str]
    below: int | None
    name: str
    platform: str
    start: Instruction
    instructions: tuple[Instruction, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Dockerfile:
    """Contents of a Dockerfile.

    Attributes:
        file: As messages name it.
        directives: By their names in lower case.
        escape: What continues a line.
        globals: Arguments before the first FROM, with their values; None for one without a value.
        arguments: The build arguments that it was read with, without TRITON_IMAGE.
        triton_image: The value of that one.
        instructions: All of them, in their order.
        stages: In their order; the last one becomes the image.
        findings: What cannot be read or built.
        digest: `sha256:...` of the file; "" for a text that is in none.
    """

    file: Path
    directives: Mapping[str, Directive]
    escape: Escape
    globals: Mapping[str, str | None]
    arguments: Mapping[str, str]
    triton_image: str
    instructions: tuple[Instruction, ...]
    stages: tuple[Stage, ...]
    findings: tuple[Finding, ...]
    digest: str = ""

    def stage(self, name: str) -> Stage | None:
        """The stage of a name, in any case; the last one of several, as for Docker."""
        return self._stages.get(name.lower())

    @cached_property
    def lineage(self) -> tuple[Stage, ...]:
        """The stages whose contents and settings the image has, from its base on; none without a FROM."""
        stages = list(self.stages[-1:])
        while stages and (below := stages[-1].below) is not None:
            stages.append(self.stages[below])
        return tuple(reversed(stages))

    @cached_property
    def _stages(self) -> Mapping[str, Stage]:
        return {stage.name: stage for stage in self.stages if stage.name}


def read_dockerfile(folder: Path, *, triton_image: str, arguments: Mapping[str, str]) -> Dockerfile:
    """The Dockerfile of a folder.

    Args:
        folder: The folder of the build context, with a file `Dockerfile`.
        triton_image: What the build passes as TRITON_IMAGE.
        arguments: The other build arguments.

    Raises:
        FindingsError: it does not exist, is a link, or is not a text that Docker takes.
    """
    file = folder / DOCKERFILE
    content = _read(folder, file)
    if len(content) > MAX_DOCKERFILE_BYTES:
        message = f"the Dockerfile is larger than {MAX_DOCKERFILE_BYTES >> 20} MiB"
        raise FindingsError([Finding(code="FL921", message=message, file=file)])
    if b"\0" in content:
        line = content[: content.index(b"\0")].count(b"\n") + 1
        message = "the Dockerfile contains a NUL byte, so it is not text"
        raise FindingsError([Finding(code="FL921", message=message, file=file, line=line)])
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        problem = Finding(code="FL921", message="the Dockerfile is not in UTF-8", file=file, line=line)
        raise FindingsError([problem]) from error
    dockerfile = parse_dockerfile(text, file, triton_image=triton_image, arguments=arguments)
    return replace(dockerfile, digest=f"sha256:{hashlib.sha256(content).hexdigest()}")


def parse_dockerfile(text: str, file: Path, *, triton_image: str, arguments: Mapping[str, str]) -> Dockerfile:
    """The content of a Dockerfile; what is wrong with it is among its findings."""
    return _Parser(text, file, triton_image, arguments).parse()


def _read(folder: Path, file: Path) -> bytes:
    try:
        if file.is_symlink():
            message, hint = (
                "the Dockerfile is a link, so its content is not sent",
                "replace the link with the file",
            )
            raise FindingsError([Finding(code="FL920", message=message, file=file, hint=hint)])
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as content:
            if stat.S_ISREG(os.fstat(handle).st_mode):
                return content.read(MAX_DOCKERFILE_BYTES + 1)
        problem = "is not a file"
    except FileNotFoundError:
        problem = "does not exist"
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    hint = f"write {file} with `ARG {TRITON_IMAGE}`, `FROM ${{{TRITON_IMAGE}}}` and what the image adds"
    raise FindingsError([Finding(code="FL920", message=f"{file} {problem}", file=folder, hint=hint)])


def _flags_without_value(instruction: Instruction) -> list[str]:
    """The flags that read an image and name none: to some builder the next word may be its name."""
    flags = (instruction.trigger or instruction).flags
    return [name for name, value in flags if name in ("from", "mount") and not value]


class _Parser:
    def __init__(self, text: str, file: Path, triton_image: str, arguments: Mapping[str, str]) -> None:
        self._notes = LineNotes(file)
        self._lines = InstructionLines(text, self._notes)
        self._file, self._triton_image, self._arguments = file, triton_image, arguments
        self._values = {**BUILDKIT_VALUES}
        self._globals: dict[str, str | None] = {}
        self._names: dict[str, int] = {}

    def parse(self) -> Dockerfile:
        instructions = tuple(self._lines.instructions())
        stages = tuple(self._stages(instructions))
        if not stages:
            hint = f"begin with `ARG {TRITON_IMAGE}` and `FROM ${{{TRITON_IMAGE}}}`"
            self._notes.add("FL922", "the Dockerfile has no FROM, so it builds no image", None, hint)
        return Dockerfile(
            file=self._file,
            directives=self._lines.directives,
            escape=self._lines.escape,
            globals=self._globals,
            arguments=self._arguments,
            triton_image=self._triton_image,
            instructions=instructions,
            stages=stages,
            findings=tuple(self._notes.findings),
        )

    def _stages(self, instructions: tuple[Instruction, ...]) -> Iterator[Stage]:
        stage: Stage | None = None
        inside = list[Instruction]()
        for instruction in instructions:
            self._check(instruction, before_first=stage is None)
            if instruction.keyword == "FROM":
                if stage:
                    yield replace(stage, instructions=tuple(inside))
                inside.clear()
                stage = self._stage(instruction, stage.index + 1 if stage else 0)
            elif stage:
                inside.append(instruction)
            elif instruction.keyword == "ARG":
                self._declare(instruction)
        if stage:
            yield replace(stage, instructions=tuple(inside))

    def _check(self, instruction: Instruction, *, before_first: bool) -> None:
        keyword, line = instruction.keyword, instruction.line
        if keyword not in KEYWORDS:
            if not self._notes.full:
                word = keyword[:MAX_WORD_CHARACTERS]
                self._notes.add(
                    "FL923",
                    f"{word!r} is not an instruction of a Dockerfile",
                    line,
                    did_you_mean(word, KEYWORDS),
                )
        elif not instruction.raw:
            self._notes.add("FL921", f"{keyword} has no arguments", line)
        elif unset := _flags_without_value(instruction):
            hint = f"write `--{unset[0]}=...`, with the equals sign"
            self._notes.add("FL921", f"the flag `--{unset[0]}` of {keyword} has no value", line, hint)
        elif before_first and keyword not in ("ARG", "FROM"):
            hint = f"move it below `FROM ${{{TRITON_IMAGE}}}`"
            self._notes.add(
                "FL922", f"{keyword} comes before the first FROM, so it belongs to no stage", line, hint
            )

    def _declare(self, instruction: Instruction) -> None:
        for name, default in assignments(instruction):
            value = {**self._arguments, TRITON_IMAGE: self._triton_image}.get(name)
            if value is None and default is not None:
                value = self._resolve(default, instruction).text
            self._globals[name] = value
            if value is not None:
                self._values[name] = value

    def _stage(self, instruction: Instruction, index: int) -> Stage:
        base, *alias = instruction.arguments or ("",)
        is_well_formed = not alias or (len(alias) == 2 and alias[0].upper() == "AS")
        if base and not is_well_formed:
            message = f"FROM has {quote(' '.join(instruction.arguments))}"
            self._notes.add("FL921", message, instruction.line, "write `FROM IMAGE` or `FROM IMAGE AS NAME`")
        name = alias[1].lower() if len(alias) == 2 else ""
        substitution = self._resolve(base, instruction)
        platform = instruction.flag("platform")
        below = self._names.get(substitution.text.lower())
        if name:
            self._names[name] = index
        return Stage(
            index=index,
            base=base,
            image=substitution.text or None,
            unset=substitution.unset,
            below=below,
            name=name,
            platform=self._resolve(platform, instruction).text if platform else "",
            start=instruction,
        )

    def _resolve(self, text: str, instruction: Instruction) -> Substitution:
        try:
            return substitute(text, self._values, self._lines.escape)
        except UnresolvedError as error:
            message = f"{quote(text)} of {instruction.keyword} cannot be resolved: {error}"
            self._notes.add(
                "FL921", message, instruction.line, "write the value, or `${NAME}` with a plain default"
            )
            return Substitution("", frozenset())
