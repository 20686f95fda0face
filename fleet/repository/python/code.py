"""The code of Python models, parsed and never run: whether it is present, and which models it calls."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from pathlib import Path

from fleet.findings import Finding, FindingsError
from fleet.repository.layout import config_of, versions_of

CODE = "model.py"
_COMMENT = re.compile(r"#.*")
_BACKEND = re.compile(r'\bbackend\s*:\s*["\']python["\']')
_FILE = re.compile(r'\bdefault_model_filename\s*:\s*["\']([^"\']+)["\']')


def check_python_code(models: Sequence[Path], *, packed: bool) -> None:
    """See that each model directory, when it is `packed` or as it is, has what its config.pbtxt asks for.

    Raises:
        FindingsError: a Python model has no code in the version that Triton loads.
    """
    findings = [
        _without_code(model, wanted) for model in models if (wanted := _missing_file(model, packed=packed))
    ]
    if findings:
        raise FindingsError(findings)


def _missing_file(model: Path, *, packed: bool) -> str:
    """The file that a Python model would be loaded from and does not have; empty for any other model."""
    text = _COMMENT.sub("", (config_of(model) or b"").decode("utf-8", "replace"))
    if not _BACKEND.search(text):
        return ""
    named = _FILE.search(text)
    wanted = named[1] if named else CODE
    versions = sorted((int(each), model / each) for each in versions_of(model, packed=packed))
    # Without a policy Triton loads the latest version; with one, it is enough that any has the code.
    loaded = versions if "version_policy" in text else versions[-1:]
    inside = Path(wanted).name == wanted
    return "" if inside and any((version / wanted).is_file() for _, version in loaded) else wanted


def _without_code(model: Path, wanted: str) -> Finding:
    message = (
        f"model {model.name!r} uses the Python backend and has no {wanted} in the version that is loaded"
    )
    hint = f"put its code into {wanted} beside the version's other files"
    return Finding(code="FL410", message=message, hint=hint, file=model)


def model_names_in(file: Path, models: Set[str]) -> Iterator[tuple[int, str]]:
    """Lines of a Python file whose string literals are a model's name, with that name.

    Code that this Python cannot parse, as the container's is another, is searched for quoted names.
    """
    content = file.read_bytes()
    tree = syntax_tree(content)
    if tree is None:
        quoted = re.compile("|".join(rf"([\"']){re.escape(model)}\1" for model in sorted(models)) or r"(?!)")
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
            yield from ((number, match[0][1:-1]) for match in quoted.finditer(line))
        return
    found = {
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in models
    }
    yield from sorted(found)


@lru_cache(maxsize=128)
def syntax_tree(code: bytes) -> ast.Module | None:
    """The tree of a module; None if this Python cannot parse it, as the container's is another.

    Several callers get the tree of one file: they must not change it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # what a model's author writes is not the user's worry
        try:
            return ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
