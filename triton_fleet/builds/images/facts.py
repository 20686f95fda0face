"""Contents of a container image, by its configuration and the names of its files; nothing of it is run.

All of it was written by whoever built the image: a value counts only if it has the form of what it means.
Sources: triton-inference-server/server, build.py (variables, labels, `serve` in /usr/bin); the environment of
NVIDIA's containers (`NVIDIA_TRITON_SERVER_VERSION=25.02`, `CUDA_VERSION=12.8.0.038`,
`TRT_VERSION=10.4.0.26`); OCI image specification, config.md and layer.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from triton_fleet.catalog.releases import normal_name, versions_differ
from triton_fleet.spec.image import ImageFacts

MULTI_MODEL_LABEL = "com.amazonaws.sagemaker.capabilities.multi-models"
BIND_LABEL = "com.amazonaws.sagemaker.capabilities.accept-bind-to-port"
ROUTER_LABEL = "triton-fleet.shared-container"
SERVER_LABEL = "com.nvidia.tritonserver.version"
BANNER = "nvidia_entrypoint.sh"
"""NVIDIA's entrypoint, which prints a banner and runs its arguments: SageMaker gives it `serve`."""
MAX_VALUE = 512
"""Characters of a variable or a label that are looked at."""
MAX_PATH = 1024
"""Characters of a path that are looked at; those that give a fact are shorter."""
MAX_FACT_PATHS = 100_000
"""Paths that are kept of all layers; NVIDIA's largest images have some 3,000 that give a fact."""

_BACKEND_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
_PACKAGE_NAME = r"[a-z0-9]([a-z0-9-]{0,126}[a-z0-9])?"
_PACKAGE_VERSION = r"[0-9][A-Za-z0-9.!+_]{0,127}"


def path_patterns() -> tuple[str, ...]:
    """How the paths begin that give a fact; others need not be kept."""
    return tuple(with_fact.pattern for with_fact in _WITH_FACTS)


def merge(config: ImageFacts, files: ImageFacts) -> ImageFacts:
    """The facts of an image's configuration, and those of its files where the configuration has none.

    A library that is installed on a base counts more than the variable that the base has of its own one.
    """
    facts_of_files, facts = files.model_dump(exclude_defaults=True), config.model_dump(exclude_defaults=True)
    for name in ("cuda", "tensorrt"):
        if name in facts_of_files and name in facts and versions_differ(facts_of_files[name], facts[name]):
            del facts[name]
    facts = facts_of_files | facts
    return ImageFacts(**facts)


def unknown_facts(facts: ImageFacts) -> list[str]:
    """The names of the facts that are unknown."""
    return [name for name in ImageFacts.model_fields if getattr(facts, name) is None]


_RELEASE = re.compile(r"([0-9]{2}\.[0-9]{2})(?![0-9])")
_SERVER = re.compile(r"([0-9]{1,6}\.[0-9]{1,6}\.[0-9]{1,6})(?![0-9])")
_CUDA = re.compile(r"([0-9]{1,6}\.[0-9]{1,6})(?![0-9])")
_TENSORRT = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6}){2,3})(?![0-9])")
_PLATFORM = re.compile(r"([a-z0-9]{1,16}/[a-z0-9_]{1,16})\Z")


def facts_of_config(config: Mapping[str, Any]) -> ImageFacts:
    """The facts of an OCI image configuration; what is not of the form that it should have is passed over."""
    run = config.get("config")
    run = run if isinstance(run, Mapping) else {}
    variables, labels = _variables(run.get("Env")), run.get("Labels")
    labels = labels if isinstance(labels, Mapping) else {}
    return ImageFacts(
        architecture=_first_match(_PLATFORM, f"{config.get('os')}/{config.get('architecture')}"),
        triton=_first_match(_RELEASE, variables.get("NVIDIA_TRITON_SERVER_VERSION")),
        server=_first_match(_SERVER, variables.get("TRITON_SERVER_VERSION"), labels.get(SERVER_LABEL)),
        cuda=_first_match(_CUDA, variables.get("CUDA_VERSION")),
        tensorrt=_first_match(_TENSORRT, variables.get("TRT_VERSION"), variables.get("TENSORRT_VERSION")),
        multi_model=labels.get(MULTI_MODEL_LABEL) == "true",
        binds_to_port=labels.get(BIND_LABEL) == "true",
        routes_calls=labels.get(ROUTER_LABEL) == "true",
        serve=True if _has_own_entrypoint(run.get("Entrypoint")) else None,
    )


