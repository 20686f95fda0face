"""`make catalog`: what packages know becomes the catalog's facts, and what people know is theirs to change."""

from __future__ import annotations

import json
from errno import ENOSPC
from pathlib import Path

import pytest

from tests.support.catalog_samples import FILES, CatalogSamples

TWO = ["ml.g5.xlarge", "ml.g5.2xlarge"]


def news(lines: list[str], file: str) -> list[str]:
    """The lines about one file."""
    return [line for line in lines if line.startswith(f"{file}: ")]


def test_a_second_run_without_news_changes_nothing(catalog: CatalogSamples) -> None:
    before = catalog.texts()
    run = catalog.refresh("--today", "2027-01-01")
    assert (run.code, run.lines, run.errors) == (0, ["no news"], [])
    assert catalog.texts() == before


def test_a_type_in_another_region_is_named_with_its_source_and_day(catalog: CatalogSamples) -> None:
    catalog.cfn_lint("1.1.0", "2026-11-20", {"eu-north-1": TWO, "eu-west-1": TWO, "eu-west-3": TWO[:1]})
    run = catalog.refresh()
    assert news(run.lines, "availability.yaml") == [
        "availability.yaml: ml.g5.2xlarge: new in eu-west-1 (cfn-lint 1.1.0, 2026-11-20)",
        "availability.yaml: ml.g5.xlarge: new in eu-west-1, eu-west-3 (cfn-lint 1.1.0, 2026-11-20)",
    ]
    assert catalog.read("availability.yaml")["regions"] == {
        "eu-north-1": {"usual": ["g5"]},
        "eu-west-1": {"usual": ["g5"]},
        "eu-west-3": {"sizes": {"g5": ["xlarge"]}},
    }
    assert catalog.read("availability.yaml")["date"].isoformat() == "2026-11-20"


def test_a_type_that_a_region_no_longer_sells_leaves_it(catalog: CatalogSamples) -> None:
    catalog.cfn_lint("1.1.0", "2026-11-20", {"eu-north-1": TWO[1:]})
    assert news(catalog.refresh().lines, "availability.yaml") == [
        "availability.yaml: ml.g5.xlarge: no longer in eu-north-1 (cfn-lint 1.1.0, 2026-11-20)"
    ]


def test_only_files_of_the_catalog_are_in_its_folder_afterwards(catalog: CatalogSamples) -> None:
    assert set(catalog.texts()) == set(FILES)


def test_a_write_that_fails_leaves_the_old_text(
    catalog: CatalogSamples, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, *_: object, **__: object) -> int:
        self.touch()
        raise OSError(ENOSPC, "No space left on device")

    before = catalog.texts()
    catalog.botocore("1.1.0", tags={"max": 60})
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        catalog.refresh()
    assert catalog.texts() == before


def test_comments_at_the_beginning_of_a_file_stay(catalog: CatalogSamples) -> None:
    catalog.cfn_lint("1.1.0", "2026-11-20", {"eu-west-1": TWO})
    catalog.refresh()
    text = (catalog.data / "availability.yaml").read_text()
    assert text.startswith("# Where types are sold.\nsource: cfn-lint 1.1.0, data/schemas/")


def test_the_same_facts_in_a_newer_version_are_verified_today(catalog: CatalogSamples) -> None:
    catalog.botocore("1.1.0")
    run = catalog.refresh("--today", "2026-12-01")
    before = "before: botocore 1.0.0, min and max of the shapes that each limit names, 2026-11-23"
    assert f"limits.yaml: the same facts in botocore 1.1.0, 2026-12-01; {before}" in run.lines
    assert catalog.read("limits.yaml")["date"].isoformat() == "2026-12-01"


def test_an_older_version_is_not_read(catalog: CatalogSamples) -> None:
    catalog.botocore("1.10.0", tags={"max": 60})
    catalog.refresh()
    catalog.botocore("1.9.0", types=TWO, amis=["gpu-0"])
    run = catalog.refresh()
    assert catalog.read("limits.yaml")["limits"]["tags"]["value"] == 60
    assert run.lines == [
        "by hand: api_types.yaml: it is of botocore 1.10.0, ProductionVariantInstanceType of sagemaker, 2026-11-23;"
        " botocore 1.9.0 is older and was not read",
        "by hand: limits.yaml: it is of botocore 1.10.0, min and max of the shapes that each limit names, 2026-11-23;"
        " botocore 1.9.0 is older and was not read",
    ]


