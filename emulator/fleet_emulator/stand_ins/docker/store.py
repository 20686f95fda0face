"""The images, names, registries and containers that the stand-in knows, in a folder of one build."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fleet.spec.image_name import ImageName
from fleet_emulator.stand_ins.docker.file_tree import FileTree, TreeError
from fleet_emulator.stand_ins.docker.image import Image, digest_of
from fleet_emulator.stand_ins.docker.layer import (
    Layer,
    apply_layer,
    compress,
    sha256_of,
    unpack_layer,
    write_tar,
)
from fleet_emulator.stand_ins.docker.output import DockerError
from fleet_emulator.stand_ins.docker.reference import read_reference, with_tag

STORE = "FLEET_STAND_IN_IMAGES"
"""The environment variable that names the folder."""
_ID = re.compile(r"(?:sha256:)?([0-9a-f]{12,64})")
"""An image's id, or the beginning that docker shows."""
_STATE: dict[str, Any] = {"images": [], "tags": {}, "digests": [], "logins": [], "containers": {}}


class ImageStore:
    """The store in a folder, which is made when something is written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._blobs, self._tars = folder / "blobs", folder / "tars"

    def blob(self, digest: str) -> Path:
        """The file of a blob: a manifest, a configuration, or a layer as gzip."""
        return self._blobs / digest.removeprefix("sha256:")

    def add_blob(self, content: bytes) -> str:
        """Keep a manifest or a configuration; its digest."""
        with self.new_file() as file:
            file.write_bytes(content)
            digest = digest_of(content)
            self._keep(file, self.blob(digest))
        return digest

    def add_layer(self, changes: FileTree) -> Layer:
        """Write the changes of an instruction as a layer.

        Raises:
            DockerError: a file that is to be copied cannot be read.
        """
        try:
            with self.new_file() as tar, self.new_file() as packed:
                with tar.open("wb") as target:
                    write_tar(changes, target)
                compress(tar, packed)
                return self._layer(tar, packed)
        except (OSError, TreeError) as error:
            raise DockerError(f"a file cannot be copied: {error}") from error

    def add_packed_layer(self, packed: Path) -> Layer:
        """Keep a layer that was pulled.

        Raises:
            DockerError: it cannot be unpacked.
        """
        with self.new_file() as tar:
            unpack_layer(packed, tar)
            return self._layer(tar, packed)

    def add_image(self, image: Image, *references: ImageName) -> None:
        """Keep an image whose layers are here, under names."""
        self.add_blob(image.config)
        self.add_blob(image.manifest)
        with self._change() as state:
            state["images"] = sorted({*state["images"], image.digest})
            for each in references:
                state["tags"][str(with_tag(each))] = image.digest

    def image(self, name: str) -> Image | None:
        """The image of a name, of an id or of the beginning of one; None if there is none."""
        state = self._state()
        tags: Mapping[str, str] = state["tags"]
        if wanted := _ID.fullmatch(name):
            for image in map(self._read, state["images"]):
                if image.id.startswith(f"sha256:{wanted[1]}"):
                    return image
        reference = read_reference(name)
        if str(with_tag(reference)) in tags:
            return self._read(tags[str(with_tag(reference))])
        if reference.digest and f"{reference.place}@{reference.digest}" in state["digests"]:
            return self._read(reference.digest)
        return None

    def names_of(self, image: Image) -> tuple[list[str], list[str]]:
        """The tags of an image, and its digests in registries."""
        state = self._state()
        tags = sorted(
            tag for tag, digest in state["tags"].items() if digest == image.digest and "@" not in tag
        )
        return tags, sorted(each for each in state["digests"] if each.endswith(f"@{image.digest}"))

    def tree(self, image: Image) -> FileTree:
        """The file system of an image.

        Raises:
            DockerError: a layer cannot be read.
        """
        tree = FileTree()
        for layer in image.layers:
            apply_layer(self._tar(layer.diff_id), tree)
        return tree

    def add_digest(self, reference: ImageName, digest: str) -> None:
        """Record that a registry has an image."""
        with self._change() as state:
            state["digests"] = sorted({*state["digests"], f"{reference.place}@{digest}"})

    def log_in(self, registry: str) -> None:
        """Record a login; its token is not kept."""
        with self._change() as state:
            state["logins"] = sorted({*state["logins"], registry})

    def log_out(self, registry: str) -> None:
        """Forget a login."""
        with self._change() as state:
            state["logins"] = [each for each in state["logins"] if each != registry]

    def is_logged_in(self, registry: str) -> bool:
        """Whether a registry may be asked."""
        return registry in self._state()["logins"]

    def add_container(self, image: Image) -> str:
        """Make a container, which never runs; its id."""
        with self._change() as state:
            id = digest_of(f"{image.digest} {len(state['containers'])}".encode()).removeprefix("sha256:")
            state["containers"][id] = image.digest
        return id

    def container(self, id: str) -> Image | None:
        """The image of a container; None if there is no such container."""
        digest = self._state()["containers"].get(id)
        return self._read(digest) if digest else None

    def remove_container(self, id: str) -> None:
        """Remove a container."""
        with self._change() as state:
            state["containers"][id] = ""

    @contextmanager
    def new_file(self) -> Iterator[Path]:
        """A file for what is to be kept; if it is not, it is removed."""
        self._folder.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=self._folder, prefix="new-")
        os.close(descriptor)
        try:
            yield Path(name)
        finally:
            Path(name).unlink(missing_ok=True)

    def _layer(self, tar: Path, packed: Path) -> Layer:
        layer = Layer(
            digest=sha256_of(packed),
            size=packed.stat().st_size,
            diff_id=sha256_of(tar),
            unpacked=tar.stat().st_size,
        )
        self._keep(packed, self.blob(layer.digest))
        self._keep(tar, self._tar(layer.diff_id))
        return layer

    def _tar(self, diff_id: str) -> Path:
        return self._tars / diff_id.removeprefix("sha256:")

    def _read(self, digest: str) -> Image:
        manifest = self.blob(digest).read_bytes()
        read = json.loads(manifest)
        config = self.blob(read["config"]["digest"]).read_bytes()
        layers = zip(read["layers"], json.loads(config)["rootfs"]["diff_ids"], strict=True)
        return Image(
            config=config,
            manifest=manifest,
            layers=tuple(
                Layer(
                    digest=each["digest"],
                    size=each["size"],
                    diff_id=diff_id,
                    unpacked=self._tar(diff_id).stat().st_size,
                )
                for each, diff_id in layers
            ),
        )

    def _keep(self, file: Path, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(file, target)

    def _state(self) -> dict[str, Any]:
        file = self._folder / "state.json"
        kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        return {**json.loads(json.dumps(_STATE)), **kept}

    @contextmanager
    def _change(self) -> Iterator[dict[str, Any]]:
        state = self._state()
        yield state
        with self.new_file() as file:
            file.write_text(json.dumps(state, indent=1, sort_keys=True), encoding="utf-8")
            file.replace(self._folder / "state.json")
