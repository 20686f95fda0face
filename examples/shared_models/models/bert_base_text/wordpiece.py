"""The tokens of bert-base-uncased: words without accents, each split into the longest known pieces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

MASK, UNKNOWN, START, END = "[MASK]", "[UNK]", "[CLS]", "[SEP]"
SPECIAL = re.compile(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])")
MAX_WORD_CHARACTERS = 100
"""A longer word is unknown."""
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """The tokenizer of one vocabulary: the token of each line has its number, from 0."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.tokens = vocabulary
        self._ids = {token: index for index, token in enumerate(vocabulary)}
        self.mask = self._ids[MASK]

    def encode(self, text: str) -> list[int]:
        """The ids of a text between [CLS] and [SEP]; special tokens that it holds stay as they are."""
        tokens = [START]
        for part in SPECIAL.split(text):
            tokens += [part] if SPECIAL.fullmatch(part) else self._pieces_of(part)
        return [self._ids[token] for token in [*tokens, END]]

    def _pieces_of(self, text: str) -> Iterator[str]:
        for word in words(text):
            yield from self._pieces(word)

    def _pieces(self, word: str) -> list[str]:
        """The longest known beginnings, all but the first written with ##; unknown if a rest is left."""
        if len(word) > MAX_WORD_CHARACTERS:
            return [UNKNOWN]
        pieces, start = list[str](), 0
        while start < len(word):
            prefix = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if prefix + word[start:end] in self._ids), None)
            if end is None:
                return [UNKNOWN]
            pieces.append(prefix + word[start:end])
            start = end
        return pieces


def words(text: str) -> list[str]:
    """Lower case without accents; each ideograph and each sign of punctuation is a word of its own."""
    cleaned = "".join(map(_cleaned, text))
    plain = (each for each in unicodedata.normalize("NFD", cleaned) if unicodedata.category(each) != "Mn")
    # One by one: of a word, Python would write the last sigma otherwise, which the vocabulary does not.
    lower = "".join(each.lower() for each in plain)
    return "".join(f" {each} " if _is_punctuation(each) else each for each in lower).split()


def _cleaned(character: str) -> str:
    if character in "\t\n\r" or unicodedata.category(character).startswith("Z"):
        return " "
    if character == "\ufffd" or unicodedata.category(character).startswith("C"):
        return ""
    return f" {character} " if _is_ideograph(character) else character


def _is_ideograph(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in _IDEOGRAPHS)


def _is_punctuation(character: str) -> bool:
    is_ascii_sign = character.isascii() and character.isprintable() and not character.isalnum()
    return (is_ascii_sign and character != " ") or unicodedata.category(character).startswith("P")
