"""A host image that is named as a raw property is explained like one that the spec's key names."""

from __future__ import annotations

from triton_fleet.explain.decision import Decision
from triton_fleet.explain.reasons import OWN_CHOICE, host_image
from triton_fleet.rules.example import ARCHIVE_SIZE, REGION, Case

KEY = "ProductionVariants.0.InferenceAmiVersion"
OTHER_HOST_IMAGE = "al2-ami-sagemaker-inference-gpu-2"


def host_image_decision(value: object) -> Decision:
    spec = {"cloudformation": {"EndpointConfig": {KEY: value}}}
    return host_image(Case(spec=spec, region=REGION, models=None, archive_size=ARCHIVE_SIZE).context())


def test_it_is_named_and_not_chosen() -> None:
    decision = host_image_decision(OTHER_HOST_IMAGE)
    assert decision.value == OTHER_HOST_IMAGE
    assert decision.reason.startswith(
        f"named in `cloudformation.EndpointConfig.{KEY}`; driver 535, for CUDA 12"
    )
    assert "chosen" not in decision.reason


def test_one_that_sagemaker_refuses_at_times_is_explained_so() -> None:
    spec = {"triton": "25.09", "instance": {"type": "ml.p4d.24xlarge"}}
    decision = host_image(Case(spec=spec, region=REGION, models=None, archive_size=ARCHIVE_SIZE).context())
    assert not decision.certain
    assert decision.reason.endswith("SageMaker accepts it on p4d instances, but not at all times")


def test_one_that_the_catalog_does_not_have_is_told_by_name() -> None:
    decision = host_image_decision("no-such-thing")
    assert decision.value is None
    assert decision.reason.endswith("names no-such-thing, which the catalog does not have")


def test_where_it_is_taken_out_sagemaker_chooses() -> None:
    decision = host_image_decision(None)
    assert decision.value == OWN_CHOICE
    assert decision.reason == f"`cloudformation.EndpointConfig.{KEY}` removes it"
