"""No participle and no adverb names a Python file or its package; docs/add/style.md explains why.

In the sources of `GATED`, none names a function, class, variable or constant either, and no pronoun does.

The last word of a name counts: `failed_rollback` ends with its noun, `invoke_refused` does not.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import pytest

from tests.support.fleet_folder import ROOT


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NOUNS = _words(
    """
    autoscaling batching decoding encoding feed finding heading hosting linting loading mapping monitoring need opening packing parsing
    pruning reading rebinding ring scaling scheduling seed setting speed staging string timing training unpacking
    uploading warning wording apply assembly family reply supply
    """
)
"""Nouns, and the verb `apply`, that end as participles and adverbs do."""
ENDINGS = ("ed", "ing", "ly")
PARTICIPLES = _words(
    """
    begun bought bound broken built chosen done drawn found given gone held hidden kept known left lost made
    meant met paid said seen sent shown sold sought spent taken taught thought told understood won written
    """
)
ADVERBS = _words(
    """
    again almost already anew apart enough ever here least most never now often once quite rather seldom
    soon still then there thus together too twice very well
    """
)
PRONOUNS = _words(
    """
    all any both each either everything how it neither none nothing one other others some somebody something
    that them they this what when where which who why
    """
)
GATED = (
    "client",
    "constructs",
    "containers/shared",
    "emulator",
    "engine_build",
    "lambda",
    "stacks",
    "triton_fleet/aws",
    "triton_fleet/check",
    "triton_fleet/endpoint",
    "triton_fleet/explain",
    "triton_fleet/local",
    "triton_fleet/printers",
    "triton_fleet/repository",
    "triton_fleet/review",
)
"""Sources whose names are held: each name ends with a noun, or begins with a verb."""
DICTATED: Mapping[str, str] = {
    "what": "a key of the JSON of `fleet show`",
    "__all__": "Python's list of public names",
    "isolated": "a parameter of the public constructs, as `network.isolated` of a spec",
    "served": "a field of the public EndpointParts",
}
"""Names that others dictate, with who does."""
QUESTIONS = ("can", "has", "is", "may", "needs")
"""Beginnings of the names of booleans, which may end with a participle."""
MODES = frozenset(["containers/shared"])
"""Folders that are named as a mode of endpoints."""


def is_refused(name: str) -> bool:
    """Whether a file's stem or a folder's name ends with a participle or an adverb."""
    noun = name.rpartition("_")[2]
    return noun not in NOUNS and (noun.endswith(ENDINGS) or noun in PARTICIPLES | ADVERBS)


def refused_paths() -> set[str]:
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [PurePosixPath(line) for line in listed.stdout.splitlines() if (ROOT / line).exists()]
    paths = {path for file in files for path in (file, *file.parents)}
    return {str(path) for path in paths if is_refused(path.stem)}


@pytest.mark.parametrize(
    "name", ["failed_rollback", "endpoint_scaling", "inventory", "onnx_model", "repository_loading"]
)
def test_a_noun_is_a_name(name: str) -> None:
    assert not is_refused(name)


@pytest.mark.parametrize(
    "name", ["judged", "seen", "boto3_there", "invoke_refused", "passing", "briefly", "last_told"]
)
def test_a_participle_or_an_adverb_is_not(name: str) -> None:
    assert is_refused(name)


def test_no_participle_or_adverb_names_a_file_or_a_package() -> None:
    assert sorted(refused_paths() - MODES) == [], "end the name with a noun (docs/add/style.md)"


def bound_names(source: str) -> Iterator[tuple[int, str]]:
    """Line and name of each function, class, parameter, variable and attribute that Python source defines."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.arg(arg=name):
                yield node.lineno, name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name


def refused_names(source: str) -> list[tuple[int, str]]:
    """The bound names that end with a participle, an adverb or a pronoun."""
    found = []
    for line, name in bound_names(source):
        words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)]
        if words and words[0] not in QUESTIONS and (is_refused(words[-1]) or words[-1] in PRONOUNS):
            found.append((line, name))
    return found


@pytest.mark.parametrize("folder", GATED)
def test_no_participle_adverb_or_pronoun_names_anything_in_gated_sources(folder: str) -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}: {name}"
        for file in sorted((ROOT / folder).rglob("*.py"))
        for line, name in refused_names(file.read_text())
        if name not in DICTATED
    ]
    assert found == [], "end the name with a noun, or begin it with a verb (docs/add/style.md)"


@pytest.mark.parametrize(
    "source",
    [
        "def _told(): ...",
        "class Saved: ...",
        "for each in x: ...",
        "self._kept = 1",
        "lambda found: 1",
        "now = 1",
    ],
)
def test_a_participle_adverb_or_pronoun_is_found_in_source(source: str) -> None:
    assert refused_names(source)


@pytest.mark.parametrize(
    "source", ["is_suspended = 1", "def load_lock(): ...", "found.told()", "MAX_BYTES = 1"]
)
def test_a_noun_a_verb_and_a_question_are_names(source: str) -> None:
    assert refused_names(source) == []


@pytest.mark.parametrize("folder", GATED)
def test_no_docstring_of_gated_sources_begins_with_a_question(folder: str) -> None:
    texts = [
        f"{file.relative_to(ROOT)}: {text.splitlines()[0]}"
        for file in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and (text := ast.get_docstring(node) or "").startswith("What")
    ]
    assert texts == [], "begin with a noun or a verb (docs/add/style.md)"
