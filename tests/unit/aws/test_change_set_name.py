"""The name of a stack's change set, which only a deploy of the same content has."""

from __future__ import annotations

import re
from dataclasses import replace

from triton_fleet.changes.stack_comparison import SynthesisedStack

STACK = SynthesisedStack(template="{}", tags={"team": "a"}, notifications=[], is_protected=True)


def test_only_a_stack_of_the_same_content_has_the_same_name() -> None:
    other_stacks = [
        replace(STACK, template='{"Resources": {}}'),
        replace(STACK, tags={"team": "b"}),
        replace(STACK, notifications=["arn:aws:sns:us-east-1:111122223333:any"]),
    ]
    assert replace(STACK).change_set == STACK.change_set
    assert len({stack.change_set for stack in (STACK, *other_stacks)}) == 4


def test_cloudformation_takes_the_name() -> None:
    """API reference, CreateChangeSet: a letter first, then letters, digits and hyphens, 128 at most."""
    assert re.fullmatch("[A-Za-z][-A-Za-z0-9]{0,127}", STACK.change_set)
