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
