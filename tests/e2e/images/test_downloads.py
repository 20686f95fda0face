"""Configurations and layers of images are downloaded, whatever is in them."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import pytest
from moto.s3.models import s3_backends

from fleet_emulator.registry.images import OWNER
from fleet_emulator.server import EmbeddedAws
from tests.support.container_images import (
    CONFIG,
    FILES,
    LAYER,
    TRITON,
    ContainerRepository,
    digest_of,
    facts_of,
    layer,
    reference_of,
    refusal,
)
from tests.support.embedded_keys import KEYS
from tests.support.hostile_tar import END, file, header
from triton_fleet.awsapi.emulator import local_session
from triton_fleet.awsapi.images import registry
from triton_fleet.findings import CannotRunError
from triton_fleet.repository.reading import gunzip

BUCKET = "prod-us-east-1-starport-layer-bucket"


def replace_blob(repository: ContainerRepository, digest: str, content: bytes) -> None:
    """Have the store answer with other bytes than those that were uploaded."""
    key = f"123456789012/{repository.name}/{digest.removeprefix('sha256:')}"
    s3_backends[OWNER]["aws"].put_object(BUCKET, key, content)


class OtherUrl:
    """A client whose layers are elsewhere."""

    def __init__(self, ecr: Any, url: str = "", suffix: str = "") -> None:
        self._ecr, self._url, self._suffix = ecr, url, suffix

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ecr, name)

    def get_download_url_for_layer(self, **request: str) -> Mapping[str, str]:
        answer = self._ecr.get_download_url_for_layer(**request)
        return {"downloadUrl": self._url or answer["downloadUrl"] + self._suffix}


def test_a_url_that_s3_refuses_names_the_bucket(repository: ContainerRepository) -> None:
    repository.push([], tag="one")
    with pytest.raises(CannotRunError, match="HTTP status 403") as error_info:
        registry.read_image(OtherUrl(repository.ecr, suffix="0"), reference_of(repository), layers=False)
    assert f"{BUCKET}/*" in error_info.value.remedy


def test_a_url_that_nobody_answers_cannot_be_read(repository: ContainerRepository) -> None:
    repository.push([], tag="one")
    with pytest.raises(CannotRunError, match="AWS does not answer"):
        registry.read_image(
            OtherUrl(repository.ecr, "http://localhost:1/"), reference_of(repository), layers=False
        )


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (b"not JSON", "its configuration is not a JSON object"),
        (b"[]", "its configuration is not a JSON object"),
        (b"[" * 100_000, "its configuration is not a JSON object"),
        (b'{"a": ' + b"1" * 10_000 + b"}", "its configuration is not a JSON object"),
        (b"\xff\xfe\xfd", "its configuration is not a JSON object"),
    ],
    ids=["text", "list", "deep", "long number", "not Unicode"],
)
def test_a_configuration_that_is_none_is_refused(
    repository: ContainerRepository, config: bytes, problem: str
) -> None:
    repository.push([], config, tag="one")
    assert refusal(repository).endswith(problem)


def test_a_configuration_of_100_mb_is_not_downloaded(repository: ContainerRepository) -> None:
    content = json.dumps(TRITON).encode()
    descriptor = {**repository.blob(content, CONFIG), "size": 100 << 20}
    repository.push([], changes={"config": descriptor}, tag="one")
    assert "its configuration has more than 8 MiB" in refusal(repository)


def test_a_download_ends_where_the_manifest_says_it_does(repository: ContainerRepository) -> None:
    content = json.dumps(TRITON).encode()
    repository.push([], changes={"config": {**repository.blob(content, CONFIG), "size": 10}}, tag="one")
    assert "is larger than the 10 bytes of its manifest" in refusal(repository)


@pytest.mark.parametrize("changed_number", [0, -1], ids=["first", "last"])
def test_other_bytes_than_those_of_the_digest_are_refused(
    repository: ContainerRepository, changed_number: int
) -> None:
    content = bytearray(layer(FILES))
    repository.push([bytes(content)], tag="one")
    digest = digest_of(bytes(content))
    content[changed_number] ^= 1
    replace_blob(repository, digest, bytes(content))
    assert refusal(repository).startswith("FL634 ")


@pytest.mark.parametrize("left_out", [1, 1000])
def test_a_download_that_ends_early_is_to_be_tried_again(
    repository: ContainerRepository, left_out: int
) -> None:
    content = layer(FILES)
    repository.push([content], tag="one")
    replace_blob(repository, digest_of(content), content[:-left_out])
    with pytest.raises(CannotRunError, match=rf"of {len(content)} bytes") as error_info:
        facts_of(repository)
    assert "run the command again" in error_info.value.remedy


def test_proxies_of_the_machine_are_not_for_the_embedded_aws(
    aws: EmbeddedAws, repository: ContainerRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.push([layer(FILES)], tag="one")
    monkeypatch.setenv("HTTP_PROXY", "http://localhost:1")
    ecr = local_session("us-east-1", KEYS).client("ecr", endpoint_url=aws.url)
    assert registry.read_image(ecr, reference_of(repository), layers=True).facts.backends == ("python",)


def test_a_layer_is_downloaded_by_the_proxy_of_the_machine(
    repository: ContainerRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.push([layer(FILES)], tag="one")
    monkeypatch.setenv("HTTP_PROXY", "http://localhost:1")
    with pytest.raises(CannotRunError, match="proxy"):
        facts_of(repository)


def test_a_layer_that_unpacks_to_too_much_is_refused(
    repository: ContainerRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gunzip, "FREE", 1 << 20)
    bomb = gzip.compress(b"".join([header("bomb", 64 << 20), bytes(64 << 20), END]), mtime=0)
    repository.push([bomb], tag="one")
    assert "it unpacks to more than 100 times its size" in refusal(repository)


def test_a_layer_of_too_many_entries_is_refused(
    repository: ContainerRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gunzip, "MAX_ENTRIES", 100)
    repository.push([layer(f"file{number}" for number in range(200))], tag="one")
    assert "more than 100 entries" in refusal(repository)


@pytest.mark.parametrize(
    "content",
    [b"no archive", gzip.compress(b"no archive"), file("a") + b"x" * 512],
    ids=["text", "gzip", "tail"],
)
def test_a_layer_that_is_not_a_tar_stream_is_refused(repository: ContainerRepository, content: bytes) -> None:
    repository.push([content], tag="one")
    assert refusal(repository).startswith("FL634 ")


def test_paths_that_lead_out_of_the_image_tell_nothing(repository: ContainerRepository) -> None:
    backend = "opt/tritonserver/backends/evil/model.py"
    tricks = (
        f"../{backend}",
        f"opt/../{backend}",
        f"a/{backend}",
        "opt/tritonserver/backends/\x1b[2J/model.py",
    )
    repository.push([layer(tricks)], tag="one")
    assert facts_of(repository).backends is None


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python can read Zstandard")
def test_a_layer_that_this_python_cannot_read_leaves_its_facts_unknown(
    repository: ContainerRepository,
) -> None:
    repository.push([layer(FILES), b"\x28\xb5\x2f\xfd" + bytes(100)], tag="one")
    image = registry.read_image(repository.ecr, reference_of(repository), layers=True)
    assert image.unread == "a layer is compressed with Zstandard, which Python can read since 3.14"
    assert (image.facts.triton, image.facts.backends) == ("25.04", None)


@pytest.mark.skipif(sys.version_info < (3, 14), reason="this Python cannot read Zstandard")
def test_a_layer_of_zstandard_is_read(repository: ContainerRepository) -> None:
    packed_layer = import_module("compression.zstd").compress(layer(FILES, is_packed=False))
    repository.push([packed_layer], tag="one")
    assert facts_of(repository).backends == ("python",)


def test_a_layer_type_does_not_decide_how_it_is_read(repository: ContainerRepository) -> None:
    plain = layer(FILES, is_packed=False)
    repository.push(changes={"layers": [repository.blob(plain, LAYER)]}, tag="one")
    assert facts_of(repository).backends == ("python",)
