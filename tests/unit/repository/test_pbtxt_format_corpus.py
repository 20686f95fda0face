"""Real configurations in canonical form: what they mean and all their comments stay."""

from __future__ import annotations

import pytest

from corpus import files, needs_corpus
from fleet.repository.text_format.canonical import canonical
from fleet.repository.text_format.tokens import PbtxtError, Tokens
from fleet.repository.text_format.verdict import parse_config

pytestmark = needs_corpus


def comments_of(content: bytes) -> list[str]:
    return sorted(comment.text for each in Tokens(content).comments.values() for comment in each)


def test_real_configs_mean_the_same_and_keep_their_comments() -> None:
    configs = files(parsable=True)
    for config in configs:
        content = config.read_bytes()
        text = canonical(content).encode()
        assert parse_config(text) == parse_config(content), config.name
        assert canonical(text).encode() == text, config.name
        assert comments_of(text) == comments_of(content), config.name
    assert len(configs) > 100


def test_templates_of_configs_are_refused() -> None:
    templates = files(parsable=False)
    for template in templates:
        with pytest.raises(PbtxtError):
            canonical(template.read_bytes())
    assert len(templates) > 10
