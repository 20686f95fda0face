"""Imports and calls in the code of Python models that fail in their container; no code is run.

An ensemble's composing models are loaded with it; what a Python model calls is not (tried with 24.10).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from triton_fleet.catalog.images import releases
from triton_fleet.catalog.releases import release_modules
from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.parameters import KEY
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.loading.models import Model, ServingContainer
from triton_fleet.repository.python.code import CODE, syntax_tree

IMPORT_CODE = "FL472"
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
    modules = sys.stdlib_module_names | release_modules(setting.release or releases()[-1]) | {UTILITIES}
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
                if module not in modules and module not in own:
                    yield _import_problem(contents, path, line, module, setting.release)


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


def _import_problem(contents: Contents, path: str, line: int, module: str, release: str | None) -> Finding:
    image = f"the image of {release}" if release else "Triton's images"
    return Finding(
        code=IMPORT_CODE,
        message=f"{module!r} is not known to be in {image}: the model would not load",
        file=contents.file(path),
        line=line,
        hint=f"put it beside the model, into a packed environment that `{KEY}` names, or into your own image",
        severity=Severity.WARNING,
    )


CALL_CODE = "FL462"
REQUEST, LOADS = "InferenceRequest", "load_model"


def unloaded_calls(
    contents: Contents, setting: ServingContainer, names: Collection[str], models: Mapping[str, Model]
) -> Iterator[Finding]:
    """Calls of models that are not loaded, or do not exist, in the Python code of those that are.

    Only names that stand in the call itself are seen.
    """
    loaded_ones = set(names)
    for name in names:
        codes = _codes(contents, models[name])
        trees = {path: _calls(code) for path, code in codes.items()}
        own = {model_name for _, loads in trees.values() for model_name in loads}
        for path, (calls, _) in trees.items():
            for line, callee in calls:
                if callee not in loaded_ones and callee not in own:
                    yield _call_problem(contents.file(path), line, name, callee, setting, models)


def called_models(contents: Contents, model: Model) -> set[str]:
    """The models that a model's code calls by name and does not load by itself."""
    models = [_calls(code) for code in _codes(contents, model).values()]
    loads = {name for _, own in models for name in own}
    return {name for calls, _ in models for _, name in calls} - loads


def _codes(contents: Contents, model: Model) -> dict[str, bytes]:
    """The Python files in the versions that are loaded."""
    folders = sorted(contents.path(model.directory, version) for version in model.versions)
    paths = (contents.path(folder, name) for folder in folders for name in contents.below(folder))
    return {path: contents.texts[path] for path in paths if path.endswith(".py") and path in contents.texts}


def _call_problem(
    file: Path, line: int, model: str, callee: str, setting: ServingContainer, models: Mapping[str, Model]
) -> Finding:
    subject = f"the code of model {model!r}" if model else "the model's code"
    lack = "the container does not load" if callee in models else "the repository does not have"
    message = f"{subject} calls {callee!r}, which {lack}: each such call fails"
    hint = _hint(callee, setting, models)
    return Finding(
        code=CALL_CODE, message=message, file=file, line=line, hint=hint, severity=Severity.WARNING
    )


def _hint(name: str, setting: ServingContainer, models: Mapping[str, Model]) -> str:
    if name not in models:
        return f"put the model into the repository; it has {', '.join(sorted(models))}"
    if setting.multi_model:
        return f"call `pb_utils.load_model({name!r})` in `initialize`, or make an ensemble of the two"
    return f"add `--load-model={name}` to `container.additional_args` of the endpoint's spec"


def _calls(content: bytes) -> tuple[list[tuple[int, str]], set[str]]:
    """Lines and names of the models that code calls, and the names that it loads by itself."""
    tree = syntax_tree(content)
    if tree is None:
        return [], set()
    calls, loads = list[tuple[int, str]](), set[str]()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        arguments = {keyword.arg: keyword.value for keyword in node.keywords}
        value = arguments.get("model_name", node.args[0] if node.args else None)
        if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
            continue
        if function == REQUEST:
            calls.append((node.lineno, value.value))
        elif function == LOADS:
            loads.add(value.value)
    return calls, loads
