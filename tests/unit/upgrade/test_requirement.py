"""What VERSION makes pip install."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.upgrade.requirement import requirement


@pytest.mark.parametrize(
    ("version", "wanted"),
    [
        ("0.3.0", "0.3.0"),
        ("v0.3.0", "0.3.0"),
        ("1", "1"),
        ("0.3.0rc1", "0.3.0rc1"),
        ("0.3.0.dev0", "0.3.0.dev0"),
        ("1!2.0.post1+local.1", "1!2.0.post1+local.1"),
    ],
)
def test_a_version_is_one_of_triton_fleet(version: str, wanted: str) -> None:
    assert requirement(version) == f"triton-fleet=={wanted}"


@pytest.mark.parametrize("url", ["https://example.com/a.whl", "git+ssh://git@example.com/fleet.git@main"])
def test_a_url_is_one_of_triton_fleet(url: str) -> None:
    assert requirement(url) == f"triton-fleet @ {url}"


def test_a_path_is_one_of_triton_fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a b.whl").touch()
    monkeypatch.chdir(tmp_path)
    assert requirement("a b.whl") == f"triton-fleet @ {tmp_path.as_uri()}/a%20b.whl"


@pytest.mark.parametrize(
    "name", ["latest", "", "0.3.*", "1.0 evil", "0.3.0\n", "triton-fleet", "--pre", "dist/a.whl"]
)
def test_anything_else_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="not a version, a path that exists or a URL"):
        requirement(name)
