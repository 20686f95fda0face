"""`fleet doctor` of endpoints that are in service and whose calls fail."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.clinic import NAME, STACK, Clinic, deny
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.stacks import endpoint
from tests.support.faulty_s3 import FaultyS3
from triton_fleet.catalog.metrics import endpoint_metric
from triton_fleet.findings import CannotRunError

EXCEPTION_LOG = (
    "E1126 22:15:09.812413 25329 pb_stub.cc:714] \"Failed to process the request(s) for model 'embed_0_0', message:"
    r" ValueError: no such thing\n\nAt:\n  /opt/ml/model/embed/1/model.py(31): execute\n"
    '"'
)


def count(
    clinic: Clinic,
    values: Mapping[str, int],
    *,
    name: str = NAME,
    region: str = "us-east-1",
    before: timedelta = timedelta(0),
) -> None:
    """Metrics as SageMaker publishes them: by measure, how many calls have a 1; `invocations` is all."""
    dimensions = {"EndpointName": name, "VariantName": "AllTraffic"}
    for measure, times in values.items():
        metric, other_invocations = endpoint_metric(measure), values["invocations"] - times
        counts = {value: number for value, number in ((1.0, times), (0.0, other_invocations)) if number}
        client(clinic.aws, "cloudwatch", region).put_metric_data(
            Namespace=metric.namespace,
            MetricData=[
                {
                    "MetricName": metric.name,
                    "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions.items()],
                    "Timestamp": datetime.now(UTC) - before,
                    "Values": list(counts),
                    "Counts": list(counts.values()),
                }
            ],
        )


@pytest.fixture
def served(clinic: Clinic) -> Clinic:
    """An endpoint in service without a problem in its log."""
    clinic.stacks.create(STACK, endpoint(NAME))
    return clinic


def test_an_endpoint_whose_every_call_raises_is_not_healthy_and_the_line_is_named(served: Clinic) -> None:
    count(served, {"invocations": 12, "errors_4xx": 0, "errors_5xx": 12, "model_errors": 12})
    served.log("starting", *[EXCEPTION_LOG] * 12)
    code, text, wrong = served.doctor()
    assert code == 1
    assert "  calls:    12 of 12 since " in text
    assert (
        "model_specs/sentences.yaml:4:1: error[failing-invocations] FL677: invocations of sentences: 12 of 12"
        in wrong
    )
    assert "failed (12 with 5XX): ValueError: no such thing (embed/1/model.py:31)" in " ".join(wrong.split())
    assert "FL640" not in wrong


def test_a_few_failed_calls_are_noted_and_the_endpoint_is_healthy(served: Clinic) -> None:
    count(served, {"invocations": 12, "errors_4xx": 2, "errors_5xx": 3, "model_errors": 3})
    served.log(EXCEPTION_LOG)
    code, text, wrong = served.doctor()
    assert (code, wrong) == (0, "")
    assert "failed (2 with 4XX and 3 with 5XX): ValueError: no such thing (embed/1/model.py:31)" in text
    assert "  calls:    5 of 12 since " in text


@pytest.mark.parametrize(
    ("values", "code"),
    [
        pytest.param({"invocations": 12, "errors_4xx": 6}, 1, marks=pytest.mark.nightly),
        pytest.param({"invocations": 12, "errors_5xx": 5}, 0, marks=pytest.mark.nightly),
        ({"invocations": 12, "errors_4xx": 3, "errors_5xx": 3}, 1),
        # Time-outs and broken connections have no status, and an answer with one counts in both.
        pytest.param({"invocations": 12, "model_errors": 6}, 1, marks=pytest.mark.nightly),
        ({"invocations": 12, "errors_5xx": 5, "model_errors": 5}, 0),
        ({"invocations": 1, "errors_5xx": 1}, 1),
    ],
)
def test_from_half_of_the_calls_on_it_is_not_healthy(
    served: Clinic, values: dict[str, int], code: int
) -> None:
    count(served, values)
    assert served.doctor()[0] == code


def test_without_a_line_in_the_log_the_statuses_and_what_to_look_at_are_named(served: Clinic) -> None:
    count(served, {"invocations": 4, "errors_4xx": 4})
    _, _, wrong = served.doctor()
    assert "4 of 4 since" in wrong
    assert "failed (4 with 4XX)" in wrong
    assert "look at what clients send; `fleet invoke sentences --env dev` shows the answer to one call" in (
        " ".join(wrong.split())
    )


def test_calls_of_another_endpoint_region_or_hour_do_not_count(served: Clinic) -> None:
    failed_values = {"invocations": 12, "errors_5xx": 12}
    count(served, failed_values, name="other")
    count(served, failed_values, region="eu-west-1")
    count(served, failed_values, before=timedelta(minutes=70))
    code, text, _ = served.doctor()
    assert (code, "  calls:    none since " in text) == (0, True)


def test_calls_before_the_end_of_the_last_deploy_had_another_model_and_do_not_count(served: Clinic) -> None:
    count(served, {"invocations": 12, "errors_5xx": 12}, before=timedelta(minutes=5))
    assert served.doctor()[0] == 0


def test_without_the_permission_it_does_not_say_that_all_is_well(served: Clinic, s3_proxy: FaultyS3) -> None:
    deny(s3_proxy, lambda request: request.headers.get("X-Amz-Target", "").endswith("GetMetricData"))
    with pytest.raises(CannotRunError, match="no permission for cloudwatch:GetMetricData"):
        served.doctor()
