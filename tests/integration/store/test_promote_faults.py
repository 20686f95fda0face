"""An AWS that throttles, fails or breaks connections: promotion and rollback wait, or the next run finishes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.support.embedded_keys import KEYS
from tests.support.faulty_s3 import FaultyS3, faulty_s3
from tests.support.git_repository import GitRepository
from tests.support.lasting_faults import FAULTS, first_requests, from_number, retry_without_pause
from tests.support.promotion import ENDPOINT, Promotion
from tests.support.promotion_images import PromotedImages
from triton_fleet.awsapi.emulator import local_session
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.findings import CannotRunError
from triton_fleet.project.project import open_project
from triton_fleet.spec.values import hexadecimal
from triton_fleet.store.rollback import earlier_release, require_contents

pytestmark = pytest.mark.nightly


@pytest.fixture(autouse=True)
def without_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    retry_without_pause(monkeypatch)


@pytest.fixture
def proxies(promotion_urls: dict[str, str]) -> Iterator[dict[str, FaultyS3]]:
    """One in front of each account."""
    with ExitStack() as ends:
        yield {account: ends.enter_context(faulty_s3(url)) for account, url in promotion_urls.items()}


def behind(promotion: Promotion, proxies: dict[str, FaultyS3]) -> Promotion:
    """The same fleet, by the proxies."""
    return Promotion(promotion.folder, {account: proxy.url for account, proxy in proxies.items()})


def assert_promotion(tested_images: PromotedImages) -> None:
    """The target has the archive, the image and the lock."""
    promotion = tested_images.promotion
    lock, promoted_lock = (promotion.lock(name) for name in ("staging", "prod"))
    assert promoted_lock.archives == lock.archives
    assert promoted_lock.image == lock.image
    assert promoted_lock.image is not None
    assert tested_images.tags() == {promoted_lock.image.digest: [hexadecimal(tested_images.key)]}
    assert tested_images.recorded_image()["digest"] == promoted_lock.image.digest
    assert any(key.startswith("archives/") for key in promotion.keys("prod"))


@pytest.mark.parametrize("kind", [kind for kind in FAULTS if kind != "cut"])
def test_one_failure_of_each_request_of_a_promotion_is_waited_for(
    tested_images: PromotedImages, proxies: dict[str, FaultyS3], kind: str
) -> None:
    faults = [FAULTS[kind](proxy, first_requests()) for proxy in proxies.values()]
    behind(tested_images.promotion, proxies).promote()
    assert all(fault.hits > 2 for fault in faults)
    assert_promotion(tested_images)


LASTING_FAULTS = [(kind, number) for kind in FAULTS for number in (0, 2, 4, 6, 9, 12, 14, 17)]


@pytest.mark.parametrize("account", ["staging", "prod"])
@pytest.mark.parametrize(("kind", "number"), LASTING_FAULTS)
def test_a_failure_that_lasts_ends_a_promotion_with_a_remedy_and_the_next_one_finishes_it(
    tested_images: PromotedImages, proxies: dict[str, FaultyS3], account: str, kind: str, number: int
) -> None:
    place = "123456789012" if account == "staging" else next(key for key in proxies if key != "123456789012")
    fault = FAULTS[kind](proxies[place], from_number(number))
    lock = tested_images.promotion.folder.root / f"locks/prod/{ENDPOINT}.lock.yaml"
    try:
        behind(tested_images.promotion, proxies).promote()
    except CannotRunError as error:
        assert fault.hits
        assert "run the command again" in error.remedy
        assert not lock.exists()
    else:
        assert not fault.hits or lock.exists()
    tested_images.promotion.promote()
    assert_promotion(tested_images)


@pytest.mark.parametrize("kind", [kind for kind in FAULTS if kind != "cut"])
def test_one_failure_of_each_request_of_a_rollback_is_waited_for(
    tested_images: PromotedImages, proxies: dict[str, FaultyS3], kind: str
) -> None:
    promotion = tested_images.promotion
    promotion.promote()
    repository = GitRepository.around(promotion.folder.root)
    lock = promotion.folder.root / f"locks/prod/{ENDPOINT}.lock.yaml"
    lock.write_text(lock.read_text().replace("promoted_from: staging", "promoted_from: qa"))
    repository.commit()
    project = open_project(promotion.folder.root, "prod")
    release = earlier_release(project, ENDPOINT, None)
    proxied_promotion = behind(promotion, proxies)
    (proxy,) = [proxies[key] for key in proxies if key != "123456789012"]
    fault = FAULTS[kind](proxy, first_requests())
    require_contents(project, release, proxied_promotion.s3("prod"), proxied_promotion.ecr("prod"))
    assert fault.hits > 2
    proxy.forget()
    FAULTS[kind](proxy, from_number(0))
    with pytest.raises(CannotRunError) as caught:
        require_contents(project, release, proxied_promotion.s3("prod"), proxied_promotion.ecr("prod"))
    assert "run the command again" in caught.value.remedy


@pytest.mark.parametrize(
    "operation", ["s3 list_objects_v2", "sagemaker list_models", "sts get_caller_identity"]
)
def test_an_answer_that_ends_too_early_is_no_empty_list(
    promotion: Promotion, proxies: dict[str, FaultyS3], operation: str
) -> None:
    service, name = operation.split()
    proxy = proxies["123456789012"]
    make: Any = local_session("us-east-1", KEYS).client
    client = make(service, endpoint_url=proxy.url)
    arguments = {"Bucket": promotion.bucket("staging")} if service == "s3" else {}
    getattr(client, name)(**arguments)
    proxy.cut(lambda _: True)
    with (
        pytest.raises(CannotRunError, match=f"AWS does not answer: Connection was closed .*{service}"),
        aws_errors_as_findings(),
    ):
        getattr(client, name)(**arguments)
