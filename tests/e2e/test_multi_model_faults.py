"""A fault of one target of a multi-model endpoint is said by its name and harms no other."""

from __future__ import annotations

import io
import os
import select
import signal
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from tests.support.endpoint_ids import endpoint_id
from tests.support.zoo import ENDPOINT, Zoo, times
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.supervisor import TritonState
from triton_fleet.spec.environment import LocalLimits

pytestmark = pytest.mark.triton


@pytest.fixture(scope="module")
def zoo(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zoo]:
    """An endpoint with one good target."""
    zoo = Zoo(runtime, tmp_path_factory.mktemp("zoo"))
    zoo.start()
    zoo.upload("good.tar.gz", times(3))
    assert zoo.call("good.tar.gz") == 3.0
    yield zoo
    zoo.stop()


def refusal_error(zoo: Zoo, target: str) -> ClientError:
    """The refusal of one target, after which the others are served and the container is well."""
    with pytest.raises(ClientError) as caught:
        zoo.call(target)
    assert zoo.call("good.tar.gz", 2.0) == 6.0
    assert zoo.ping() == 200
    return caught.value


def status_and_words(error: ClientError) -> tuple[int, str]:
    """The status, of the container where it has spoken, and the message."""
    response = error.response
    return int(
        response.get("OriginalStatusCode", response["ResponseMetadata"]["HTTPStatusCode"])  # type: ignore[call-overload]
    ), response["Error"]["Message"]


@pytest.mark.parametrize("body", [b"no archive", b"", b"\x1f\x8b\x08\x00 broken"])
def test_a_file_that_is_no_archive_is_refused_by_name(zoo: Zoo, body: bytes) -> None:
    zoo.upload("broken.tar.gz", body)
    status, words = status_and_words(refusal_error(zoo, "broken.tar.gz"))
    assert status == 400
    assert "Could not unpack model data at s3://zoo-bucket/endpoints/zoo/live/broken.tar.gz" in words


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"times/config.pbtxt": "max_batch_size: many"}, "line 1:17: Expected integer, got: many"),
        ({"times/1/model.py": "raise ValueError('spoilt')"}, "ValueError: spoilt"),
    ],
)
def test_a_model_that_triton_does_not_load_is_refused_by_name_with_tritons_reason(
    zoo: Zoo, files: dict[str, str], message: str
) -> None:
    target = f"spoilt-{len(message)}.tar.gz"
    zoo.upload(target, times(2) | files)
    status, words = status_and_words(refusal_error(zoo, target))
    assert status == 400
    assert target in words
    assert message in words
    assert str(zoo.state.folder) not in words


def test_a_python_model_without_its_code_is_refused_in_place_of_a_load_that_never_ends(zoo: Zoo) -> None:
    files = {name: text for name, text in times(2).items() if not name.endswith("model.py")}
    zoo.upload("codeless.tar.gz", files | {"times/1/notes": "x"})
    status, words = status_and_words(refusal_error(zoo, "codeless.tar.gz"))
    assert status == 400
    assert words.startswith("codeless.tar.gz: model 'times' uses the Python backend and has no model.py")


def test_a_target_that_failed_is_loaded_once_its_archive_is_mended(zoo: Zoo) -> None:
    zoo.upload("mended.tar.gz", b"no archive")
    refusal_error(zoo, "mended.tar.gz")
    zoo.upload("mended.tar.gz", times(4))
    assert zoo.call("mended.tar.gz") == 4.0


def test_an_archive_that_vanished_is_refused_by_name(zoo: Zoo) -> None:
    zoo.upload("vanished.tar.gz", times(5))
    assert zoo.call("vanished.tar.gz") == 5.0
    zoo.delete("vanished.tar.gz")
    status, words = status_and_words(refusal_error(zoo, "vanished.tar.gz"))
    assert status == 400
    assert "key: endpoints/zoo/live/vanished.tar.gz" in words


def test_an_archive_with_two_main_models_is_refused_by_both_names(zoo: Zoo) -> None:
    second = {name.replace("times/", "more/"): text for name, text in times(6).items()}
    zoo.upload("two.tar.gz", times(5) | second)
    status, words = status_and_words(refusal_error(zoo, "two.tar.gz"))
    assert status == 400
    assert words.startswith("two.tar.gz: the archive contains 2 models and no ensemble, more, times")


