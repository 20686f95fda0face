"""The changes between recorded specs, which anyone who can write to the bucket may have written."""

from __future__ import annotations

from typing import Any

import pytest

from triton_fleet.changes.spec_changes import recorded_changes

SPEC = {
    "triton": "25.04",
    "instance": {"type": "ml.g5.xlarge"},
    "models": [{"archive": "sentences", "repository": "repository"}],
}


@pytest.mark.parametrize(
    "models",
    [None, 5, {"a": "b"}, ["x"], [{}], [{"archive": []}], [SPEC["models"], {"archive": "a"}]],
    ids=str,
)
def test_a_record_of_any_shape_is_compared_as_it_is(models: Any) -> None:
    record = {} if models is None else {"triton": "25.04", "models": models}
    for pair in ((SPEC, record), (record, SPEC)):
        changes = recorded_changes(*pair)
        assert any(change.key.startswith("models") for change in changes)
        assert all(str(change) for change in changes)
    assert recorded_changes(record, record) == []


def test_a_section_that_comes_or_goes_is_shown_without_the_keys_that_have_no_value() -> None:
    scaling = {"min": 2, "max": 6, "invocations_per_instance": 300}
    (change,) = recorded_changes(SPEC, {**SPEC, "scaling": scaling})
    shown_text = (
        '{"min": 2, "max": 6, "invocations_per_instance": 300.0, "scale_in": "600s", "scale_out": "200s"}'
    )
    assert str(change) == f"`scaling`: none → {shown_text}"
    (change,) = recorded_changes({**SPEC, "scaling": scaling}, SPEC)
    assert str(change) == f"`scaling`: {shown_text} → none"


def test_a_raw_property_without_a_value_is_shown_as_it_is_written() -> None:
    raw: dict[str, object] = {"Endpoint": {"Tags": []}}
    (change,) = recorded_changes(SPEC, {**SPEC, "cloudformation": raw})
    assert str(change) == '`cloudformation.Endpoint`: none → {"Tags": []}'