def _variables(environment: object) -> dict[str, str]:
    entries = environment if isinstance(environment, list) else []
    pairs = (entry.partition("=") for entry in entries if isinstance(entry, str))
    return {name: value for name, _, value in pairs}


def _first_match(pattern: re.Pattern[str], *values: object) -> str | None:
    """The match of the pattern at the start of the first value that it fits."""
    texts = (value[:MAX_VALUE] for value in values if isinstance(value, str))
    return next((match[1] for match in map(pattern.match, texts) if match), None)


def _has_own_entrypoint(entrypoint: object) -> bool:
    words = entrypoint if isinstance(entrypoint, list) else []
    return bool(words) and not str(words[0]).endswith(f"/{BANNER}")


_PART = r"[^/]{1,255}"
_LIBRARIES = rf"usr/(?:local/)?(?:(?:lib|lib64|cuda[0-9.-]*|tensorrt)/)(?:{_PART}/){{0,3}}"
_BACKEND = re.compile(rf"opt/tritonserver/backends/({_PART})/{_PART}\.(?:so|py)\Z")
_PACKAGE = re.compile(
    rf"usr/(local/)?lib/python(3(?:\.[0-9]{{1,3}})?)/(?:site|dist)-packages/({_PART})\.(?:dist|egg)-info(?=/|\Z)"
)
_STANDARD_LIBRARY = re.compile(r"usr/(?:local/)?lib/python(3\.[0-9]{1,3})/os\.py\Z")
_PYTHON_LIBRARY = re.compile(rf"{_LIBRARIES}libpython(3\.[0-9]{{1,3}})\.so(?:\.[0-9.]{{1,8}})?\Z")
_TENSORRT_LIBRARY = re.compile(
    rf"(?:{_LIBRARIES}|opt/tensorrt/lib/)libnvinfer\.so\.([0-9]{{1,6}}(?:\.[0-9]{{1,6}}){{2,3}})\Z"
)
_CUDA_FOLDER = re.compile(r"usr/local/cuda-([0-9]{1,6}\.[0-9]{1,6})(?=/|\Z)")
_SERVE = re.compile(r"(?:usr/bin|usr/local/bin|opt/tritonserver/bin)/serve\Z")
_WITH_FACTS = (
    _BACKEND,
    _PACKAGE,
    _STANDARD_LIBRARY,
    _PYTHON_LIBRARY,
    _TENSORRT_LIBRARY,
    _CUDA_FOLDER,
    _SERVE,
)
_NAME_AND_VERSION = re.compile(rf"([A-Za-z0-9][A-Za-z0-9._]*)-({_PACKAGE_VERSION})(?:-py3[0-9.]*)?")
_WHITEOUT, _OPAQUE = ".wh.", ".wh..wh..opq"

Tree: TypeAlias = "dict[str, Tree]"


class TooManyPathsError(ValueError):
    """The layers have more paths that give a fact than an image can need."""


def facts_of_paths(layers: Iterable[Iterable[str]]) -> ImageFacts:
    """The facts of the names of files, layer by layer from the lowest; a folder's name ends in `/`.

    Each layer is read once, to its end, before the next. What a layer's whiteouts hide is gone.

    Raises:
        TooManyPathsError: more paths than MAX_FACT_PATHS would have to be kept.
    """
    tree: Tree = {}
    budget = MAX_FACT_PATHS
    for layer in layers:
        layer_tree: Tree = {}
        for path in layer:
            parts = _parts(path)
            if parts is None:
                continue
            _hide(tree, parts, is_folder=path.endswith("/"))
            if path_with_fact := _path_with_fact(parts):
                budget -= _grow(layer_tree, path_with_fact.split("/"))
                if budget < 0:
                    raise TooManyPathsError(f"more than {MAX_FACT_PATHS} files of its layers give a fact")
        _unite(tree, layer_tree)
    return _facts_of_tree(tree)


