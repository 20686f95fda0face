"""A stage while it is assembled: its files, its settings, and what each instruction makes of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from fleet.images.dockerfile import PREDEFINED
from fleet.images.instruction import Escape, Instruction, assignments
from fleet.images.substitution import substitute
from fleet.repository.reading.entry_path import path_problem
from fleet_emulator.stand_ins.docker.copy_sources import copy_sources
from fleet_emulator.stand_ins.docker.file_tree import FOLDER, FileTree
from fleet_emulator.stand_ins.docker.image import CREATED, Image
from fleet_emulator.stand_ins.docker.layer import Layer
from fleet_emulator.stand_ins.docker.output import DockerError, report
from fleet_emulator.stand_ins.docker.python_packages import package_entries, pinned_packages
from fleet_emulator.stand_ins.docker.store import ImageStore

DEFAULT_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What docker sets in an image from scratch."""
FLAGS: Mapping[str, frozenset[str]] = {
    "ADD": frozenset({"chmod", "chown"}),
    "COPY": frozenset({"from", "chmod", "chown"}),
    "FROM": frozenset({"platform"}),
    "RUN": frozenset({"mount", "network"}),
}
_PORT = re.compile(r"(\d{1,5})(?:/(tcp|udp|sctp))?")
_REMOTE = re.compile(r"[a-z0-9+.-]+://|git@")
OtherTree = Callable[[str], FileTree]


