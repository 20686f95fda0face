"""The key of an image follows from its inputs, and from nothing else."""

from __future__ import annotations

import pytest

from tests.support.image_builds import DIGEST, TRITON
from triton_fleet.builds.images.artifacts import image_key

KEY = image_key(DIGEST, TRITON, {"A": "1", "B": "2"})


def test_it_is_the_same_forever() -> None:
    assert KEY == "sha256:27eeb32eb28e86b23e38b9cfe5fd99c85508c94d09b0e943a885f4b79063e104"


def test_the_order_of_arguments_does_not_matter() -> None:
    assert image_key(DIGEST, TRITON, {"B": "2", "A": "1"}) == KEY


@pytest.mark.parametrize(
    "other_text",
    [
        image_key(f"sha256:{'1' * 64}", TRITON, {"A": "1", "B": "2"}),
        image_key(DIGEST, f"{TRITON}-cpu", {"A": "1", "B": "2"}),
        image_key(DIGEST, TRITON, {"A": "1"}),
        image_key(DIGEST, TRITON, {"A": "2", "B": "1"}),
    ],
    ids=["context", "base", "fewer arguments", "values"],
)
def test_every_input_changes_it(other_text: str) -> None:
    assert other_text != KEY
