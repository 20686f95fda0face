"""No participle and no adverb names a Python file or its package; docs/add/style.md explains why.

In the sources of `GATED_SOURCES`, none names a function, class, variable or constant either, and no pronoun does.

The last word of a name counts: `failed_rollback` ends with its noun, `invoke_refused` does not.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

import pytest

from tests.support.fleet_folder import ROOT


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NOUNS = _words(
    """
    autoscaling batching decoding embed encoding feed finding heading hosting layering linting listing loading
    mapping meaning monitoring namespacing need opening packing padding parsing ping pruning reading rebinding
    ring routing sampling saving scaling scheduling seed setting speed spelling spending staging string timing
    training unpacking uploading warming warning wording apply assembly family reply supply tally succeed
    """
)
"""Nouns, and the verbs `apply`, `embed` and `succeed`, that end as participles and adverbs do."""
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
GATED_SOURCES = (
    ".ci",
    "client",
    "constructs",
    "containers/shared",
    "emulator",
    "engine_build",
    "examples",
    "lambda",
    "stacks",
    "tests",
    "triton_fleet",
)
"""Sources whose names are held: each name ends with a noun, or begins with a verb."""
LOCKED_SOURCES = (
    "examples/*/models/*",
    "examples/*/environment/bin/*",
    "examples/shared_models/pictures.py",
)
"""Sources whose bytes are in the digest of a lock."""
DICTATED_NAMES: Mapping[str, str] = {
    "what": "a key of the JSON of `fleet show`",
    "__all__": "Python's list of public names",
    "isolated": "a parameter of the public constructs, as `network.isolated` of a spec",
    "served": "what a host serves, beside what is deployed to it",
    "last_modified": "a field of moto's keys",
    "parsed": "a keyword of botocore's events",
    "now": "a method of datetime that a clock of tests replaces",
    "locked": "the option `--locked`",
    "drop_missing": "the option `--drop-missing`",
    "import_existing": "the option `--import-existing`",
    "at_once": "a key of specs, and of the JSON of quotas",
    "beside_at_once": "a key of the JSON of quotas",
    "enhanced": "a key of specs",
    "when": "a key of policies",
    "When": "the name of its schema",
    "decoupled": "a key of locks",
    "expected": "a key of locks",
    "uncommitted": "a key of the records of deploys",
    "ended": "a key of the records of builds",
    "built": "a key of the JSON of `fleet images` and `fleet engines`",
    "stated": "a key of the JSON of prices",
    "computed": "a key of the JSON of prices",
    "tested": "a key of the JSON of `fleet diff`",
    "NOT_FOUND": "HTTP's name of a status",
    "PRECONDITION_FAILED": "HTTP's name of a status",
}
"""Names that others dictate, with who does."""
QUESTIONS = ("can", "has", "is", "may", "needs")
"""Beginnings of the names of booleans, which may end with a participle."""
TITLES = ("test", "Test")
"""Beginnings of the names of tests and of their classes, which are sentences."""
MODES = frozenset(["containers/shared"])
"""Folders that are named as a mode of endpoints."""


def is_refused(name: str) -> bool:
    """Whether a file's stem or a folder's name ends with a participle or an adverb."""
    noun = name.rpartition("_")[2]
    return noun not in NOUNS and (noun.endswith(ENDINGS) or noun in PARTICIPLES | ADVERBS)


def refused_paths() -> set[str]:
    process = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [PurePosixPath(line) for line in process.stdout.splitlines() if (ROOT / line).exists()]
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


def _names_of_values(nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
    names: list[ast.expr]
    texts: list[ast.expr]
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=texts)):
                pass
            case ast.Assign(targets=names, value=text):
                texts = [text] * len(names)
            case _:
                continue
        for name, value in zip(names, texts, strict=False):
            match name, value:
                case ast.Name(id=constant), ast.Constant(value=str(text_value)):
                    if constant == "_".join(re.findall(r"\w+", text_value.upper())):
                        yield name


def bound_names(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """Line and name of each function, class, parameter, variable and attribute that nodes define.

    Without the constants that a text dictates, such as `NOT_BUILT = "not-built"`.
    """
    names_of_values = set(_names_of_values(nodes))
    for node in nodes:
        match node:
            case ast.Name() if node in names_of_values:
                continue
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.arg(arg=name):
                yield node.lineno, name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name


def refused_names(source: str) -> list[tuple[int, str]]:
    """The names of a source that end with a participle, an adverb or a pronoun."""
    return refused_bindings([*ast.walk(ast.parse(source))])


def refused_bindings(nodes: Sequence[ast.AST]) -> list[tuple[int, str]]:
    result = []
    for line, name in bound_names(nodes):
        first, *words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name) or [""]
        words = [word.lower() for word in (first, *words)]
        if (
            words[0] not in QUESTIONS
            and first not in TITLES
            and (is_refused(words[-1]) or words[-1] in PRONOUNS)
        ):
            result.append((line, name))
    return result


def _is_locked(file: str) -> bool:
    return any(fnmatchcase(file, pattern) for pattern in LOCKED_SOURCES)


@pytest.fixture(scope="module", params=GATED_SOURCES)
def sources(request: pytest.FixtureRequest) -> dict[str, list[ast.AST]]:
    """The nodes of a folder's files, parsed once for both rules."""
    path = ROOT / request.param
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    files = [file for file in files if not _is_locked(str(file.relative_to(ROOT)))]
    return {str(file.relative_to(ROOT)): [*ast.walk(ast.parse(file.read_text()))] for file in files}


def test_no_participle_adverb_or_pronoun_names_anything_in_gated_sources(
    sources: dict[str, list[ast.AST]],
) -> None:
    names = [
        f"{file}:{line}: {name}"
        for file, nodes in sources.items()
        for line, name in refused_bindings(nodes)
        if name not in DICTATED_NAMES
    ]
    assert names == [], "end the name with a noun, or begin it with a verb (docs/add/style.md)"


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
    "source",
    [
        "is_suspended = 1",
        "def load_lock(): ...",
        "found.told()",
        "MAX_BYTES = 1",
        "def test_it_is_told(): ...",
        "class TestWhatIsKept: ...",
        'DONE, NOT_BUILT = "done", "not-built"',
    ],
)
def test_a_noun_a_verb_and_a_question_are_names(source: str) -> None:
    assert refused_names(source) == []


def test_no_docstring_of_gated_sources_begins_with_a_question(sources: dict[str, list[ast.AST]]) -> None:
    texts = [
        f"{file}: {text.splitlines()[0]}"
        for file, nodes in sources.items()
        for node in nodes
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and (text := ast.get_docstring(node) or "").startswith("What")
    ]
    assert texts == [], "begin with a noun or a verb (docs/add/style.md)"
