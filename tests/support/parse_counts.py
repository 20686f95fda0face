"""How often each YAML file is parsed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from fleet.spec import reader
from fleet.spec.source import Source


def parse_counts(monkeypatch: pytest.MonkeyPatch) -> Counter[Path]:
    """A counter of the files whose text the reader parses from now on."""
    counts, parse = Counter[Path](), reader.parse_source

    def counted(file: Path, text: str, max_bytes: int = reader.MAX_BYTES) -> Source:
        counts[file] += 1
        return parse(file, text, max_bytes)

    monkeypatch.setattr(reader, "parse_source", counted)
    return counts
