"""`fleet promote` refuses what the target could not run before it copies anything."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from tests.support.embedded_keys import PROFILE_KEYS
from tests.support.promotion import ENDPOINT, PLACES, Promotion
from triton_fleet.cli.commands import app
from triton_fleet.findings import FindingsError

POLICY = """\
policy: platform
owner: {team: platform}
statements:
  - {name: small, when: {environment: qa}, monthly_cost: {endpoint: 500}}
"""


@pytest.fixture
def tested_promotion(promotion: Promotion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Promotion:
    """An endpoint that staging runs; `qa` is promoted to, in the same account."""
    account, region = PLACES["qa"]
    settings = f'environment: qa\naccount: "{account}"\nregion: {region}\npromoted_from: staging\n'
    promotion.folder.write("environments/qa.yaml", settings)
    config = tmp_path / "config"
    url = promotion.urls[account]
    config.write_text(f"[profile any]\nregion = {region}\nendpoint_url = {url}\n{PROFILE_KEYS}")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.chdir(promotion.folder.root)
    promotion.test()
    return promotion


def refusal(promotion: Promotion, bucket: str) -> list[str]:
    """The findings that refuse a promotion to `qa`; no file is written, and its bucket is as empty as before."""
    with pytest.raises(FindingsError) as refusal_info:
        profiles = ("--from-profile", "any", "--to-profile", "any")
        app(["promote", "--to", "qa", ENDPOINT, *profiles], standalone_mode=False)
    objects = promotion.s3("qa").list_objects_v2(Bucket=bucket)
    assert objects["KeyCount"] == 0
    assert not (promotion.folder.root / "locks/qa").exists()
    return [finding.code for finding in refusal_info.value.findings]


def test_a_policy_of_the_target(tested_promotion: Promotion) -> None:
    tested_promotion.folder.write("policies/platform.yaml", POLICY)
    assert refusal(tested_promotion, tested_promotion.bucket("qa")) == ["FL954"]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("policies/platform.yaml", POLICY.replace("statements", "statments")),
        ("prices.yaml", "instances: nonsense\n"),
    ],
)
def test_a_policy_or_price_that_cannot_be_read(tested_promotion: Promotion, file: str, text: str) -> None:
    tested_promotion.folder.write(file, text)
    assert refusal(tested_promotion, tested_promotion.bucket("qa"))


def test_a_name_that_the_account_has_already_in_the_region(tested_promotion: Promotion) -> None:
    account, region = PLACES["staging"]
    bucket = f"triton-fleet-qa-{account}-{region}"
    with suppress(ClientError):
        tested_promotion.s3("staging").create_bucket(Bucket=bucket)
    settings = f'environment: qa\naccount: "{account}"\nregion: {region}\npromoted_from: staging\n'
    tested_promotion.folder.write("environments/qa.yaml", settings)
    assert refusal(tested_promotion, bucket) == ["FL124"]