@pytest.mark.parametrize(
    "target", ["../secret.tar.gz", "a/../../b.tar.gz", "/etc/passwd", "a//b.tar.gz", "."]
)
def test_a_target_that_would_leave_the_prefix_is_refused(zoo: Zoo, target: str) -> None:
    status, words = status_and_words(refusal_error(zoo, target))
    assert status == 400
    assert f"TargetModel {target!r} leaves the endpoint's prefix" in words


@pytest.mark.parametrize("target", ["white space.tar.gz", "$(reboot).tar.gz", "a;b.tar.gz", "é.tar.gz"])
def test_a_target_whose_name_a_shell_would_take_apart_is_refused(zoo: Zoo, target: str) -> None:
    """Triton's Python backend runs a shell command with the name in it: it would fail, hang, or run the name."""
    zoo.upload(target, times(7))
    with pytest.raises((ClientError, UnicodeEncodeError)):
        zoo.call(target)
    if target.isascii():
        status, words = status_and_words(refusal_error(zoo, target))
        assert status == 400
        assert f"TargetModel {target!r} is refused" in words
    assert zoo.report()["restarts"] == 0


def test_an_archive_that_unpacks_to_more_than_the_disk_limit_is_refused_before_it_is_written(
    zoo: Zoo,
) -> None:
    zoo.upload("bomb.tar.gz", times(2) | {"times/1/zeros": "0" * (64 << 20)})
    zoo.limits = LocalLimits.model_validate({"model_disk": "8MiB"})
    status, words = status_and_words(refusal_error(zoo, "bomb.tar.gz"))
    zoo.limits = LocalLimits()
    assert status == 507
    assert (
        "bomb.tar.gz takes at least 64.0 MiB of disk; `local.model_disk` in environments/local.yaml is 8.0 MiB"
        in words
    )


@pytest.mark.parametrize(
    ("name", "kind", "link"),
    [
        ("../../outside", tarfile.REGTYPE, ""),
        ("times/1/weights", tarfile.SYMTYPE, "/etc/hostname"),
        ("times/1/weights", tarfile.SYMTYPE, "../../../../outside"),
        ("times/1/weights", tarfile.LNKTYPE, "../../outside"),
        ("times/1/weights", tarfile.CHRTYPE, ""),
    ],
)
def test_what_would_leave_an_archives_folder_is_refused(zoo: Zoo, name: str, kind: bytes, link: str) -> None:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, link
        tar.addfile(info)
    zoo.upload("outside.tar.gz", archive.getvalue())
    status, words = status_and_words(refusal_error(zoo, "outside.tar.gz"))
    assert status == 400
    assert "Could not unpack model data at s3://zoo-bucket/endpoints/zoo/live/outside.tar.gz" in words


def test_a_triton_that_is_killed_during_a_load_comes_back_and_serves_all_targets(
    zoo: Zoo, tmp_path: Path
) -> None:
    fifo = tmp_path / "loading"
    os.mkfifo(fifo)
    say = f"        open({str(fifo)!r}, 'w').write('x')\n        import threading; threading.Event().wait(60)"
    zoo.upload("stuck.tar.gz", times(2, initialize=say))
    triton = zoo.host._endpoints[endpoint_id(ENDPOINT)].triton
    errors: list[ClientError] = []

    def call() -> None:
        with pytest.raises(ClientError) as caught:
            zoo.call("stuck.tar.gz")
        errors.append(caught.value)

    caller = threading.Thread(target=call)
    caller.start()
    with os.fdopen(os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)) as text:
        assert select.select([text], [], [], 30)[0], "the load did not begin"
    os.kill(zoo.server.process.pid, signal.SIGKILL)
    assert triton.wait_for(TritonState.RESTART, 30)
    caller.join(30)
    (error,) = errors
    assert error.response["Error"]["Code"] == "ModelError"
    assert "The container ended while stuck.tar.gz was loaded" in error.response["Error"]["Message"]
    assert triton.wait_for(TritonState.READY, 30)
    assert zoo.call("good.tar.gz", 4.0) == 12.0
    assert zoo.report()["restarts"] == 1
