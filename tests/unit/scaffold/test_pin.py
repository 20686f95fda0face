"""How a fleet and a remedy name the triton-fleet that is installed: by what pip recorded, never by a guess."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from fleet.findings import CannotRunError
from fleet.scaffold.pin import Origin, install_command, own_origin, own_wheel, product_line
from wheels import VERSION, empty_wheel

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Installed:
    """A distribution of this version with a record of where it came from."""

    version = VERSION

    def __init__(self, record: object) -> None:
        self._record = record

    def read_text(self, name: str) -> str | None:
        return json.dumps(self._record) if name == "direct_url.json" and self._record else None


def origin_of(record: object) -> Origin:
    return own_origin(Installed(record))


GIT = origin_of({"url": "https://example.com/fleet", "vcs_info": {"vcs": "git", "commit_id": COMMIT}})
ARCHIVE = origin_of(
    {"url": f"https://example.com/{COMMIT}.tar.gz", "archive_info": {"hashes": {"sha256": "ab12"}}}
)
FOLDER = origin_of({"url": "file:///home/me/the%20fleet", "dir_info": {"editable": True}})
INDEX = origin_of(None)
KINDS = ["a commit", "an archive", "a folder", "an index"]


def origin_of_file(file: Path, digest: str = "") -> Origin:
    hashes = {"hashes": {"sha256": digest}} if digest else {}
    return origin_of({"url": file.as_uri(), "archive_info": hashes})


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (GIT, f"pip install 'triton-fleet[local] @ git+https://example.com/fleet@{COMMIT}'"),
        (ARCHIVE, f"pip install 'triton-fleet[local] @ https://example.com/{COMMIT}.tar.gz#sha256=ab12'"),
        (FOLDER, "pip install 'triton-fleet[local] @ file:///home/me/the%20fleet'"),
        (INDEX, f"install triton-fleet[local] in its version {VERSION}, as you installed it before"),
    ],
    ids=KINDS,
)
def test_a_remedy_names_what_was_installed_and_no_version_of_an_index(origin: Origin, command: str) -> None:
    assert install_command("[local]", origin) == command
    assert "==" not in command


@pytest.mark.parametrize("recorded", [True, False], ids=["by pip", "by uv, which records no digest"])
def test_the_wheel_that_was_installed_is_the_one_that_a_fleet_has(tmp_path: Path, recorded: bool) -> None:
    file = empty_wheel(tmp_path)
    digest = sha256(file.read_bytes()).hexdigest()
    wheel = own_wheel(origin=origin_of_file(file, digest if recorded else ""))
    assert (wheel.content, wheel.digest) == (file.read_bytes(), digest)
    assert wheel.requirement("[local]") == f"./vendor/{file.name}[local] --hash=sha256:{digest}"


def test_a_wheel_that_was_replaced_since_is_refused(tmp_path: Path) -> None:
    file = empty_wheel(tmp_path)
    with pytest.raises(CannotRunError, match="another file than this triton-fleet was installed from"):
        own_wheel(origin=origin_of_file(file, "00" * 32))


def test_a_wheel_that_is_broken_or_gone_is_refused(tmp_path: Path) -> None:
    file = empty_wheel(tmp_path)
    file.write_bytes(b"")
    with pytest.raises(CannotRunError, match="does not exist, or is not a wheel"):
        own_wheel(origin=origin_of_file(file))
    file.unlink()
    with pytest.raises(CannotRunError, match="does not exist, or is not a wheel"):
        own_wheel(origin=origin_of_file(file))


@pytest.mark.parametrize("version", ["0.0.1", f"{VERSION}1"])
def test_a_wheel_of_another_version_is_refused(tmp_path: Path, version: str) -> None:
    with pytest.raises(CannotRunError, match=f"is not a wheel of triton-fleet {VERSION}, which runs"):
        own_wheel(empty_wheel(tmp_path, version), INDEX)


@pytest.mark.parametrize(
    ("origin", "place", "remedy"),
    [
        (
            GIT,
            f"git+https://example.com/fleet@{COMMIT}",
            f"build it with `pip wheel --no-deps 'triton-fleet @ git+https://example.com/fleet@{COMMIT}'`",
        ),
        (
            ARCHIVE,
            f"https://example.com/{COMMIT}.tar.gz",
            "build it with `pip wheel --no-deps"
            f" 'triton-fleet @ https://example.com/{COMMIT}.tar.gz#sha256=ab12'`",
        ),
        (FOLDER, "/home/me/the fleet", "build it with `make wheel` in /home/me/the fleet"),
        (INDEX, "a package index", f"download it from where you got version {VERSION}"),
    ],
    ids=KINDS,
)
def test_anything_else_than_a_wheel_is_named_with_the_way_to_one(
    origin: Origin, place: str, remedy: str
) -> None:
    with pytest.raises(CannotRunError) as error:
        own_wheel(origin=origin)
    assert error.value.problem.endswith(f" was installed from {place}")
    assert error.value.remedy == f"{remedy}, and name it: --wheel FILE"


def test_a_wheel_that_is_named_goes_before_what_was_installed(tmp_path: Path) -> None:
    file = empty_wheel(tmp_path)
    assert own_wheel(file, GIT).content == file.read_bytes()


@pytest.mark.parametrize(
    ("line", "extras"),
    [
        ("triton-fleet[local]==0.2.0  # ours", "[local]"),
        ("Triton_Fleet @ https://example.com/a.whl", None),
        ("./vendor/triton_fleet-0.2.0-py3-none-any.whl --hash=sha256:ab", None),
        ("./vendor/triton_fleet-0.2.0-py3-none-any.whl[local] --hash=sha256:ab", "[local]"),
    ],
)
def test_the_line_of_the_product_is_found_among_others(line: str, extras: str | None) -> None:
    found = product_line(f"boto3==1\n# triton-fleet==1\ntriton-fleet-tools==9\n{line}\nnumpy==2\n")
    assert found is not None
    assert (found[0], found["extras"]) == (line, extras)
