"""An engine's key follows from all that decides what comes out, and from nothing else."""

from __future__ import annotations

from dataclasses import fields, replace

from hypothesis import assume, given
from hypothesis import strategies as st

from triton_fleet.builds.engines.artifacts import EngineBuild

WORDS = st.text(min_size=1, max_size=20)
BUILDS = st.builds(
    EngineBuild,
    onnx=WORDS,
    arguments=st.lists(WORDS, max_size=4).map(tuple),
    gpu=WORDS,
    compute_capability=WORDS,
    image=WORDS,
)


@given(BUILDS, BUILDS)
def test_another_value_of_any_field_makes_another_key(first: EngineBuild, second: EngineBuild) -> None:
    for field in fields(EngineBuild):
        value = getattr(second, field.name)
        assume(value != getattr(first, field.name))
        assert replace(first, **{field.name: value}).key != first.key


@given(BUILDS)
def test_equal_builds_share_one_key_of_a_known_form(build: EngineBuild) -> None:
    assert replace(build).key == build.key
    assert build.key.startswith("sha256:") and len(build.key) == len("sha256:") + 64


def test_a_key_never_changes_between_versions_of_this_product() -> None:
    build = EngineBuild(
        onnx=f"sha256:{1:064}",
        arguments=("--fp16", "--skipInference"),
        gpu="A10G",
        compute_capability="8.6",
        image="sagemaker-tritonserver:25.04-py3",
    )
    assert build.key == "sha256:2f4c83d9198f98afd1fa9c2dd0efd8a59ab73fe5ab68d7c00753f6d0dbcc9c81"
