"""The endpoint check as the CDK's framework calls it: what passes, what waits, what fails, and in which words."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from botocore.exceptions import ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError

from endpoint_check.check import MAX_CALL_SECONDS
from endpoint_check.errors import CheckError
from tests.support.sampled_endpoint import SampledEndpoint, model_error, refusal, sample, unknown_output

NOT_YET = {"IsComplete": False}
DOUBLE = {"y": {"datatype": "FP32", "shape": [1, 2], "data": [2, 4], "tolerance": 0.001}}


def raise_errors(*errors: Exception) -> Callable[[str | None], dict[str, Any]]:
    """A model that refuses so many times, and then answers right."""
    remaining_errors = list(errors)

    def invoke(_: str | None) -> dict[str, Any]:
        if remaining_errors:
            raise remaining_errors.pop(0)
        return {"y": np.array([[2, 4]], np.float32)}

    return invoke


def late(event: dict[str, Any]) -> dict[str, Any]:
    return {**event, "Deadline": time.time() - 1}


class TestConfiguration:
    def test_without_samples_the_endpoint_is_in_service_with_its_new_configuration(self) -> None:
        values = SampledEndpoint(config="NEW").check_event()
        assert values["IsComplete"] is True
        assert values["Data"]["Summary"].startswith(
            "Endpoint doubles is in service with new; targets loaded: 0"
        )

    @pytest.mark.parametrize("status", ["Creating", "Updating", "SystemUpdating", "RollingBack"])
    def test_what_is_under_way_is_waited_for(self, status: str) -> None:
        assert SampledEndpoint(status=status, pending_config="new").check_event() == NOT_YET
        assert SampledEndpoint(status=status, config="old").check_event() == NOT_YET

    @pytest.mark.parametrize("status", ["Updating", "SystemUpdating"])
    def test_what_is_scaled_with_its_new_configuration_is_served_and_checked(self, status: str) -> None:
        endpoint = SampledEndpoint(status=status, config="NEW", invoke=raise_errors())
        assert endpoint.check_event(sample(DOUBLE))["IsComplete"] is True
        assert len(endpoint.calls) == 1

    @pytest.mark.parametrize("status", ["Failed", "UpdateRollbackFailed", "OutOfService", "Deleting"])
    def test_what_is_out_of_service_fails_with_sagemakers_reason(self, status: str) -> None:
        with pytest.raises(
            CheckError, match=f"Endpoint doubles is {status}. SageMaker reports: no capacity See"
        ):
            SampledEndpoint(status=status, failure="no capacity").check_event()

    def test_another_configuration_fails_and_is_named_with_what_to_look_at(self) -> None:
        with pytest.raises(CheckError) as failure:
            SampledEndpoint(config="old", failure="alarm rang").check_event()
        assert "runs the configuration old instead of new: SageMaker rolled" in str(failure.value)
        assert "SageMaker reports: alarm rang" in str(failure.value)
        assert "aws sagemaker describe-endpoint --endpoint-name doubles" in failure.value.remedy

    def test_no_endpoint_at_all_fails(self) -> None:
        with pytest.raises(
            CheckError, match="Endpoint doubles does not exist. It was deleted outside its stack"
        ):
            SampledEndpoint(status="").check_event()


class TestWhatIsNotChecked:
    @pytest.mark.parametrize("status", ["", "Failed"])
    def test_a_deletion_succeeds_whatever_the_endpoint_is(self, status: str) -> None:
        endpoint = SampledEndpoint(status=status)
        initial_values = endpoint.begin_event(endpoint.event(kind="Delete"))
        assert initial_values["PhysicalResourceId"] == "mine"
        assert initial_values["Data"]["Summary"] == "Nothing to do: the check is deleted."
        assert endpoint.look_event(initial_values) == {"IsComplete": True}

    def test_an_update_of_a_stack_that_rolls_back_succeeds_and_says_so(self) -> None:
        endpoint = SampledEndpoint(status="Failed", stack="UPDATE_ROLLBACK_IN_PROGRESS")
        initial_values = endpoint.begin_event(endpoint.event(sample(DOUBLE)))
        assert initial_values["Data"]["Summary"] == "Nothing is checked, because the stack rolls back."
        assert endpoint.look_event(initial_values) == {"IsComplete": True}
        assert endpoint.calls == []

    def test_a_creation_is_checked_and_its_name_stays_for_good(self) -> None:
        endpoint = SampledEndpoint()
        initial_values = endpoint.begin_event(endpoint.event(kind="Create"))
        assert initial_values["PhysicalResourceId"] == "stack/fleet/1/Check"
        second_values = endpoint.begin_event(endpoint.event(kind="Update"))
        assert second_values["PhysicalResourceId"] == "mine"
        assert 1790 < second_values["Deadline"] - time.time() <= 1800


class TestWhatPasses:
    @pytest.mark.parametrize(
        "error",
        [
            *(refusal("InvokeEndpoint", code) for code in ("ThrottlingException", "ModelNotReadyException")),
            *(refusal("InvokeEndpoint", code) for code in ("ServiceUnavailable", "InternalFailure")),
            refusal("InvokeEndpoint", "InternalDependencyException"),
            ReadTimeoutError(endpoint_url="https://runtime"),
            ConnectTimeoutError(endpoint_url="https://runtime"),
            EndpointConnectionError(endpoint_url="https://runtime"),
            *(model_error(status) for status in (0, 429, 502, 503, 504, 507)),
        ],
        ids=str,
    )
    def test_a_refusal_of_the_moment_is_tried_again(self, error: Exception) -> None:
        endpoint = SampledEndpoint(invoke=raise_errors(error))
        initial_values = endpoint.begin_event(endpoint.event(sample(DOUBLE)))
        assert endpoint.look_event(initial_values) == NOT_YET
        assert endpoint.look_event(initial_values)["IsComplete"] is True

    def test_at_the_deadline_the_last_refusal_is_told(self) -> None:
        endpoint = SampledEndpoint(invoke=raise_errors(model_error(503, "still loading")))
        event = late(endpoint.begin_event(endpoint.event(sample(DOUBLE))))
        with pytest.raises(CheckError) as failure:
            endpoint.look_event(event)
        assert str(failure.value).startswith(
            "Endpoint doubles could not be checked within 30 minutes. Last problem: Endpoint doubles, sample pair:"
            " the model answers with status 503: still loading. See the log group"
        )

    def test_after_the_deadline_what_is_ready_by_then_still_passes(self) -> None:
        endpoint = SampledEndpoint(invoke=raise_errors())
        assert (
            endpoint.look_event(late(endpoint.begin_event(endpoint.event(sample(DOUBLE)))))["IsComplete"]
            is True
        )

    def test_no_call_is_begun_that_the_function_might_not_outlive(self) -> None:
        endpoint = SampledEndpoint(remaining_seconds=99, invoke=raise_errors())
        assert endpoint.check_event(sample(DOUBLE)) == NOT_YET
        assert endpoint.calls == []

    def test_its_clients_wait_longer_than_sagemaker_and_repeat_nothing_by_themselves(self) -> None:
        endpoint = SampledEndpoint()
        endpoint.check_event()
        for service in ("sagemaker", "sagemaker-runtime"):
            config: Any = endpoint.configs[service]
            assert (config.read_timeout, config.retries["total_max_attempts"]) == (70, 1)
            assert config.connect_timeout + config.read_timeout < MAX_CALL_SECONDS


class TestSamples:
    def test_the_right_answer_passes(self) -> None:
        endpoint = SampledEndpoint(invoke=raise_errors())
        assert "samples passed: 1" in endpoint.check_event(sample(DOUBLE))["Data"]["Summary"]
        assert "TargetModel" not in endpoint.calls[0]

    def test_a_wrong_number_fails_at_once_with_place_numbers_tolerance_and_remedy(self) -> None:
        endpoint = SampledEndpoint(invoke=lambda _: {"y": np.array([[2, 6]], np.float32)})
        with pytest.raises(CheckError) as failure:
            endpoint.check_event(sample(DOUBLE))
        assert str(failure.value) == (
            "Endpoint doubles, sample pair: output y[0, 1] is 6, expected 4 (tolerance 0.001); 1 of 2 values"
            " differ. If the new model is right, change the sample in the spec, else fix the model; then deploy"
            " again."
        )

    @pytest.mark.parametrize("status", [400, 404, 500])
    def test_a_refusal_of_the_model_fails_at_once_in_its_own_words(self, status: int) -> None:
        endpoint = SampledEndpoint(invoke=raise_errors(model_error(status, "no input 'x'")))
        words = f"sample pair: the answer has status {status}, expected 200: no input 'x'."
        with pytest.raises(CheckError, match=words):
            endpoint.check_event(sample(DOUBLE))

    def test_why_a_model_does_not_load_is_told_to_the_end_and_the_log_is_named_not_the_sample(self) -> None:
        folder = f"/opt/ml/models/{'0a' * 32}/model"
        text = (
            f"load failed for model '{folder}': {'x' * 500}; '{folder}::dali': model.dali: it is no pipeline;"
        )
        with pytest.raises(CheckError) as failure:
            SampledEndpoint(invoke=raise_errors(model_error(400, text))).check_event(sample(DOUBLE))
        told_text = str(failure.value)
        assert "load failed for model ''" in told_text and folder not in told_text
        assert "… x" in told_text and "'dali': model.dali: it is no pipeline;. See the log group" in told_text
        assert "change the sample" not in told_text

    def test_a_model_that_has_to_refuse_passes_when_it_does_and_fails_when_it_answers(self) -> None:
        endpoint = SampledEndpoint(invoke=raise_errors(model_error(400)))
        assert endpoint.check_event(sample(status=400))["IsComplete"] is True
        with pytest.raises(CheckError, match="the answer has status 200, expected 400"):
            endpoint.check_event(sample(status=400))

    def test_a_refusal_of_sagemaker_itself_fails_at_once(self) -> None:
        error = refusal("InvokeEndpoint", "ValidationError", "Endpoint doubles not found")
        with pytest.raises(
            CheckError, match="SageMaker refuses the call with ValidationError: Endpoint doub"
        ):
            SampledEndpoint(invoke=raise_errors(error)).check_event(sample())

    @pytest.mark.parametrize(
        ("body", "kind", "words"),
        [
            (b"{}", "application/json", "has content type 'application/json'"),
            (
                b"{}",
                "application/vnd.sagemaker-triton.binary+json;json-header-size=2",
                "cannot be read: KeyE",
            ),
            (b"[", "application/vnd.sagemaker-triton.binary+json;json-header-size=1", "cannot be read: JSON"),
            (b"{}", "application/vnd.sagemaker-triton.binary+json;json-header-size=²", "not Triton's"),
            (
                b"{}",
                f"application/vnd.sagemaker-triton.binary+json;json-header-size={'9' * 5000}",
                "cannot be read: ValueError",
            ),
        ],
    )
    def test_what_is_no_answer_of_tritons_fails(self, body: bytes, kind: str, words: str) -> None:
        with pytest.raises(CheckError, match=words):
            SampledEndpoint(invoke=lambda _: (body, kind)).check_event(sample())

    def test_a_message_fits_cloudformations_answer_and_keeps_its_remedy(self) -> None:
        error = refusal("InvokeEndpoint", "ValidationError", "x" * 5000)
        with pytest.raises(CheckError) as failure:
            SampledEndpoint(invoke=raise_errors(error)).check_event(sample())
        assert len(str(failure.value)) <= 1500
        assert str(failure.value).endswith("what `samples` and `warm` of the spec name.")

    def test_what_nobody_foresaw_is_told_without_a_trace(self) -> None:
        error = refusal("InvokeEndpoint", "ValidationError", "not you")
        with pytest.raises(CheckError, match="SageMaker refuses the call with ValidationError: not you"):
            SampledEndpoint(invoke=raise_errors(error)).check_event(sample())
        with pytest.raises(CheckError, match="Endpoint doubles could not be checked: JSONDecodeError"):
            SampledEndpoint().check_event(Samples="[")


class TestWarming:
    def test_a_target_is_loaded_by_a_request_that_it_refuses_and_before_any_sample(self) -> None:
        endpoint = SampledEndpoint(
            invoke=lambda target: unknown_output(target) if target == "a.tar.gz" else {}
        )
        assert "targets loaded: 1" in endpoint.check_event(sample(), Warm=["a.tar.gz"])["Data"]["Summary"]
        first, second = endpoint.calls
        assert (first["TargetModel"], first["Body"][:13]) == ("a.tar.gz", b'{"inputs": []')
        assert "TargetModel" not in second

    def test_a_target_that_loads_slowly_is_waited_for(self) -> None:
        endpoint = SampledEndpoint(invoke=raise_errors(refusal("InvokeEndpoint", "ModelNotReadyException")))
        assert endpoint.check_event(Warm=["a.tar.gz"]) == NOT_YET

    def test_a_target_that_cannot_be_loaded_fails_although_its_status_is_that_of_a_refusal(self) -> None:
        endpoint = SampledEndpoint(invoke=raise_errors(model_error(400, "failed to load 'a.tar.gz'")))
        with pytest.raises(
            CheckError, match="Target a.tar.gz of endpoint doubles cannot be loaded: it answers"
        ):
            endpoint.check_event(Warm=["a.tar.gz"])

    def test_a_sample_of_a_target_is_sent_to_it(self) -> None:
        endpoint = SampledEndpoint(invoke=lambda _: {"y": np.zeros(1)})
        endpoint.check_event(sample(target="b.tar.gz"))
        assert endpoint.calls[0]["TargetModel"] == "b.tar.gz"

    def test_a_sample_of_a_route_names_it_and_its_version_as_the_router_reads_them(self) -> None:
        endpoint = SampledEndpoint(invoke=lambda _: {"y": np.zeros(1)})
        endpoint.check_event(sample(model="resnet", version=2))
        assert endpoint.calls[0]["CustomAttributes"] == "model=resnet;version=2"
        assert "TargetModel" not in endpoint.calls[0]