class StageState:
    """A stage's state; `globals` are arguments before the first FROM, `given` those of the build."""

    def __init__(
        self, store: ImageStore, *, escape: Escape, globals: Mapping[str, str], given: Mapping[str, str]
    ) -> None:
        self.tree = FileTree()
        self.config: dict[str, Any] = {"Env": [DEFAULT_PATH]}
        self.layers: list[Layer] = []
        self.history: list[dict[str, Any]] = []
        self.consumed: set[str] = set()
        self._store, self._escape, self._globals, self._given = store, escape, globals, given
        self._arguments: dict[str, str] = {}
        self._has_command = False

    def start_from(self, image: Image) -> None:
        """Begin with an image's files and settings."""
        read = image.configuration
        self.tree = self._store.tree(image)
        self.config = deepcopy(read.get("config", {}))
        self.layers, self.history = list(image.layers), deepcopy(read.get("history", []))

    def copy(self) -> StageState:
        """A stage that begins with this one's files, settings and arguments."""
        other = StageState(self._store, escape=self._escape, globals=self._globals, given=self._given)
        other.tree.update(self.tree)
        other.config, other.history = deepcopy(self.config), deepcopy(self.history)
        other.layers, other.consumed = list(self.layers), set(self.consumed)
        other._arguments = dict(self._arguments)
        return other

    def follow(self, instruction: Instruction, context: FileTree, other_tree: OtherTree) -> None:
        """Carry an instruction out.

        Raises:
            DockerError: the stand-in does not have the instruction or a flag of it, or its value is wrong.
            TreeError: a source of COPY does not exist, or something is in its way.
            UnresolvedError: a variable's value cannot be worked out.
        """
        keyword, before = instruction.keyword, len(self.layers)
        if unknown := [name for name, _ in instruction.flags if name not in FLAGS.get(keyword, ())]:
            raise DockerError(f"the stand-in does not have the flag --{unknown[0]}")
        match keyword:
            case "ARG":
                self._declare(instruction)
            case "ENV":
                self._set_variables(instruction)
            case "LABEL":
                labels = {
                    self._value(name): self._value(value or "") for name, value in assignments(instruction)
                }
                self.config["Labels"] = {**self.config.get("Labels", {}), **labels}
            case "COPY" | "ADD":
                self._copy(instruction, context, other_tree)
            case "WORKDIR":
                self._change_folder(instruction)
            case "USER":
                self.config["User"] = self._value(instruction.raw)
            case "EXPOSE":
                self._expose(instruction)
            case "ENTRYPOINT" | "CMD":
                self._set_command(instruction)
            case "RUN":
                self._pass_over(instruction)
            case _:
                raise DockerError("the stand-in does not have this instruction; docker in AWS may have it")
        entry = {"created": CREATED, "created_by": f"{keyword} {instruction.raw}"}
        self.history.append(entry if len(self.layers) > before else {**entry, "empty_layer": True})

    @property
    def _folder(self) -> str:
        return str(self.config.get("WorkingDir", "/"))

    def _values(self) -> dict[str, str]:
        variables = (each.partition("=") for each in self.config.get("Env", []))
        return {**self._arguments, **{name: value for name, _, value in variables}}

    def _value(self, text: str) -> str:
        return substitute(text, self._values(), self._escape).text

    def _declare(self, instruction: Instruction) -> None:
        for name, default in assignments(instruction):
            self.consumed.add(name)
            value = self._given.get(name)
            if value is None and default is not None:
                value = self._value(default)
            if value is None:
                value = self._globals.get(name, PREDEFINED.get(name))
            if value is not None:
                self._arguments[name] = value

    def _set_variables(self, instruction: Instruction) -> None:
        """All of one ENV see the values from before it."""
        values = {self._value(name): self._value(value or "") for name, value in assignments(instruction)}
        known = dict(each.split("=", 1) for each in self.config.get("Env", []))
        self.config["Env"] = [f"{name}={value}" for name, value in {**known, **values}.items()]

    def _copy(self, instruction: Instruction, context: FileTree, other_tree: OtherTree) -> None:
        if instruction.heredocs:
            raise DockerError("the stand-in does not have here-documents")
        *sources, destination = [self._value(each) for each in instruction.arguments] or [""]
        if not sources:
            raise DockerError("it needs at least a source and a destination")
        if instruction.keyword == "ADD" and (remote := [each for each in sources if _REMOTE.match(each)]):
            raise DockerError(f"the stand-in does not download {remote[0]}")
        if instruction.flag("chown"):
            report("--chown has no effect: in an image of the stand-in, root owns everything")
        name = instruction.flag("from")
        self._add_layer(
            copy_sources(
                other_tree(self._value(name)) if name else context,
                sources,
                self.tree,
                destination if destination.startswith("/") else f"{self._folder}/{destination}",
                mode=_mode(instruction.flag("chmod")),
                archives=instruction.keyword == "COPY",
            )
        )

    def _add_layer(self, changes: FileTree) -> None:
        for path, _ in changes:
            if problem := path_problem(path):
                raise DockerError(f"the path {path!r} {problem}")
        self.layers.append(self._store.add_layer(changes))
        self.tree.update(changes)

    def _change_folder(self, instruction: Instruction) -> None:
        path = self._value(instruction.raw)
        if not path.startswith("/"):
            path = f"{self._folder}/{path}"
        real = self.tree.resolve(path)
        self.config["WorkingDir"] = f"/{_normal(path)}"
        if self.tree.get(real) is None:
            changes = FileTree()
            changes.put(real, FOLDER)
            self._add_layer(changes)

    def _expose(self, instruction: Instruction) -> None:
        ports = dict(self.config.get("ExposedPorts", {}))
        for each in instruction.arguments:
            found = _PORT.fullmatch(self._value(each))
            if found is None:
                raise DockerError(f"the stand-in takes one port, as 8080 or 8080/tcp, not {each!r}")
            ports[f"{found[1]}/{found[2] or 'tcp'}"] = {}
        self.config["ExposedPorts"] = ports

    def _set_command(self, instruction: Instruction) -> None:
        words = list(instruction.arguments)
        command = words if instruction.exec_form else ["/bin/sh", "-c", *words]
        self.config["Entrypoint" if instruction.keyword == "ENTRYPOINT" else "Cmd"] = command
        if instruction.keyword == "CMD":
            self._has_command = True
        elif not self._has_command:
            self.config.pop("Cmd", None)

    def _pass_over(self, instruction: Instruction) -> None:
        words = instruction.arguments
        heredocs = "\n".join(each.text for each in instruction.heredocs)
        command = heredocs or (" ".join(words) if instruction.exec_form else words[0] if words else "")
        report("not run: nothing that this command would do is in the image")
        packages = pinned_packages(command, self.tree, self._folder)
        changes = package_entries(packages, self.tree)
        for each in packages.others:
            report(f"the version of {each} is not known: nothing of it is in the image")
        if any(True for _ in changes):
            named = ", ".join(f"{name} {version}" for name, version in packages.versions.items())
            report(f"the image lists these packages, without their content: {named}")
            self._add_layer(changes)


def _mode(text: str | None) -> int | None:
    if text is None:
        return None
    if not re.fullmatch(r"[0-7]{3,4}", text):
        raise DockerError(f"--chmod has to be octal, as 755, not {text!r}")
    return int(text, 8)


def _normal(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
