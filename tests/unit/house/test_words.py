"""The prose linter's words: found in each sentence before, not in the one after, and in no text of these packages."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.fleet_folder import ROOT
from tests.support.python_texts import texts

WORDS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".ci/words.yaml").read_text())
LINT_LINE = re.compile(r'^[^:\s]+:(\d+)(?::\d+)? error .*?: write "(.*)"\] \[Context', re.MULTILINE)
LOOK_BEHIND = re.compile(r"\(\?<![^)]*\)")


def compile_pattern(pattern: str, *, case: bool = False) -> re.Pattern[str]:
    """As .markdownlint-cli2.mjs compiles it; only Python wants look-behinds of one width."""
    text = LOOK_BEHIND.sub(lambda result: result[0].replace(r"\s+", r"\s"), pattern.replace(" ", r"\s+"))
    return re.compile(rf"(?<![\w/.-])(?:{text})(?![\w/-])", 0 if case else re.IGNORECASE)


RULES = {compile_pattern(entry["pattern"], case=entry.get("case", False)): entry["write"] for entry in WORDS}
PACKAGES = [
    "benchmarks",
    "constructs",
    "containers",
    "emulator",
    "engine_build",
    "triton_fleet",
    "client",
    "lambda",
    "stacks",
]
"""Folders whose Python files are searched."""
QUOTED_MESSAGES = {
    "Please check your file, then try to upload again.": "Lambda, CreateFunction with a file that is not an archive",
    "Please make sure the input tensor names are correct.": "trtexec, sampleEngines.cpp",
    "got {}, please rebuild.": "TensorRT, deserialization of an engine of another version",
    "Please ensure that there is an object located at the URL": "SageMaker, data of a model that S3 does not have",
    "Please use AWS Service Quotas to request an": "SageMaker, ResourceLimitExceeded of CreateEndpoint",
    "Please provide all required input(s).": "Triton, infer_request.cc",
    "with sequence batching scheduler. Please disable the response cache.": "Triton, model_config_utils.cc",
    "with 'decoupled' transaction policy. Please disable the response cache.": "Triton, model_config_utils.cc",
}
"""Phrases of other programs, exact, each with the program; `{}` is a value or code."""
ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \|$", re.MULTILINE)


def lint_python(source: str) -> list[tuple[int, str, str]]:
    """Line, phrase and proposal of each phrase in the texts of Python source."""
    result = []
    for line, text in texts(source):
        for phrase in QUOTED_MESSAGES:
            text = text.replace(phrase, "{}")
        result += [
            (line + text[: match.start()].count("\n"), match[0], write)
            for rule, write in RULES.items()
            for match in rule.finditer(text)
        ]
    return result


def lint(folder: Path, paragraphs: Sequence[str]) -> list[tuple[int, str]]:
    """The linter's proposals, by the index of the paragraph."""
    page = folder / "page.md"
    page.write_text("\n\n".join(paragraphs) + "\n")
    starts = [index for index, text in enumerate(paragraphs) for _ in range(text.count("\n") + 2)]
    command = ["node_modules/.bin/markdownlint-cli2", "--no-globs", str(page)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    rows = [(starts[int(line) - 1], write) for line, write in LINT_LINE.findall(process.stderr)]
    assert process.returncode == bool(rows), process.stderr
    return rows


def test_every_entry_has_a_pattern_a_proposal_and_both_sentences() -> None:
    assert len(WORDS) > 20
    for entry in WORDS:
        assert entry.keys() - {"case"} == {"pattern", "write", "before", "after"}, entry
        assert entry["before"] != entry["after"]


def test_each_phrase_is_found_in_its_sentence_before(tmp_path: Path) -> None:
    rows = lint(tmp_path, [entry["before"] for entry in WORDS])
    assert [entry["before"] for index, entry in enumerate(WORDS) if (index, entry["write"]) not in rows] == []


def test_a_phrase_is_found_across_the_ends_of_lines(tmp_path: Path) -> None:
    rows = lint(tmp_path, [entry["before"].replace(" ", "\n") for entry in WORDS])
    assert [entry["before"] for index, entry in enumerate(WORDS) if (index, entry["write"]) not in rows] == []


def test_no_phrase_is_found_in_a_sentence_after(tmp_path: Path) -> None:
    after = [entry["after"] for entry in WORDS]
    assert [(after[index], write) for index, write in lint(tmp_path, after)] == []


def test_code_links_and_plain_english_are_not_found(tmp_path: Path) -> None:
    texts = [
        "The folder `held` is `no name`: `the lock says`.",
        "```text\nthe deploy goes on\n```",
        "See [the decision](docs/decisions/0013-a-rollout-is-called-back-by-its-own-alarms.md).",
        "There is no plan, and there are no weights.",
        "The copy is no longer needed.",
        "Each of them is one file.",
    ]
    assert [(texts[index], write) for index, write in lint(tmp_path, texts)] == []


def test_the_style_guide_shows_what_the_linter_finds(tmp_path: Path) -> None:
    section = (ROOT / "docs/add/style.md").read_text().split("## Sentences")[1].split("## ")[0]
    rows = ROW.findall(section)
    assert len(rows) > 8
    indexes = {index for index, _ in lint(tmp_path, [before for before, _ in rows])}
    assert [before for index, (before, _) in enumerate(rows) if index not in indexes] == []
    assert lint(tmp_path, [after for _, after in rows]) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_phrase_is_found_in_the_texts_of_python_files(package: str) -> None:
    lines = [
        f"{file.relative_to(ROOT)}:{line}: {phrase!r}: write {write!r}"
        for file in sorted((ROOT / package).rglob("*.py"))
        for line, phrase, write in lint_python(file.read_text())
    ]
    assert lines == [], "docs/add/style.md; if another program words it so, add the phrase to QUOTED"


def test_every_quoted_phrase_is_in_a_file_and_would_be_found() -> None:
    sources = [file.read_text() for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    written_texts = [text for source in sources for _, text in texts(source)]
    assert [phrase for phrase in QUOTED_MESSAGES if not any(phrase in text for text in written_texts)] == []
    assert [phrase for phrase in QUOTED_MESSAGES if not any(rule.search(phrase) for rule in RULES)] == []


@pytest.mark.parametrize(
    "source",
    [
        '"""The lock says which archives run."""\n',
        "def read() -> None:\n    '''Read it.\n\n    The deploy goes on.\n    '''\n",
        "x = 1  # the deploy goes on\n",
        "# A plan is judged, and the deploy goes\n# on.\n",
        'x = f"{name} is no {kind}"\n',
        'x = ("A copy is"\n    " no backup")\n',
        '"""The names\n\nof what\nlies here."""\n',
    ],
)
def test_a_phrase_is_found_in_a_text_of_python(source: str) -> None:
    assert lint_python(source)


@pytest.mark.parametrize(
    "source",
    [
        'said = told("the lock records it")\n',
        '"""The folder `held` is `no name`: `the lock says`."""\n',
        'x = "{said}: {told}"\n',
        'x = f"{said.told} and {lies!r}"\n',
        "x = 1  # it goes\ny = 2\n# on its own\n",
        *(f"x = {phrase!r}\n" for phrase in QUOTED_MESSAGES),
    ],
)
def test_names_code_and_quoted_phrases_of_python_are_not_found(source: str) -> None:
    assert lint_python(source) == []


def test_python_is_searched_for_the_same_phrases_as_markdown() -> None:
    assert [entry["before"] for entry in WORDS if not lint_python(f"x = {entry['before']!r}\n")] == []
    assert [entry["after"] for entry in WORDS if lint_python(f"x = {entry['after']!r}\n")] == []
