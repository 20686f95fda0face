"""How a fleet and a remedy name the triton-fleet that is installed: by what pip recorded, never by a guess."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from tests.support.wheels import VERSION, empty_wheels
from triton_fleet.findings import CannotRunError
from triton_fleet.product.distributions import Wheels, product_line, product_lines
from triton_fleet.product.pin import Commit, Origin, install_command, own_origin, own_pin

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class InstalledPackage(Distribution):
    """A distribution of this version with a record of where it came from."""

    version = VERSION

    def __init__(self, record: object) -> None:
        self._record = record

    def read_text(self, name: str) -> str | None:
        return json.dumps(self._record) if name == "direct_url.json" and self._record else None

    def locate_file(self, path: object) -> Path:
        raise NotImplementedError


def origin_of(record: object) -> Origin:
    return own_origin(InstalledPackage(record))


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


def lock_text(*parts: str) -> str:
    return " ".join(f"'{part}'" for part in parts)


GIT_URL = f"git+https://example.com/fleet@{COMMIT}"
ARCHIVE_URL = f"https://example.com/{COMMIT}.tar.gz#sha256=ab12"
OF_GIT = lock_text(
    f"triton-fleet[local] @ {GIT_URL}",
    f"triton-endpoints @ {GIT_URL}#subdirectory=constructs",
    f"triton-fleet-client @ {GIT_URL}#subdirectory=client",
    f"triton-fleet-emulator @ {GIT_URL}#subdirectory=emulator",
)
OF_ARCHIVE = lock_text(
    f"triton-fleet[local] @ {ARCHIVE_URL}",
    f"triton-endpoints @ {ARCHIVE_URL}&subdirectory=constructs",
    f"triton-fleet-client @ {ARCHIVE_URL}&subdirectory=client",
    f"triton-fleet-emulator @ {ARCHIVE_URL}&subdirectory=emulator",
)
OF_FOLDER = lock_text(
    "triton-fleet[local] @ file:///home/me/the%20fleet",
    "triton-endpoints @ file:///home/me/the%20fleet/constructs",
    "triton-fleet-client @ file:///home/me/the%20fleet/client",
    "triton-fleet-emulator @ file:///home/me/the%20fleet/emulator",
)
NAME = f"{VERSION}-py3-none-any.whl"
WHEEL = origin_of(
    {"url": f"file:///home/me/triton_fleet-{NAME}", "archive_info": {"hashes": {"sha256": "ab12"}}}
)


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (GIT, f"pip install {OF_GIT}"),
        (ARCHIVE, f"pip install {OF_ARCHIVE}"),
        (FOLDER, f"pip install {OF_FOLDER}"),
        (INDEX, f"install triton-fleet[local] in its version {VERSION}, as you installed it before"),
    ],
    ids=KINDS,
)
def test_a_remedy_names_what_was_installed_and_no_version_of_an_index(origin: Origin, command: str) -> None:
    assert install_command("[local]", origin) == command
    assert "==" not in command


def test_a_remedy_names_the_wheels_beside_the_one_that_was_installed() -> None:
    assert install_command("[deploy]", WHEEL) == "pip install " + lock_text(
        f"triton-fleet[deploy] @ file:///home/me/triton_fleet-{NAME}#sha256=ab12",
        f"triton-endpoints @ file:///home/me/triton_endpoints-{NAME}",
        f"triton-fleet-client @ file:///home/me/triton_fleet_client-{NAME}",
    )


def wheels_of(folder: Path | None = None, origin: Origin | None = None) -> Wheels:
    pin = own_pin(folder, origin)
    assert isinstance(pin, Wheels)
    return pin


@pytest.mark.parametrize("is_recorded", [True, False], ids=["by pip", "by uv, which records no digest"])
def test_the_wheels_that_were_installed_are_those_that_a_fleet_has(tmp_path: Path, is_recorded: bool) -> None:
    file = empty_wheels(tmp_path) / f"triton_fleet-{NAME}"
    digest = sha256(file.read_bytes()).hexdigest()
    wheels = wheels_of(origin=origin_of_file(file, digest if is_recorded else ""))
    assert wheels.files("[local]") == {
        f"vendor/{path.name}": path.read_bytes() for path in tmp_path.iterdir()
    }
    assert wheels.lines("[local]")[0] == f"./vendor/{file.name}[local] --hash=sha256:{digest}"
    assert [re.sub("[0-9a-f]{64}", "DIGEST", line) for line in wheels.lines("[deploy]")] == [
        f"./vendor/triton_fleet-{NAME}[deploy] --hash=sha256:DIGEST",
        f"./vendor/triton_endpoints-{NAME} --hash=sha256:DIGEST",
        f"./vendor/triton_fleet_client-{NAME} --hash=sha256:DIGEST",
    ]


def test_a_fleet_without_the_wheel_of_the_embedded_aws_deploys_and_serves_nothing_here(
    tmp_path: Path,
) -> None:
    empty_wheels(tmp_path)
    assert wheels_of(tmp_path, GIT).extras == "[local]"
    (tmp_path / f"triton_fleet_emulator-{NAME}").unlink()
    wheels = wheels_of(tmp_path, GIT)
    assert wheels.extras == "[deploy]"
    with pytest.raises(CannotRunError, match="has no wheel of triton-fleet-emulator, which a fleet with"):
        wheels.lines("[local]")


def test_a_commit_is_pinned_with_all_that_the_extras_bring() -> None:
    pin = own_pin(origin=GIT)
    assert isinstance(pin, Commit)
    assert pin.extras == "[local]"
    assert lock_text(*pin.lines("[local]")) == OF_GIT
    assert all(COMMIT in line for line in pin.lines("[deploy]")) and len(pin.lines("[deploy]")) == 3


def test_a_wheel_that_was_replaced_since_is_refused(tmp_path: Path) -> None:
    file = empty_wheels(tmp_path) / f"triton_fleet-{NAME}"
    with pytest.raises(CannotRunError, match="another file than this triton-fleet was installed from"):
        own_pin(origin=origin_of_file(file, "00" * 32))


@pytest.mark.parametrize("part", ["triton_fleet", "triton_endpoints", "triton_fleet_emulator"])
def test_a_wheel_that_is_broken_or_gone_is_refused(tmp_path: Path, part: str) -> None:
    origin = origin_of_file(empty_wheels(tmp_path) / f"triton_fleet-{NAME}")
    file = tmp_path / f"{part}-{NAME}"
    file.write_bytes(b"")
    with pytest.raises(CannotRunError, match=f"{part}-{NAME} is not a wheel"):
        own_pin(origin=origin)
    file.unlink()
    if part != "triton_fleet_emulator":
        with pytest.raises(CannotRunError, match=f"{part}-{NAME} does not exist"):
            own_pin(origin=origin)


@pytest.mark.parametrize("version", ["0.0.1", f"{VERSION}1"])
def test_wheels_of_another_version_are_refused(tmp_path: Path, version: str) -> None:
    with pytest.raises(CannotRunError, match=f"a fleet of version {VERSION} has the wheels of all parts"):
        own_pin(empty_wheels(tmp_path, version), INDEX)


@pytest.mark.parametrize(
    ("origin", "place", "remedy"),
    [
        (
            ARCHIVE,
            f"https://example.com/{COMMIT}.tar.gz",
            f"build them with `pip wheel --no-deps {OF_ARCHIVE}`",
        ),
        (FOLDER, "/home/me/the fleet", "build them with `make wheel` in /home/me/the fleet"),
        (INDEX, "a package index", f"download them from where you got version {VERSION}"),
    ],
    ids=KINDS[1:],
)
def test_anything_else_is_named_with_the_way_to_wheels(origin: Origin, place: str, remedy: str) -> None:
    with pytest.raises(CannotRunError) as error:
        own_pin(origin=origin)
    assert error.value.problem.endswith(f" was installed from {place}")
    assert error.value.remedy == f"{remedy}, and name their folder: --wheels DIR"


def test_wheels_that_are_named_go_before_what_was_installed(tmp_path: Path) -> None:
    assert wheels_of(empty_wheels(tmp_path), GIT).folder == tmp_path


@pytest.mark.parametrize(
    ("line", "extras"),
    [
        ("triton-fleet[local]==0.2.0  # ours", "[local]"),
        ("Triton_Fleet @ https://example.com/a.whl", None),
        ("./vendor/triton_fleet-0.2.0-py3-none-any.whl --hash=sha256:ab", None),
        ("./vendor/triton_fleet-0.2.0-py3-none-any.whl[local] --hash=sha256:ab", "[local]"),
    ],
)
def test_the_lines_of_the_product_are_found_among_others(line: str, extras: str | None) -> None:
    other_text = (
        "./vendor/triton_endpoints-0.2.0-py3-none-any.whl --hash=sha256:ab\ntriton-fleet-client==0.2.0"
    )
    text = f"boto3==1\n# triton-fleet==1\ntriton-fleet-tools==9\n{other_text}\n{line}\nnumpy==2\n"
    match = product_line(text)
    assert match is not None
    assert (match[0], match["extras"]) == (line, extras)
    assert "\n".join(match[0] for match in product_lines(text)) == f"{other_text}\n{line}"
