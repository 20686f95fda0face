"""No participle and no adverb names a Python file or its package; docs/style.md explains why.

The last word of a name counts: `failed_rollback` ends with its noun, `invoke_refused` does not.
"""

from __future__ import annotations

import subprocess
from pathlib import PurePosixPath

import pytest

from fleet_folder import ROOT


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NOUNS = _words(
    """
    autoscaling batching decoding encoding feed hosting linting loading mapping monitoring need opening packing parsing
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
DEPLOYED = frozenset(
    [
        "lambda/endpoint_check/passing.py",
        "lambda/endpoint_logs/retried.py",
        "lambda/scaling_guard/registered.py",
        "lambda/scaling_guard/retried.py",
        "lambda/scaling_guard/saved.py",
    ]
)
"""Sources that are deployed as they are: a new name alone would deploy the functions of every account again."""
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
    assert sorted(refused_paths() - DEPLOYED - MODES) == [], "end the name with a noun (docs/style.md)"


def test_what_was_renamed_has_left_the_list() -> None:
    assert sorted(DEPLOYED - refused_paths()) == [], "delete these from DEPLOYED"