def _parts(path: str) -> list[str] | None:
    """The names of a path; None of one that no layer should have, or that is too long to give a fact."""
    if len(path) > MAX_PATH or "\0" in path:
        return None
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts or ".." in parts:
        return None
    # Distributions of today have links in place of these folders; the links themselves hide nothing.
    return ["usr", *parts] if len(parts) > 1 and parts[0] in ("bin", "lib", "lib64") else parts


def _path_with_fact(parts: list[str]) -> str | None:
    """The beginning of a path that gives a fact, or that whiteouts of its folders end."""
    if parts[-1].startswith(_WHITEOUT):
        return None
    path = "/".join(parts)
    return next((match[0] for match in (with_fact.match(path) for with_fact in _WITH_FACTS) if match), None)


def _hide(tree: Tree, parts: list[str], *, is_folder: bool) -> None:
    """Take out of the layers below what an entry hides: by a whiteout, or as a file in place of a folder."""
    *folders, name = parts
    is_opaque = name == _OPAQUE
    if not is_opaque and name.startswith(_WHITEOUT):
        name = name.removeprefix(_WHITEOUT)
    elif is_folder and not is_opaque:
        return
    for folder in folders:
        if folder not in tree:
            return
        tree = tree[folder]
    if is_opaque:
        tree.clear()
    else:
        tree.pop(name, None)


def _grow(tree: Tree, parts: list[str]) -> int:
    """Put a path in; how many names that took."""
    grown = 0
    for part in parts:
        grown += part not in tree
        tree = tree.setdefault(part, {})
    return grown


def _unite(tree: Tree, layer: Tree) -> None:
    for name, below in layer.items():
        _unite(tree.setdefault(name, {}), below)


def _paths(tree: Tree, folder: str = "") -> Iterator[str]:
    for name, below in tree.items():
        yield from _paths(below, f"{folder}{name}/") if below else [f"{folder}{name}"]


def _facts_of_tree(tree: Tree) -> ImageFacts:
    paths = sorted(_paths(tree))
    python = _single_match(_PYTHON_LIBRARY, paths) or _single_match(_STANDARD_LIBRARY, paths)
    backends = {match[1] for match in map(_BACKEND.match, paths) if match}
    return ImageFacts(
        cuda=_single_match(_CUDA_FOLDER, paths),
        tensorrt=_single_match(_TENSORRT_LIBRARY, paths),
        python=python,
        backends=tuple(sorted(name for name in backends if re.fullmatch(_BACKEND_NAME, name))) or None,
        packages=_packages(paths, python),
        serve=any(map(_SERVE.match, paths)),
    )


def _single_match(pattern: re.Pattern[str], paths: Iterable[str]) -> str | None:
    """The one version that the paths have; None where they have several, of which any may be used."""
    versions = {match[1] for match in map(pattern.match, paths) if match}
    return versions.pop() if len(versions) == 1 else None


def _packages(paths: Iterable[str], python: str | None) -> dict[str, str] | None:
    """The packages of one Python; those below /usr/local come first in its path, so they count."""
    matches = [match for match in map(_PACKAGE.match, paths) if match and match[2] in ("3", python)]
    if not matches or python is None:
        return None
    in_order = sorted(matches, key=lambda match: match[1] is not None)
    names_and_versions = (_NAME_AND_VERSION.fullmatch(match[3]) for match in in_order)
    versions = {normal_name(pair[1]): pair[2] for pair in names_and_versions if pair}
    return {name: versions[name] for name in sorted(versions) if re.fullmatch(_PACKAGE_NAME, name)}
