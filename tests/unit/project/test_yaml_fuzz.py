"""Any file is read or refused with findings."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from triton_fleet.findings import FindingsError
from triton_fleet.project.reader import read_source
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.problems import validate

KEYS = st.sampled_from([*EndpointSpec.model_fields, "min", "max", "type", "archive", "x"])
SCALARS = st.sampled_from(
    [
        "",
        "~",
        "no",
        "0o17",
        "1e3",
        ".inf",
        "-.nan",
        "25.10",
        "2026-11-20",
        "'a'",
        '"b"',
        "!!binary aGk=",
        "<<",
    ]
)
BLOCKS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(st.tuples(KEYS, inner), max_size=3).map(
            lambda pairs: "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
        ),
    ),
    max_leaves=8,
)
DOCUMENTS = st.lists(st.tuples(KEYS, BLOCKS), max_size=6).map(
    lambda pairs: "".join(f"{key}: {value}\n" for key, value in pairs)
)


def read(content: bytes) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "spec.yaml"
        file.write_bytes(content)
        try:
            validate(EndpointSpec, read_source(file))
        except FindingsError as error:
            assert error.findings
            assert all(finding.file == file for finding in error.findings)


@settings(deadline=None, max_examples=300)
@given(DOCUMENTS)
def test_yaml_that_is_nearly_a_spec(text: str) -> None:
    read(text.encode())


@settings(deadline=None, max_examples=200)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_anything_at_all(content: bytes) -> None:
    read(content)
