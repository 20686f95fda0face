"""A build records an image that an earlier build pushed without reading it: builds read no image that is pushed."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from engine_request.bucket import Bucket
from engine_request.problems import BuildError
from image_build.build import build_image
from image_build.request import ImageRequest

REGISTRY, OTHER_REGISTRY = (
    f"{account}.dkr.ecr.us-east-1.amazonaws.com" for account in ("111122223333", "444455556666")
)
BASE = "763104351884.dkr.ecr.us-east-1.amazonaws.com"
DOCKER = """\
#!/bin/sh
echo "$@" >> {folder}/calls
case "$1" in
  login) cat > /dev/null ;;
  create) echo container ;;
  export) cat {folder}/export.tar ;;
  image) echo '[{{"Os": "linux", "Architecture": "amd64", "Size": 5, "Config": {{"Env": ["A=b"]}}}}]' ;;
esac
"""


@dataclass
class Objects:
    """The objects of a bucket."""

    objects: dict[str, bytes] = field(default_factory=dict)

    def get_object(self, *, Key: str, **_: str) -> dict[str, Any]:
        self.head_object(Key=Key)
        return {"Body": io.BytesIO(self.objects[Key])}

    def head_object(self, *, Key: str, **_: str) -> dict[str, Any]:
        if Key not in self.objects:
            answer: Any = {"Error": {"Code": "404"}, "ResponseMetadata": {"HTTPStatusCode": 404}}
            raise ClientError(answer, "HeadObject")
        return {"Metadata": {}}

    def put_object(self, *, Key: str, Body: bytes, **_: str) -> None:
        self.objects[Key] = Body

    def download_file(self, _: str, key: str, file: str) -> None:
        Path(file).write_bytes(self.objects[key])


@dataclass
class Registry:
    """ECR, which shows what `docker push` has pushed."""

    calls: Path

    def get_authorization_token(self) -> dict[str, Any]:
        return {"authorizationData": [{"authorizationToken": base64.b64encode(b"AWS:password").decode()}]}

    def describe_images(self, **_: Any) -> dict[str, Any]:
        if "push" not in self.calls.read_text():
            raise ClientError({"Error": {"Code": "ImageNotFoundException"}}, "DescribeImages")
        return {"imageDetails": [{"imageDigest": f"sha256:{'d' * 64}"}]}


@dataclass
class Builder:
    """A machine that builds one image."""

    folder: Path
    s3: Objects = field(default_factory=Objects)

    def build(self) -> dict[str, Any]:
        """The record of the image."""
        build_image(self.request, Bucket(self.s3, "bucket"), lambda _: Registry(self.folder / "calls"))
        record: dict[str, Any] = json.loads(self.s3.objects["manifest.json"])
        return record

    @property
    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().splitlines()

    @property
    def request(self) -> ImageRequest:
        document = {
            "key": f"sha256:{'e' * 64}",
            "bucket": "bucket",
            "context": "context.tar",
            "context_digest": "",
            "base": f"{BASE}/sagemaker-tritonserver:25.04-py3",
            "arguments": {},
            "platform": "linux/amd64",
            "registry": REGISTRY,
            "repository": "triton-fleet-dev",
            "tag": "e" * 64,
            "paths": ["usr/"],
            "script": "engines/scripts/0.zip",
            "registries": [OTHER_REGISTRY],
            "draft": "draft.json",
            "manifest": "manifest.json",
            "failure": "failure.json",
            "seconds": 60,
        }
        document["context_digest"] = f"sha256:{hashlib.sha256(self.s3.objects['context.tar']).hexdigest()}"
        return ImageRequest.of(json.dumps(document).encode())


@pytest.fixture
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Builder:
    made_builder = Builder(tmp_path)
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("Dockerfile"))
    made_builder.s3.objects["context.tar"] = content.getvalue()
    (tmp_path / "export.tar").write_bytes(content.getvalue())
    (tmp_path / "calls").touch()
    (tmp_path / "docker").write_text(DOCKER.format(folder=tmp_path))
    (tmp_path / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return made_builder


def test_the_next_build_records_what_is_pushed_without_pulling_it(builder: Builder) -> None:
    before = builder.build()
    del builder.s3.objects["manifest.json"]
    number = len(builder.calls)
    after = builder.build()
    assert {**before, "ended": after["ended"]} == after
    assert after["config"]["config"]["Env"] == ["A=b"]
    assert builder.calls[number:] == []


def test_no_build_pulls_an_image_that_is_pushed_but_does_not_say_what_it_contains(builder: Builder) -> None:
    builder.build()
    for name in ("manifest.json", "draft.json"):
        del builder.s3.objects[name]
    number = len(builder.calls)
    with pytest.raises(BuildError) as refusal:
        builder.build()
    assert "aws ecr batch-delete-image --repository-name triton-fleet-dev" in str(refusal.value.remedy)
    assert builder.calls[number:] == []
    assert "manifest.json" not in builder.s3.objects


def test_it_logs_in_to_the_registries_of_the_release_of_the_push_and_of_the_request(builder: Builder) -> None:
    builder.build()
    logins = [call.split()[-1] for call in builder.calls if call.startswith("login")]
    assert logins == [REGISTRY, BASE, OTHER_REGISTRY]
