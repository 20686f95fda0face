"""`docker build`: the files and the settings of one stage; no command of the Dockerfile is run."""

from __future__ import annotations

import argparse
import posixpath
import re
import shlex
from pathlib import Path
from typing import Any

from fleet_emulator.stand_ins.docker.files import DockerError, ImageFile, ImageFiles, report
from fleet_emulator.stand_ins.docker.image import NOTE, base_image
from triton_fleet.builds.images.context import BuildContext, read_context
from triton_fleet.builds.images.dockerfile import Dockerfile, read_dockerfile
from triton_fleet.builds.images.inputs import StageScope
from triton_fleet.builds.images.instruction import Instruction, assignments
from triton_fleet.catalog.releases import pinned_version
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.image import TRITON_IMAGE

_WILDCARD = re.compile(r"[*?\[\\]")


def build_image(call: argparse.Namespace) -> tuple[dict[str, Any], ImageFiles]:
    """The settings and the files of the image of a Dockerfile.

    Raises:
        DockerError: docker would refuse it too, or the stand-in does not have an instruction; the message
            names file and line.
    """
    arguments = dict(_argument(text) for text in call.build_arg)
    folder, triton = Path(call.context), arguments.pop(TRITON_IMAGE, "")
    try:
        dockerfile = read_dockerfile(folder, triton_image=triton, arguments=arguments)
        context = read_context(folder)
    except FindingsError as error:
        raise _refusal(*error.findings) from error
    if findings := (*dockerfile.findings, *context.findings):
        raise _refusal(*findings)
    report(f"transferring context: {context.size} bytes in {len(context.entries)} files")
    return _Stage(dockerfile, context).assemble()


