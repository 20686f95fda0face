"""A report says when the stacks of endpoints gain or lose their protection: no template has it."""

from __future__ import annotations

import pytest

from triton_fleet.review.fleet_review import protection_note
from triton_fleet.spec.environment import Environment


def environment(*, is_protected: bool) -> Environment:
    return Environment(
        environment="prod", account="111122223333", region="us-east-1", termination_protection=is_protected
    )


@pytest.mark.parametrize(
    ("before", "after", "note"),
    [
        (False, False, ()),
        (True, True, ()),
        (False, True, ("the next deploy of prod protects its endpoints' stacks against deletion",)),
        (
            True,
            False,
            ("the next deploy of prod lets its endpoints' stacks be deleted: termination protection is off",),
        ),
    ],
)
def test_a_changed_protection_is_a_note_of_its_environment(
    before: bool, after: bool, note: tuple[str, ...]
) -> None:
    sides = environment(is_protected=before), environment(is_protected=after)
    assert protection_note("prod", *sides) == note
