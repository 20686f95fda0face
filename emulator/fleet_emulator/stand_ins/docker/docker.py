"""The calls that the stand-in takes: those of the build script, engine_build/image_build/docker.py."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO, NoReturn

from botocore.exceptions import BotoCoreError, ClientError

from fleet_emulator.stand_ins.docker.build import build_image
from fleet_emulator.stand_ins.docker.files import FAILED, REFUSED, DockerError, data, report
from fleet_emulator.stand_ins.docker.image import Image, digest_of, encode
from fleet_emulator.stand_ins.docker.store import STORE, ImageStore
from triton_fleet.spec.image import PLATFORM
from triton_fleet.spec.image_name import ImageName, image_name


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise DockerError(f"{self.prog}: the stand-in does not take this call: {message}", code=REFUSED)


def read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The call, with `command` as its name.

    Raises:
        DockerError: the stand-in does not have the command, an option or a value of it.
    """
    parser = _Parser(prog="docker", add_help=False, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, *operands: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, add_help=False, allow_abbrev=False)
        for operand in operands:
            added.add_argument(operand)
        return added

    login = command("login", "registry")
    login.add_argument("--username", required=True)
    login.add_argument("--password-stdin", action="store_true", required=True)
    _declare_build(command("build", "context"))
    command("image").add_argument("action", choices=["inspect"])
    commands.choices["image"].add_argument("name")
    command("push", "name")
    command("create", "name", "program")
    command("export", "container")
    command("rm", "container")
    return parser.parse_args(arguments)


def _declare_build(build: argparse.ArgumentParser) -> None:
    build.add_argument("--tag", required=True)
    build.add_argument("--build-arg", action="append", default=[])
    # The one type of manifest that the stand-in writes is not the default of docker.
    build.add_argument("--output", choices=["type=docker"], required=True)
    build.add_argument("--provenance", choices=["false"], required=True)
    build.add_argument("--platform", choices=[PLATFORM], required=True)
    build.add_argument("--progress", choices=["plain"])
    build.add_argument("--pull", action="store_true")


def run() -> None:
    """Answer as a process."""
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
            getattr(self, f"_{call.command}")(call)
        except DockerError as error:
            for line in error.args:
                report(f"ERROR: {line}")
            return error.code
        except OSError as error:
            report(f"ERROR: {error}")
            return FAILED
        return 0

    def _login(self, call: argparse.Namespace) -> None:
        if not self._stdin.read().strip():
            raise DockerError("the token on stdin is empty")
        self._store.log_in(call.registry)
        report("Login Succeeded; the stand-in does not verify the token")

    def _build(self, call: argparse.Namespace) -> None:
        name = _image_name(call.tag)
        image = self._store.add_image(str(name), *build_image(call))
        report(f"writing image {image.id}, of which no command was run")
        report(f"naming to {name}")

    def _image(self, call: argparse.Namespace) -> None:
        data(f"[{encode(self._store.image(call.name).inspection()).decode()}]")

    def _push(self, call: argparse.Namespace) -> None:
        name, image = _image_name(call.name), self._store.image(call.name)
        if not self._store.is_logged_in(name.registry):
            raise DockerError(f"{name.place}: no basic auth credentials; run docker login first")
        report(f"{name.tag}: digest: {push_image(image, name)} size: {len(image.manifest)}")

    def _create(self, call: argparse.Namespace) -> None:
        data(self._store.add_container(call.name))

    def _export(self, call: argparse.Namespace) -> None:
        with self._store.container(call.container).tar.open("rb") as tar:
            shutil.copyfileobj(tar, sys.stdout.buffer)
        sys.stdout.flush()

    def _rm(self, call: argparse.Namespace) -> None:
        self._store.remove_container(call.container)
        data(call.container)


def _image_name(text: str) -> ImageName:
    name = image_name(text)
    if name is None or not name.tag or name.digest:
        raise DockerError(f"the stand-in takes the name of an image with its tag, not {text!r}")
    return name


_ECR = re.compile(r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?")


def push_image(image: Image, name: ImageName) -> str:
    """Upload what a repository of ECR lacks of an image; the digest that it knows the image by.

    Raises:
        DockerError: the name is not one of ECR, or the registry refuses it.
    """
    registry = _ECR.fullmatch(name.registry)
    if registry is None:
        raise DockerError(f"{name}: the stand-in reaches Amazon ECR alone")
    try:
        return _Repository(name, registry["account"], registry["region"]).push(image)
    except ClientError as error:
        code, text = (error.response["Error"].get(key, "") for key in ("Code", "Message"))
        raise DockerError(f"{name.place}: denied: {code}: {text}") from error
    except BotoCoreError as error:
        raise DockerError(f"{name.place}: the registry cannot be reached: {error}") from error


class _Repository:
    def __init__(self, name: ImageName, account: str, region: str) -> None:
        import boto3

        # A session of its own: boto3's default one keeps the keys of its first use.
        self._ecr = boto3.Session().client("ecr", region_name=region)
        self._name, self._place = name, {"registryId": account, "repositoryName": name.repository}

    def push(self, image: Image) -> str:
        with image.packed.open("rb") as layer:
            self._push_blob(image.layer, layer)
        self._push_blob(image.id, BytesIO(image.config))
        put = self._ecr.put_image(
            **self._place,
            imageManifest=image.manifest.decode(),
            imageTag=self._name.tag,
            imageDigest=digest_of(image.manifest),
        )
        return str(put["image"]["imageId"]["imageDigest"])

    def _push_blob(self, digest: str, blob: IO[bytes]) -> None:
        asked = self._ecr.batch_check_layer_availability(**self._place, layerDigests=[digest])
        if any(each["layerAvailability"] == "AVAILABLE" for each in asked["layers"]):
            report(f"{digest[7:19]}: Layer already exists")
            return
        started = self._ecr.initiate_layer_upload(**self._place)
        upload, first = started["uploadId"], 0
        for part in iter(partial(blob.read, started["partSize"]), b""):
            self._ecr.upload_layer_part(
                **self._place,
                uploadId=upload,
                partFirstByte=first,
                partLastByte=first + len(part) - 1,
                layerPartBlob=part,
            )
            first += len(part)
        self._ecr.complete_layer_upload(**self._place, uploadId=upload, layerDigests=[digest])
        report(f"{digest[7:19]}: Pushed")
