"""Real configurations in canonical form: what they mean and all their comments stay."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from fleet.repository.text_format.canonical import canonical
from fleet.repository.text_format.tokens import PbtxtError, Tokens
from fleet.repository.text_format.verdict import parsed
from fleet_folder import ROOT

CORPUS = ROOT.parent / "shared" / "corpus"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the corpus of real configs is not at {CORPUS}")


def real_configs(*, parsable: bool) -> Sequence[Path]:
    with (CORPUS / "INDEX.tsv").open() as index:
        rows = list(csv.DictReader(index, delimiter="\t"))
    return [CORPUS / row["file"] for row in rows if (row["parse"] == "ok") is parsable]


def comments_of(content: bytes) -> list[str]:
    return sorted(comment.text for each in Tokens(content).comments.values() for comment in each)


def test_real_configs_mean_the_same_and_keep_their_comments() -> None:
    configs = real_configs(parsable=True)
    for config in configs:
        content = config.read_bytes()
        text = canonical(content).encode()
        assert parsed(text) == parsed(content), config.name
        assert canonical(text).encode() == text, config.name
        assert comments_of(text) == comments_of(content), config.name
    assert len(configs) > 100


def test_templates_of_configs_are_refused() -> None:
    templates = real_configs(parsable=False)
    for template in templates:
        with pytest.raises(PbtxtError):
            canonical(template.read_bytes())
    assert len(templates) > 10
