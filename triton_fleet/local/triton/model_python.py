"""The Python of models: this machine's interpreter, and of its packages those that the image has.

Triton's Python stub takes the prefix of the first python3 on PATH, and ignores PYTHONPATH (tried with 24.10).
"""

from __future__ import annotations

import hashlib
import re
import site
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePath

from triton_fleet.catalog.releases import normal_name
from triton_fleet.local.triton.cache_folder import cache_folder

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
INTERPRETER = Path(sys.base_prefix) / "bin" / f"python{PYTHON}"
CONFIGURATION = f"home = {INTERPRETER.parent}\ninclude-system-site-packages = false\n"
"""Of a virtual environment: pyvenv.cfg."""
PACKAGES = Path("lib", f"python{PYTHON}", "site-packages")
_REQUIREMENT_NAME = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True, kw_only=True)
class ModelPython:
    """A virtual environment in the cache.

    Attributes:
        prefix: Its folder.
        packages: What it has, with the versions of this machine.
        image: What the image has, with its versions; "" where one is unknown.
        image_python: The image's Python, such as "3.12"; "" where it is unknown.
    """

    prefix: Path
    packages: Mapping[str, str]
    image: Mapping[str, str]
    image_python: str = ""

    @property
    def bin(self) -> Path:
        """The folder of its python3."""
        return self.prefix / "bin"

    def __str__(self) -> str:
        """A line for people: the packages that models can import, and those of the image that they cannot."""
        parts = [f"the standard library of Python {_beside(PYTHON, self.image_python)}"]
        for name, version in self.packages.items():
            is_in_image = name in self.image
            foreign = "" if is_in_image else " (not of the image: others need it here)"
            parts.append(f"{name} {_beside(version, self.image[name]) if is_in_image else version}{foreign}")
        absent = ", ".join(name for name in self.image if name not in self.packages)
        absence = f"; assumed of the image, and not installed here: {absent}" if absent else ""
        return f"Python models find what the image is assumed to have: {', '.join(parts)}{absence}"


def _beside(version: str, image: str) -> str:
    return version if image in ("", version) else f"{version} (image: {image})"


def model_python(cache: Path, image: Mapping[str, str], image_python: str = "") -> ModelPython:
    """The environment with those of the packages that this machine has, and with what these require here.

    Args:
        cache: Where to keep it; made when missing.
        image: The packages of the image, with their versions.
        image_python: The image's Python; "" where it is unknown.
    """
    distributions = dict(sorted(_distributions(image)))
    links = dict(link for distribution in distributions.values() for link in _links(distribution))
    text = "".join([CONFIGURATION, *(f"{path} {target}\n" for path, target in sorted(links.items()))])

    def fill(folder: Path) -> None:
        packages = folder / PACKAGES
        packages.mkdir(parents=True)
        (folder / "bin").mkdir()
        for name in ("python", "python3", INTERPRETER.name):
            (folder / "bin" / name).symlink_to(INTERPRETER)
        (folder / "pyvenv.cfg").write_text(CONFIGURATION, "utf-8")
        for path, target in links.items():
            (packages / path).parent.mkdir(parents=True, exist_ok=True)
            (packages / path).symlink_to(target)

    name = f"python-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    return ModelPython(
        prefix=cache_folder(cache, name, fill),
        packages={name: package.version for name, package in distributions.items()},
        image=image,
        image_python=image_python,
    )


def _distributions(names: Iterable[str]) -> Iterator[tuple[str, metadata.Distribution]]:
    """The installed ones of the packages, and of all that they require without an extra, by normal names."""
    names_seen_before, queue = set[str](), list(names)
    while queue:
        name = normal_name(queue.pop())
        if name in names_seen_before:
            continue
        names_seen_before.add(name)
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        if distribution.files is not None:
            yield name, distribution
            requirements = (
                requirement for requirement in distribution.requires or () if "extra ==" not in requirement
            )
            queue += [match[0] for match in map(_REQUIREMENT_NAME.match, requirements) if match]


def _links(distribution: metadata.Distribution) -> Iterator[tuple[PurePath, Path]]:
    """The places of a package's folders and files in a folder of packages, and those on this machine."""
    folder = Path(str(distribution.locate_file("")))
    for file in distribution.files or ():
        path = PurePath(file)
        if ".." not in path.parts and "__pycache__" not in path.parts and path.suffix != ".pth":
            root = _root(folder, path)
            yield root, folder / root


def _root(folder: Path, path: PurePath) -> PurePath:
    """The package that a file belongs to; the file where it belongs to none, or to one that others share."""
    packages = (
        parent for parent in list(path.parents)[-2::-1] if (folder / parent / "__init__.py").is_file()
    )
    return next(packages, path)


def product_model(module: str) -> str:
    """The code of a Python model that finds the product's own packages, and is what a module of it has.

    Args:
        module: With a TritonPythonModel.
    """
    folders = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    lines = "".join(f"site.addsitedir({folder!r})\n" for folder in folders)
    return f'"""Runs {module}."""\n\nimport site\n\n{lines}from {module} import TritonPythonModel\n'
