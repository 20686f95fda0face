"""Layers of a promoted image go from registry to registry in parts, each once, whole, or not at all."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
from moto.s3.models import s3_backends

from fleet_emulator.registry.images import OWNER
from tests.support.container_images import digest_of
from tests.support.promotion import Promotion
from tests.support.promotion_images import LAYERS, PromotedImages
from tests.support.silent_progress import SilentProgress
from triton_fleet.findings import FindingsError
from triton_fleet.spec.values import hexadecimal
from triton_fleet.store.progress import Advance

pytestmark = pytest.mark.nightly

PART = 10 << 20
"""Bytes of a part that the embedded registry asks for."""


class Requests(list[dict[str, Any]]):
    """The parameters of the calls of one operation that the client `ecr` makes."""

    def __init__(self, promotion: Promotion, call: str) -> None:
        super().__init__()
        self.ecr = promotion.another_ecr("prod")
        self.ecr.meta.events.register(f"provide-client-params.ecr.{call}", self._note)

    def _note(self, params: dict[str, Any], **_: object) -> None:
        self.append(params)


def test_a_second_run_finds_the_image_there(images: PromotedImages) -> None:
    images.build()
    images.promotion.test()
    images.promotion.promote()
    requests = Requests(images.promotion, "InitiateLayerUpload")
    result = images.promotion.promote(target_ecr=requests.ecr)
    assert (result.images, result.image_bytes, result.images_present, result.files) == (0, 0, 1, ())
    assert requests == []


def test_a_large_layer_goes_in_parts_of_the_size_that_the_registry_asks_for(images: PromotedImages) -> None:
    large = os.urandom(2 * PART + 1)
    images.build([large])
    images.promotion.test()
    parts = Requests(images.promotion, "UploadLayerPart")
    numbers: list[int] = []

    class CountingProgress(SilentProgress):
        def archive(self, name: str, size: int) -> AbstractContextManager[Advance]:
            return nullcontext(numbers.append if "layer" in name else lambda _: None)

    result = images.promotion.promote(progress=CountingProgress(), target_ecr=parts.ecr)
    sizes = sorted(len(part["layerPartBlob"]) for part in parts)
    assert (sizes[0], sizes[2:]) == (1, [PART, PART])
    assert sum(numbers) == sum(sizes) == result.image_bytes


def test_layers_that_the_target_has_are_not_sent_again(images: PromotedImages) -> None:
    images.build()
    images.promotion.test()
    images.repositories["prod"].push(LAYERS[:1], b"{}", tag="another")
    requests = Requests(images.promotion, "InitiateLayerUpload")
    images.promotion.promote(target_ecr=requests.ecr)
    assert len(requests) == len(LAYERS)  # a layer less, and the configuration


class Interruption(SilentProgress):
    """Is interrupted when a layer has arrived, but not its image."""

    def archive(self, name: str, size: int) -> AbstractContextManager[Advance]:
        return nullcontext(self._interrupt if digest_of(LAYERS[1])[7:19] in name else lambda _: None)

    @staticmethod
    def _interrupt(_count: int) -> None:
        raise KeyboardInterrupt


def test_an_interruption_leaves_no_image_and_the_next_run_continues(images: PromotedImages) -> None:
    digest = images.build()
    images.promotion.test()
    with pytest.raises(KeyboardInterrupt):
        images.promotion.promote(progress=Interruption())
    assert images.tags() == {}
    assert not (images.promotion.folder.root / "locks/prod").exists()
    result = images.promotion.promote()
    assert list(images.tags()) == [digest]
    assert (result.copies, result.images) == (0, 1)


def test_a_promotion_that_another_one_overtakes_finds_layers_and_image_there(images: PromotedImages) -> None:
    digest = images.build()
    images.promotion.test()
    overtaken = images.promotion.another_ecr("prod")
    numbers: list[int] = []

    def overtake(**_: Any) -> None:
        numbers.append(1)
        if len(numbers) == 1:
            images.promotion.promote()

    overtaken.meta.events.register("before-call.ecr.InitiateLayerUpload", overtake)
    assert images.promotion.promote(target_ecr=overtaken).images == 1
    assert len(numbers) == len(LAYERS) + 1
    assert images.tags() == {digest: [hexadecimal(images.key)]}


def test_a_part_whose_answer_was_lost_counts_as_sent(images: PromotedImages) -> None:
    digest = images.build()
    images.promotion.test()
    client, before = (images.promotion.another_ecr("prod") for _ in range(2))

    def send_before(params: dict[str, Any], **_: Any) -> None:
        before.upload_layer_part(**params)

    client.meta.events.register("provide-client-params.ecr.UploadLayerPart", send_before)
    images.promotion.promote(target_ecr=client)
    assert list(images.tags()) == [digest]


def test_a_damaged_layer_is_refused_and_no_lock_written(images: PromotedImages) -> None:
    images.build()
    images.promotion.test()
    content = bytearray(LAYERS[0])
    content[-1] ^= 1
    key = f"123456789012/triton-fleet-staging/{hexadecimal(digest_of(LAYERS[0]))}"
    s3_backends[OWNER]["aws"].put_object("prod-us-east-1-starport-layer-bucket", key, bytes(content))
    with pytest.raises(FindingsError, match="FL634: .* has another digest"):
        images.promotion.promote()
    assert images.tags() == {}
    assert not (images.promotion.folder.root / "locks/prod").exists()