def test_a_check_prints_the_news_writes_nothing_and_ends_with_1(catalog: CatalogSamples) -> None:
    catalog.botocore("1.1.0", tags={"max": 60})
    before = catalog.texts()
    run = catalog.refresh("--check")
    assert run.code == 1
    assert "limits.yaml: tags: 50 is now 60 (botocore 1.1.0, 2026-11-23)" in run.lines
    assert catalog.texts() == before


def test_a_limit_that_the_model_no_longer_states_stays(catalog: CatalogSamples) -> None:
    catalog.botocore("1.1.0", tags={})
    run = catalog.refresh()
    text = "by hand: limits.yaml: tags stays 50: botocore 1.1.0 no longer has sagemaker TagList max"
    assert text in run.lines
    assert catalog.read("limits.yaml")["limits"]["tags"]["value"] == 50


def test_a_type_that_nobody_has_described_is_asked_for_and_named_in_no_region(
    catalog: CatalogSamples,
) -> None:
    catalog.cfn_lint("1.1.0", "2026-11-20", {"eu-north-1": [*TWO, "ml.g9.xlarge"]})
    run = catalog.refresh()
    assert run.lines[-1] == (
        "by hand: instances.yaml: ml.g9.xlarge is new in cfn-lint 1.1.0: add its processor, GPUs, vCPUs, memory,"
        " storage; then refresh again"
    )
    assert catalog.read("availability.yaml")["regions"] == {"eu-north-1": {"usual": ["g5"]}}


def test_a_type_that_aws_has_no_more_is_left_to_people(catalog: CatalogSamples) -> None:
    catalog.botocore("1.1.0", types=TWO)
    run = catalog.refresh()
    assert "api_types.yaml: ml.p3.2xlarge: no longer (botocore 1.1.0, 2026-11-23)" in run.lines
    assert run.lines[-1] == (
        "by hand: instances.yaml: ml.p3.2xlarge is no longer in botocore 1.1.0 or cfn-lint 1.0.0: delete it, or keep"
        " it with the reason"
    )
    assert "p3" in catalog.read("instances.yaml")["families"]


def test_a_retired_family_that_is_sold_is_a_contradiction(catalog: CatalogSamples) -> None:
    catalog.cfn_lint("1.1.0", "2026-11-20", {"eu-north-1": [*TWO, "ml.p3.2xlarge"]})
    assert catalog.refresh().lines[-1] == (
        "by hand: instances.yaml: p3 is `retired`, and cfn-lint 1.1.0 has it in eu-north-1"
    )


def test_host_images_are_compared_by_name(catalog: CatalogSamples) -> None:
    catalog.botocore("1.1.0", amis=["gpu-2"])
    assert catalog.refresh().lines[-2:] == [
        "by hand: amis.yaml: gpu-2 is new in botocore 1.1.0: add its driver, its CUDA and the families that take it",
        "by hand: amis.yaml: gpu-1 is no longer in botocore 1.1.0: delete it, or keep it with the reason",
    ]


def test_the_account_of_a_release_in_another_region_is_added(catalog: CatalogSamples) -> None:
    catalog.sdk("1.1.0", {"25.04": {"eu-west-1": "111111111111", "mx-central-1": "222222222222"}})
    assert catalog.refresh().lines == [
        "images.json: Triton 25.04: new, 222222222222 in mx-central-1 (sagemaker-core 1.1.0, 2026-11-23)"
    ]
    document = json.loads((catalog.data / "images.json").read_text())
    assert document["versions"]["25.04"]["registries"]["mx-central-1"] == "222222222222"
    assert list(document)[:2] == ["source", "date"]


