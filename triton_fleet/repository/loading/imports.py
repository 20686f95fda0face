"""Imports of Python models that their container is not known to have; the code is parsed and never run."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from triton_fleet.catalog.images import releases
from triton_fleet.catalog.releases import release_modules
from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.python_parameters import KEY
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.loading.container import ServingContainer
from triton_fleet.repository.loading.models import Model
from triton_fleet.repository.python.code import CODE, syntax_tree

FINDING = "FL472"
BACKEND, UTILITIES = "python", "triton_python_backend_utils"


def missing_imports(
    contents: Contents, setting: ServingContainer, models: Iterable[Model]
) -> Iterator[Finding]:
    """A warning for each import that fails by what is known of the release's image.

    Only statements of the module itself count: what stands in a function, an `if` or a `try` may never run.
    A model with a packed environment may have anything, and so may an image of one's own.
    """
    if setting.own_image:
        return
    known = sys.stdlib_module_names | release_modules(setting.release or releases()[-1]) | {UTILITIES}
    for model in models:
        if model.backend != BACKEND or KEY in model.config.message.parameters:
            continue
        for version in model.versions:
            folder = contents.path(model.directory, version)
            own = {
                PurePosixPath(name).name.partition(".")[0]
                for at in (model.directory, folder)
                for name in contents.below(at)
            }
            path = contents.path(folder, model.config.message.default_model_filename or CODE)
            for line, module in _imports(contents.texts.get(path, b"")):
                if module not in known and module not in own:
                    yield _finding(contents, path, line, module, setting.release)


def _imports(code: bytes) -> Iterator[tuple[int, str]]:
    """Lines and top-level names of what a module imports; none where it changes its own path."""
    tree = syntax_tree(code)
    if tree is None or any(_changes_path(node) for node in ast.walk(tree)):
        return
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name.partition(".")[0]) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.lineno, node.module.partition(".")[0]


def _changes_path(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr in ("path", "addsitedir", "meta_path")
        and (isinstance(node.value, ast.Name) and node.value.id in ("sys", "site"))
    )


def _finding(contents: Contents, path: str, line: int, module: str, release: str | None) -> Finding:
    image = f"the image of {release}" if release else "Triton's images"
    return Finding(
        code=FINDING,
        message=f"{module!r} is not known to be in {image}: the model would not load",
        file=contents.file(path),
        line=line,
        hint=f"put it beside the model, into a packed environment that `{KEY}` names, or into your own image",
        severity=Severity.WARNING,
    )
