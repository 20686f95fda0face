"""The name of an image is read as Docker reads it."""

from __future__ import annotations

import pytest

from triton_fleet.spec.image_name import MAX_LENGTH, ImageName, image_name

DIGEST = f"sha256:{'0' * 64}"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a", {}),
        ("library/a", {"repository": "library/a"}),
        ("a:1", {"tag": "1"}),
        (f"a@{DIGEST}", {"digest": DIGEST}),
        ("host:5000/a", {"registry": "host:5000"}),
        ("host.example/a", {"registry": "host.example"}),
        ("localhost/a", {"registry": "localhost"}),
        (
            f"host:5000/a/b__c:1@{DIGEST}",
            {"registry": "host:5000", "repository": "a/b__c", "tag": "1", "digest": DIGEST},
        ),
    ],
)
def test_its_parts_are_told_apart_and_written_back(text: str, parts: dict[str, str]) -> None:
    name = image_name(text)
    assert name == ImageName(**{"repository": "a", **parts})
    assert str(name) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A",
        "a b",
        "a:",
        "a@sha256:x",
        "a/",
        "/a",
        "a___b",
        "a..b",
        "Host/a",
        "a:é",
        "a" * (MAX_LENGTH + 1),
    ],
)
def test_what_is_no_name_has_no_parts(text: str) -> None:
    assert image_name(text) is None
