"""The stand-in's commands: what docker takes, with its exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from fleet.spec.image import PLATFORM
from fleet_emulator.stand_ins.docker.arguments import read_arguments
from fleet_emulator.stand_ins.docker.base_image import NOTE, release_image
from fleet_emulator.stand_ins.docker.build import build_image
from fleet_emulator.stand_ins.docker.container_files import run_program
from fleet_emulator.stand_ins.docker.image import Image, encode
from fleet_emulator.stand_ins.docker.layer import write_tar
from fleet_emulator.stand_ins.docker.output import FAILED, NAME, DockerError, answer, data, report
from fleet_emulator.stand_ins.docker.reference import read_reference, release_of, with_tag
from fleet_emulator.stand_ins.docker.registry import EcrRepository
from fleet_emulator.stand_ins.docker.store import STORE, ImageStore
from fleet_emulator.stand_ins.docker.template import formatted
from fleet_emulator.stand_ins.engines.calls import record_call

VERSION = "0.0.0-stand-in"


def run() -> None:
    """Answer as a process."""
    record_call()
    sys.exit(Docker(os.environ, sys.stdin).answer(sys.argv[1:]))


class Docker:
    """The stand-in with an environment, which names its store, and stdin, which has the token of a login."""

    def __init__(self, environ: Mapping[str, str], stdin: IO[str]) -> None:
        self._environ, self._stdin = environ, stdin

    def answer(self, arguments: Sequence[str]) -> int:
        """Carry a call out; its exit code."""
        try:
            call = read_arguments(arguments)
            folder = self._environ.get(STORE, "")
            if not folder:
                raise DockerError(f"the variable {STORE} names no folder for images")
            self._store = ImageStore(Path(folder))
            result: int = getattr(self, f"_{call.command}")(call)
        except DockerError as error:
            for line in error.args:
                report(f"ERROR: {line}")
            return error.code
        except OSError as error:
            report(f"ERROR: {error}")
            return FAILED
        return result

    def _version(self, call: argparse.Namespace) -> int:
        system, _, processor = PLATFORM.partition("/")
        about = {"Version": VERSION, "Os": system, "Arch": processor, "Platform": {"Name": NAME}}
        return self._show({"Client": about, "Server": about}, call.format)

    def _info(self, call: argparse.Namespace) -> int:
        about = {"ServerVersion": VERSION, "OSType": "linux", "Architecture": "x86_64", "Name": NAME}
        return self._show(about, call.format)

    def _show(self, document: Mapping[str, Any], template: str) -> int:
        if template:
            data(formatted(document, template))
        else:
            answer(encode(document).decode())
        return 0

    def _login(self, call: argparse.Namespace) -> int:
        if not call.password_stdin:
            raise DockerError("the stand-in takes the token from stdin: write --password-stdin")
        if not call.username or not self._stdin.read().strip():
            raise DockerError("the username or the token on stdin is empty")
        self._store.log_in(call.registry.removeprefix("https://"))
        answer("Login Succeeded; the stand-in does not verify the token")
        return 0

    def _logout(self, call: argparse.Namespace) -> int:
        answer(f"Removing login credentials for {call.name}")
        self._store.log_out(call.name.removeprefix("https://"))
        return 0

    def _build(self, call: argparse.Namespace) -> int:
        names = [with_tag(read_reference(each)) for each in call.tag]
        image = build_image(call, self._environ, self._store, self._found_or_pulled)
        self._store.add_image(image, *names)
        if call.iidfile:
            Path(call.iidfile).write_text(image.id, encoding="utf-8")
        report(f"writing image {image.id}, of which no command was run")
        for name in names:
            report(f"naming to {name}")
        if call.quiet:
            data(image.id)
        return 0

    def _inspect(self, call: argparse.Namespace) -> int:
        documents = []
        for name in call.names:
            image = self._image(name)
            tags, digests = self._store.names_of(image)
            documents.append(image.inspection(tags=tags, digests=digests))
        if call.format:
            for each in documents:
                data(formatted(each, call.format))
        else:
            data(f"[{','.join(encode(each).decode() for each in documents)}]")
        return 0

    def _pull(self, call: argparse.Namespace) -> int:
        image = self._pulled(call.name)
        answer(f"Digest: {image.digest}")
        answer(f"Status: Downloaded {call.name}")
        return 0

    def _push(self, call: argparse.Namespace) -> int:
        reference = with_tag(read_reference(call.name))
        image = self._image(call.name)
        answer(f"The push refers to repository [{reference.place}]")
        digest = EcrRepository(reference, self._store).push(image)
        self._store.add_digest(reference, digest)
        answer(f"{reference.tag}: digest: {digest} size: {len(image.manifest)}")
        return 0

    def _tag(self, call: argparse.Namespace) -> int:
        self._store.add_image(self._image(call.name), read_reference(call.target))
        return 0

    def _create(self, call: argparse.Namespace) -> int:
        data(self._store.add_container(self._found_or_pulled(call.name)))
        return 0

    def _export(self, call: argparse.Namespace) -> int:
        image = self._store.container(call.container)
        if image is None:
            raise DockerError(f"No such container: {call.container}")
        tree = self._store.tree(image)
        if call.output:
            with Path(call.output).open("wb") as target:
                write_tar(tree, target)
        else:
            write_tar(tree, sys.stdout.buffer)
            sys.stdout.flush()
        return 0

    def _rm(self, call: argparse.Namespace) -> int:
        for id in call.containers:
            if self._store.container(id) is None:
                raise DockerError(f"No such container: {id}")
            self._store.remove_container(id)
            data(id)
        return 0

    def _run(self, call: argparse.Namespace) -> int:
        image = self._found_or_pulled(call.name)
        report(f"nothing runs in a container: the answer is read from the files of {call.name}")
        return run_program(call.entrypoint, call.arguments, self._store.tree(image))

    def _image(self, name: str) -> Image:
        image = self._store.image(name)
        if image is None:
            raise DockerError(f"No such image: {name}")
        return image

    def _found_or_pulled(self, name: str) -> Image:
        return self._store.image(name) or self._pulled(name)

    def _pulled(self, name: str) -> Image:
        reference = with_tag(read_reference(name))
        if tag := release_of(reference):
            report(f"{reference}: {NOTE}")
            image = release_image(reference, tag, self._store)
        else:
            image = EcrRepository(reference, self._store).pull()
            self._store.add_digest(reference, image.digest)
        self._store.add_image(image, reference)
        return image
