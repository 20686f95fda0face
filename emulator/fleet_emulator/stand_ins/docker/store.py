"""The images, their names, logins and containers that the stand-in knows, in a folder of one build."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from fleet_emulator.stand_ins.docker.files import DockerError, ImageFiles
from fleet_emulator.stand_ins.docker.image import Image, configuration

STORE = "FLEET_STAND_IN_IMAGES"
"""The environment variable that names the folder."""


class ImageStore:
    """The store in a folder, which is made when something is written."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._state = folder, folder / "state.json"

    def add_image(self, name: str, settings: Mapping[str, Any], files: ImageFiles) -> Image:
        """Keep an image under a name.

        Raises:
            OSError: a file that is to be copied cannot be read.
        """
        folder = self._folder / uuid4().hex
        folder.mkdir(parents=True)
        with (folder / "layer.tar").open("wb") as tar:
            files.write_tar(tar)
        # Without name and time: its bytes follow from the content and from zlib.
        with (
            (folder / "layer.tar").open("rb") as tar,
            (folder / "layer.tar.gz").open("wb") as target,
            gzip.GzipFile("", "wb", 6, fileobj=target, mtime=0) as packed,
        ):
            shutil.copyfileobj(tar, packed)
        (folder / "config.json").write_bytes(configuration(settings, folder / "layer.tar"))
        self._keep("images", name, folder.name)
        return self.image(name)

    def image(self, name: str) -> Image:
        """The image of a name.

        Raises:
            DockerError: there is none.
        """
        return self._image(self._find("images", name))

    def log_in(self, registry: str) -> None:
        """Record a login; its token is not kept."""
        self._keep("logins", registry, "")

    def is_logged_in(self, registry: str) -> bool:
        """Whether images may be pushed to a registry."""
        return registry in self._read()["logins"]

    def add_container(self, name: str) -> str:
        """Make a container of an image, which never runs; its id."""
        id = uuid4().hex
        self._keep("containers", id, self._find("images", name))
        return id

    def container(self, id: str) -> Image:
        """The image of a container.

        Raises:
            DockerError: there is no such container.
        """
        return self._image(self._find("containers", id))

    def remove_container(self, id: str) -> None:
        """Remove a container."""
        self._find("containers", id)
        state = self._read()
        del state["containers"][id]
        self._write(state)

    def _image(self, name: str) -> Image:
        folder = self._folder / name
        config = (folder / "config.json").read_bytes()
        return Image(config=config, tar=folder / "layer.tar", packed=folder / "layer.tar.gz")

    def _find(self, table: str, key: str) -> str:
        found = self._read()[table].get(key)
        if found is None:
            raise DockerError(f"No such {table.removesuffix('s')}: {key}")
        return found

    def _keep(self, table: str, key: str, value: str) -> None:
        state = self._read()
        state[table][key] = value
        self._write(state)

    def _read(self) -> dict[str, dict[str, str]]:
        state: dict[str, dict[str, str]] = {"images": {}, "logins": {}, "containers": {}}
        if self._state.exists():
            state |= json.loads(self._state.read_text(encoding="utf-8"))
        return state

    def _write(self, state: Mapping[str, Any]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._state.write_text(json.dumps(state), encoding="utf-8")
