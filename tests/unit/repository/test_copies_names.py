"""Renaming the models of a config.pbtxt changes these names and no other byte."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path
from typing import Any

import pytest
import tritonclient
from google.protobuf import text_encoding, text_format
from hypothesis import given
from hypothesis import strategies as st

from tests.support.fleet_folder import ROOT
from triton_fleet.repository.copies import renamed_config
from triton_fleet.repository.text_format.tokens import PbtxtError
from triton_fleet.repository.text_format.tree import strings

CORPUS = ROOT.parent / "shared" / "corpus"
MODELS = ("bert", "pre", "post")


def triton_config() -> Any:
    """Triton's own message; its module needs protobuf alone, its package a client of gRPC too."""
    file = Path(tritonclient.__file__).parent / "grpc" / "model_config_pb2.py"
    spec = importlib.util.spec_from_file_location("model_config_pb2", file)
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ModelConfig


CONFIG = triton_config()


def parse_config_of(content: bytes) -> Any:
    return text_format.Parse(content, CONFIG())


@pytest.mark.parametrize(
    ("config", "expected_text"),
    [
        ('name: "bert"\n', 'name: "bert_7"\n'),
        ("name: 'bert'", "name: 'bert_7'"),
        ('name :\t"bert" ; max_batch_size: 8', 'name :\t"bert_7" ; max_batch_size: 8'),
        ('name: "be" "rt", backend: "x"', 'name: "be" "rt_7", backend: "x"'),
        ("name: \"be\" # bert\n  'rt'", "name: \"be\" # bert\n  'rt_7'"),
        ('name: "\\x62\\145r\\u0074"', 'name: "\\x62\\145r\\u0074_7"'),
        ('# name: "bert"\r\nname: "bert"\r\n', '# name: "bert"\r\nname: "bert_7"\r\n'),
        ('\ufeffname: "bert"', '\ufeffname: "bert_7"'),
        ('platform: "bert"', 'platform: "bert"'),
        ('name: ""', 'name: ""'),
        ('input [ { name: "bert" } ]', 'input [ { name: "bert" } ]'),
        ('output { name: "bert" label_filename: "pre" }', 'output { name: "bert" label_filename: "pre" }'),
        (
            'parameters { key: "pre" value { string_value: "bert" } }',
            'parameters { key: "pre" value { string_value: "bert" } }',
        ),
        (
            'ensemble_scheduling { step [ { model_name: "pre" model_version: -1 }, { model_name: "bert" } ] }',
            'ensemble_scheduling { step [ { model_name: "pre_7" model_version: -1 }, { model_name: "bert_7" } ] }',
        ),
        (
            "ensemble_scheduling: < step: < model_name: 'post'; input_map < key: 'pre' value: 'bert' > > >",
            "ensemble_scheduling: < step: < model_name: 'post_7'; input_map < key: 'pre' value: 'bert' > > >",
        ),
        (
            'ensemble_scheduling { step { model_name: "of_another_archive" } }',
            'ensemble_scheduling { step { model_name: "of_another_archive" } }',
        ),
    ],
)
def test_names_of_models_are_renamed_and_what_looks_like_them_is_not(config: str, expected_text: str) -> None:
    renamed_text = renamed_config(config.encode(), MODELS, 7)
    assert renamed_text.decode() == expected_text
    parse_config_of(
        renamed_text.removeprefix(b"\xef\xbb\xbf")
    )  # Python's parser does not skip the mark; Triton's does


@pytest.mark.parametrize(
    ("config", "line", "problem"),
    [
        ("\n{% for x in y %}", 2, "'%' does not belong here"),
        ('name: "bert', 1, "does not belong here"),
        ("name bert", 1, "`:` is missing after 'name'"),
        ("name:\n", 2, "a value is expected, not the end"),
        ("input {", 1, "the name of a field is expected, not the end"),
        ("input { >", 1, "the name of a field is expected, not '>'"),
        ("}", 1, "the name of a field is expected, not '}'"),
        ("dims: [ 1 2 ]", 1, "separated by single commas"),
        ("dims: [ 1, ]", 1, "separated by single commas"),
        ("dims: [ [ 1 ] ]", 1, "a value is expected, not '['"),
    ],
)
def test_what_is_not_protobufs_text_format_is_refused_by_line(config: str, line: int, problem: str) -> None:
    with pytest.raises(PbtxtError, match=".") as refusal:
        renamed_config(config.encode(), MODELS, 0)
    assert refusal.value.line == line
    assert problem in str(refusal.value)


def test_deep_nesting_is_refused_instead_of_exhausting_the_memory() -> None:
    with pytest.raises(PbtxtError, match="nested deeper than 100 levels"):
        renamed_config(b"a { " * 100_000, MODELS, 0)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        actual_strings = list(strings(content))
    except PbtxtError:
        return
    assert all(content[text.end : text.end + 1] in (b'"', b"'") for text in actual_strings)


@given(st.text(min_size=1), st.sampled_from(["'", '"']))
def test_a_name_is_known_whatever_escapes_it_is_written_in(name: str, quote: str) -> None:
    written_escape = text_encoding.CEscape(name.encode(), as_utf8=False)
    config = f"name: {quote}{written_escape}{quote}".encode()
    assert parse_config_of(renamed_config(config, [name], 12)).name == f"{name}_12"


def real_configs() -> list[Path]:
    with (CORPUS / "INDEX.tsv").open() as index:
        return [CORPUS / row["file"] for row in csv.DictReader(index, delimiter="\t") if row["parse"] == "ok"]


@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the corpus of real configs is not at {CORPUS}")
def test_in_real_configs_the_models_names_change_and_nothing_else_does() -> None:
    configs = real_configs()
    for config in configs:
        content = config.read_bytes()
        expected_value = parse_config_of(content)
        models = {expected_value.name} | {step.model_name for step in expected_value.ensemble_scheduling.step}
        renamed_text = renamed_config(content, models, 3)
        if expected_value.name:
            expected_value.name += "_3"
        for step in expected_value.ensemble_scheduling.step:
            step.model_name += "_3"
        assert parse_config_of(renamed_text) == expected_value, config.name
        names = bool(expected_value.name) + len(expected_value.ensemble_scheduling.step)
        assert len(renamed_text) - len(content) == len("_3") * names, config.name
    assert len(configs) > 100
