"""The prose linter's words: each phrase is found in its sentence before, and not in the one after."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from fleet_folder import ROOT

WORDS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".ci/words.yaml").read_text())
FOUND = re.compile(r'^[^:\s]+:(\d+)(?::\d+)? error .*?: write "(.*)"\] \[Context', re.MULTILINE)
ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \|$", re.MULTILINE)


def lint(folder: Path, paragraphs: Sequence[str]) -> list[tuple[int, str]]:
    """What the linter proposes, by the index of the paragraph."""
    page = folder / "page.md"
    page.write_text("\n\n".join(paragraphs) + "\n")
    starts = [index for index, text in enumerate(paragraphs) for _ in range(text.count("\n") + 2)]
    command = ["node_modules/.bin/markdownlint-cli2", "--no-globs", str(page)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = [(starts[int(line) - 1], write) for line, write in FOUND.findall(done.stderr)]
    assert done.returncode == bool(found), done.stderr
    return found


def test_every_entry_has_a_pattern_a_proposal_and_both_sentences() -> None:
    assert len(WORDS) > 20
    for entry in WORDS:
        assert entry.keys() - {"case"} == {"pattern", "write", "before", "after"}, entry
        assert entry["before"] != entry["after"]


def test_each_phrase_is_found_in_its_sentence_before(tmp_path: Path) -> None:
    found = lint(tmp_path, [entry["before"] for entry in WORDS])
    assert [
        entry["before"] for index, entry in enumerate(WORDS) if (index, entry["write"]) not in found
    ] == []


def test_a_phrase_is_found_across_the_ends_of_lines(tmp_path: Path) -> None:
    found = lint(tmp_path, [entry["before"].replace(" ", "\n") for entry in WORDS])
    assert [
        entry["before"] for index, entry in enumerate(WORDS) if (index, entry["write"]) not in found
    ] == []


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
    section = (ROOT / "docs/style.md").read_text().split("## Sentences")[1].split("## ")[0]
    rows = ROW.findall(section)
    assert len(rows) > 8
    found = {index for index, _ in lint(tmp_path, [before for before, _ in rows])}
    assert [before for index, (before, _) in enumerate(rows) if index not in found] == []
    assert lint(tmp_path, [after for _, after in rows]) == []
