"""Other people's configurations, which lie beside the project and not in it, with a real Triton's verdicts."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import cache

import pytest

from tests.support.fleet_folder import ROOT

CORPUS = ROOT.parent / "shared" / "corpus"
INDEX = CORPUS / "INDEX.tsv"
needs_corpus = pytest.mark.skipif(
    not INDEX.is_file(), reason=f"the corpus of real configs is not at {CORPUS}"
)


@cache
def rows() -> Sequence[dict[str, str]]:
    """The index: a row for each file."""
    with INDEX.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))