@pytest.mark.parametrize(
    ("listed_values", "kept_text"),
    [
        ({}, "25.04 is kept: sagemaker-core 1.1.0 no longer has it"),
        (
            {"25.04": {"us-east-1": "333333333333"}},
            "25.04 is kept in eu-west-1: sagemaker-core 1.1.0 no longer has it there",
        ),
    ],
)
def test_an_image_that_the_sdk_no_longer_names_is_kept(
    catalog: CatalogSamples, listed_values: dict[str, dict[str, str]], kept_text: str
) -> None:
    catalog.sdk("1.1.0", listed_values)
    assert f"by hand: images.json: {kept_text}" in catalog.refresh().lines
    registries = catalog.read("images.json")["versions"]["25.04"]["registries"]
    assert registries["eu-west-1"] == "111111111111"


def test_a_release_whose_contents_nobody_has_described_is_asked_for(catalog: CatalogSamples) -> None:
    catalog.sdk("1.1.0", {"25.04": {"eu-west-1": "111111111111"}, "27.01": {"eu-west-1": "111111111111"}})
    assert catalog.refresh().lines[-1] == (
        "by hand: releases.yaml: 27.01 is new in sagemaker-core 1.1.0: add what its image contains, then refresh again"
    )
    assert list(catalog.read("images.json")["versions"]) == ["25.04"]


def test_what_people_inferred_and_the_sdk_states_is_named(catalog: CatalogSamples) -> None:
    accounts = {"eu-west-1": "111111111111"}
    catalog.sdk("1.1.0", {"25.04": accounts, "25.12": accounts})
    assert catalog.refresh().lines[-1] == (
        "by hand: registries.yaml: 25.12 is inferred, and sagemaker-core 1.1.0 states it: delete it here"
    )
    assert catalog.read("registries.yaml")["same_as"] == {"25.12": "25.04"}


def test_without_the_sdk_the_other_files_are_refreshed_and_it_ends_with_2(catalog: CatalogSamples) -> None:
    (about,) = catalog.packages.glob("sagemaker_core-*/METADATA")
    about.unlink()
    about.parent.rmdir()
    catalog.botocore("1.1.0", tags={"max": 60})
    run = catalog.refresh()
    assert (run.code, run.errors) == (2, ["not read: sagemaker-core is not installed"])
    assert catalog.read("limits.yaml")["limits"]["tags"]["value"] == 60


def test_a_package_without_its_data_is_named_with_the_file(catalog: CatalogSamples) -> None:
    (catalog.packages / "cfnlint/data/schemas/version.json").write_text("{")
    run = catalog.refresh()
    assert (run.code, run.errors) == (
        2,
        ["not read: cfn-lint 1.0.0 has no readable cfnlint/data/schemas/version.json"],
    )


def test_a_property_is_kept_without_its_text_and_without_a_limit_of_nothing(catalog: CatalogSamples) -> None:
    model = {"": {"readOnly": ["ModelArn"], "properties": {"ModelName": {"type": "string"}}}}
    assert catalog.read("properties.json")["resources"] == {"Model": model}


def test_a_property_that_cloudformation_changes_is_news(catalog: CatalogSamples) -> None:
    changed_value = {
        "properties": {"ModelName": {"type": "string", "maxLength": 63}},
        "required": ["ModelName"],
    }
    catalog.cfn_lint("1.1.0", "2026-11-20", properties=changed_value)
    name = 'Model ModelName: {"type": "string"} is now {"type": "string", "maxLength": 63}'
    assert news(catalog.refresh().lines, "properties.json") == [
        f"properties.json: {name} (cfn-lint 1.1.0, 2026-11-20)",
        'properties.json: Model required: new, ["ModelName"] (cfn-lint 1.1.0, 2026-11-20)',
    ]


def test_what_replaces_a_resource_and_for_how_long_logs_are_kept_are_news(catalog: CatalogSamples) -> None:
    paths = ["/properties/ModelName", "/properties/VpcConfig/Subnets"]
    catalog.cfn_lint("1.1.0", "2026-11-20", properties={"createOnlyProperties": paths}, days=[3, 1])
    run = catalog.refresh()
    text = "AWS::SageMaker::Model: new in VpcConfig (cfn-lint 1.1.0, 2026-11-20)"
    assert news(run.lines, "create_only.yaml") == [f"create_only.yaml: {text}"]
    assert news(run.lines, "log_retention.yaml") == [
        "log_retention.yaml: 3 days: new (cfn-lint 1.1.0, 2026-11-20)"
    ]
    assert catalog.read("log_retention.yaml")["days"] == [1, 3]