class _Stage:
    def __init__(self, dockerfile: Dockerfile, context: BuildContext) -> None:
        self._dockerfile, self._context = dockerfile, context
        self._scope = StageScope(dockerfile)

    def assemble(self) -> tuple[dict[str, Any], ImageFiles]:
        stage, *further_stages = self._dockerfile.stages
        if further_stages:
            raise self._error(further_stages[0].start, DockerError("the stand-in has one stage"))
        instructions = (stage.start, *stage.instructions)
        for number, instruction in enumerate(instructions, 1):
            report(f"[{number}/{len(instructions)}] {instruction.keyword} {instruction.raw}")
            try:
                self._follow(instruction, stage.image or "")
            except DockerError as error:
                raise self._error(instruction, error) from error
        return self._settings, self._files

    def _error(self, instruction: Instruction, error: DockerError) -> DockerError:
        place = f"{self._dockerfile.file}:{instruction.line}: {instruction.keyword}"
        return DockerError(*(f"{place}: {line}" for line in error.args))

    def _follow(self, instruction: Instruction, base: str) -> None:
        if instruction.flags:
            raise DockerError("the stand-in does not have flags")
        match instruction.keyword:
            case "FROM":
                self._settings, self._files, self._python = base_image(base)
                report(f"{base}: {NOTE}")
            case "ARG":
                self._declare(instruction)
            case "ENV":
                self._set_variables(instruction)
            case "LABEL":
                self._settings["Labels"] |= self._values(instruction)
            case "WORKDIR":
                self._settings["WorkingDir"] = folder = self._absolute(self._value(instruction.raw))
                if not self._files.is_folder(folder[1:]):
                    self._files.put(folder[1:], None)
            case "USER":
                self._settings["User"] = self._value(instruction.raw)
            case "COPY":
                self._copy(*map(self._value, instruction.arguments))
            case "RUN":
                self._pass_over(" ".join(instruction.arguments))
            case "CMD" | "ENTRYPOINT":
                self._set_command(instruction)
            case _:
                raise DockerError("the stand-in does not have this instruction")

    def _value(self, text: str) -> str:
        value = self._scope.resolve(text)
        if value is None:
            raise DockerError(f"{text!r} cannot be resolved by the ARG and ENV of the Dockerfile")
        return value

    def _values(self, instruction: Instruction) -> dict[str, str]:
        return {self._value(name): self._value(value or "") for name, value in assignments(instruction)}

    def _declare(self, instruction: Instruction) -> None:
        variables = {variable.partition("=")[0] for variable in self._settings["Env"]}
        if hidden_names := variables & {name for name, _ in assignments(instruction)}:
            raise DockerError(
                f"the stand-in does not have an ARG of a variable of the image: {min(hidden_names)}"
            )
        self._scope.pass_by(instruction)

    def _set_variables(self, instruction: Instruction) -> None:
        values = self._values(instruction)
        variables = dict(variable.split("=", 1) for variable in self._settings["Env"])
        self._settings["Env"] = [f"{name}={value}" for name, value in {**variables, **values}.items()]
        self._scope.pass_by(instruction)

    def _absolute(self, path: str) -> str:
        """An absolute path; docker's own begins with one slash."""
        return "/" + posixpath.normpath(posixpath.join(self._settings["WorkingDir"], path)).lstrip("/")

    def _copy(self, *operands: str) -> None:
        *sources, destination = operands or ("",)
        if not sources:
            raise DockerError("it needs at least a source and a destination")
        path = self._absolute(destination)[1:]
        is_folder = destination.endswith("/") or self._files.is_folder(path)
        if len(sources) > 1 and not destination.endswith("/"):
            raise DockerError(
                f"the destination of more than one source has to end with '/', not {destination!r}"
            )
        for source in sources:
            if _WILDCARD.search(source):
                raise DockerError(f"the stand-in does not have patterns, as {source!r}")
            # As in BuildKit: what leads out of the context begins at its root.
            name = posixpath.normpath(f"/{source}").lstrip("/")
            if name in self._context.copyable:
                self._put(name, f"{path}/{posixpath.basename(name)}".lstrip("/") if is_folder else path)
            elif not name or name in self._context.folders:
                if path:
                    self._files.put(path, None)
                for file in self._context.copyable:
                    if not name or file.startswith(f"{name}/"):
                        self._put(file, f"{path}/{file[len(name) :].lstrip('/')}".lstrip("/"))
            else:
                raise DockerError(f'"/{name}": not found')

    def _put(self, name: str, path: str) -> None:
        entry = self._context.copyable[name]
        if entry.target:
            raise DockerError(f"the stand-in does not copy links, as {name!r}")
        mode = 0o755 if entry.executable else 0o644
        self._files.put(path, ImageFile(mode=mode, source=self._context.folder / name))

    def _set_command(self, instruction: Instruction) -> None:
        words = list(instruction.arguments)
        name = "Entrypoint" if instruction.keyword == "ENTRYPOINT" else "Cmd"
        self._settings[name] = words if instruction.exec_form else ["/bin/sh", "-c", *words]

    def _pass_over(self, command: str) -> None:
        report("not run: nothing that this command would do is in the image")
        for name, version in pinned_packages(command).items():
            report(f"the image lists this package, without its content: {name} {version}")
            self._files.put(metadata_path(name, version, self._python), ImageFile())


def _argument(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise DockerError(f"the stand-in takes a build argument with its value alone, not {text!r}")
    return name, value


def _refusal(*findings: Finding) -> DockerError:
    return DockerError(*(line for finding in findings for line in str(finding).splitlines()))


_PIP = re.compile(r"(?:.*/)?pip[\d.]*")
_ENDS = frozenset(["&&", "||", ";", "|", "&"])


def pinned_packages(command: str) -> dict[str, str]:
    """Versions by name that the calls of `pip install` in a shell command pin; none if it cannot be read."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    versions: dict[str, str] = {}
    before, installs = "", False
    try:
        for word in lexer:
            if word in _ENDS:
                installs = False
            elif installs and (package := pinned_version(word)):
                versions[package[0]] = package[1]
            elif word == "install" and _PIP.fullmatch(before):
                installs = True
            before = word
    except ValueError:
        return {}
    return versions


def metadata_path(name: str, version: str, python: str) -> str:
    """Where pip of the image's own Python puts the METADATA of a package."""
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    return f"usr/local/lib/python{python}/dist-packages/{folder}/METADATA"
