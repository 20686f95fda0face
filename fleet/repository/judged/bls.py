"""Models that the code of a Python model calls, and that nobody loads for it.

An ensemble's composing models are loaded with it; what a Python model calls is not (tried with 24.10).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from fleet.findings import Finding, Severity
from fleet.repository.contents import Contents
from fleet.repository.judged.setting import Setting
from fleet.repository.python_syntax import syntax_tree

CODE = "FL462"
REQUEST, LOADS = "InferenceRequest", "load_model"


def uncalled(
    contents: Contents, setting: Setting, loaded: Collection[str], models: Mapping[str, object]
) -> Iterator[Finding]:
    """Calls of models that are not loaded, or not there, in the Python code of those that are.

    Only names that stand in the call itself are seen.
    """
    for path, content in sorted(contents.texts.items()):
        model = path.split("/")[0]
        if not path.endswith(".py") or model not in loaded:
            continue
        calls, loads = _calls(content)
        for line, name in calls:
            if name in loaded or name in loads:
                continue
            said = (
                f"the code of model {model!r} calls {name!r}, which {_why(name, models)}: each such call"
                " fails"
            )
            yield Finding(
                code=CODE,
                message=said,
                file=contents.file(path),
                line=line,
                hint=_hint(name, setting, models),
                severity=Severity.WARNING,
            )


def _why(name: str, models: Mapping[str, object]) -> str:
    return "the container does not load" if name in models else "the repository does not have"


def _hint(name: str, setting: Setting, models: Mapping[str, object]) -> str:
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
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        value = named.get("model_name", node.args[0] if node.args else None)
        if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
            continue
        if called == REQUEST:
            calls.append((node.lineno, value.value))
        elif called == LOADS:
            loads.add(value.value)
    return calls, loads
