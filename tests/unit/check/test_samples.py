"""Samples and `warm` in a spec: what is refused, where, and what the endpoint check is given of them."""

from __future__ import annotations

import json

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder

INPUT = "inputs: {x: {datatype: FP32, shape: [1, 2], data: [1, 2]}}"
ZOO = """\
endpoint: sentences
mode: multi-model
triton: "25.04"
instance: {type: ml.g5.xlarge}
models:
  - {archive: sentences, repository: ../repository, copies: 2}
  - {archive: paragraphs, repository: ../repository}
"""


def sample_messages(folder: FleetFolder, sample: str, *, base: str = SPEC) -> list[str]:
    """The findings of a spec with one sample."""
    folder.spec(f"samples:\n  - name: one\n    {sample}\n", base=base)
    return folder.finding_lines()


class TestDataThatDoesNotFit:
    @pytest.mark.parametrize(
        ("tensor", "words"),
        [
            (
                "datatype: FP31, shape: [1], data: 1",
                '`samples[0].inputs.x.datatype` is "FP31": it must be',
            ),
            ("datatype: FP32, shape: [1], data: {}", "write a list of elements, or one that fills the whole"),
            (
                "datatype: FP32, shape: [1], data: ",
                "`samples[0].inputs.x.data` is empty: write a list of ele",
            ),
            ("datatype: FP32, shape: [1], data: [{}]", "`data` has {}, which is not a number: not FP32"),
            (
                "datatype: FP32, shape: [-1], data: 1",
                "`samples[0].inputs.x.shape[0]` is -1: it must be at least 0",
            ),
            (
                "datatype: FP32, shape: [2, 2], data: [1, 2, 3]",
                "the shape [2, 2] needs 4 elements, and `data`",
            ),
            ("datatype: FP32, shape: [2, 2], data: [[1, 2]]", "`data` has the shape [1, 2], and `shape` is"),
            (
                "datatype: FP32, shape: [2, 2], data: [[1, 2], [3]]",
                "`data` is ragged: all lists of one level",
            ),
            ("datatype: FP32, shape: [2, 2], data: [[1, 2], 3]", "`data` is ragged: all lists of one level"),
            ("datatype: FP32, shape: [1], data: one", "`data` has 'one', which is not a number or one of"),
            ("datatype: FP32, shape: [1], data: true", "`data` has True, which is not a number: not FP32"),
            ("datatype: FP16, shape: [1], data: 70000", "`data` has 70000, which is too large: not FP16"),
            ("datatype: BF16, shape: [1], data: 3.4028234e+38", "which is too large: not BF16"),
            ("datatype: BF16, shape: [1], data: -3.3961775292304957e+38", "which is too large: not BF16"),
            (
                "datatype: INT8, shape: [1], data: 128",
                "`data` has 128, which is not from -128 to 127: not INT8",
            ),
            ("datatype: UINT8, shape: [1], data: -1", "`data` has -1, which is not from 0 to 255: not UINT8"),
            ("datatype: INT64, shape: [1], data: 1.5", "has 1.5, which is not a whole number: not INT64"),
            (
                "datatype: BOOL, shape: [1], data: 1",
                "`data` has 1, which is neither true nor false: not BOOL",
            ),
            ("datatype: BYTES, shape: [1], data: 1", "`data` has 1, which is not text; put it in quotes:"),
        ],
    )
    def test_of_an_input_is_told_at_its_line(self, folder: FleetFolder, tensor: str, words: str) -> None:
        (finding,) = sample_messages(folder, f"inputs: {{x: {{{tensor}}}}}")
        assert finding.startswith("sentences.yaml:8 FL112 ")
        assert words in finding

    @pytest.mark.parametrize(
        ("tensor", "words"),
        [
            ("tolerance: 1", "`tolerance` needs `data` or `first`, and there is neither"),
            ("data: 1", "`data` needs a `datatype`"),
            ("datatype: FP32, data: 1", "`data` of floating point needs `tolerance`"),
            ("datatype: BYTES, data: a, tolerance: 0", "BYTES is compared exactly: leave out `tolerance`"),
            (
                "datatype: INT8, shape: [-1, 2], data: [1, 2, 3]",
                "needs a multiple of 2 elements, and `data` has",
            ),
            ("datatype: INT8, data: 1, first: [1]", "`first` replaces `data`"),
            ("datatype: FP32, first: [1]", "`first` of floating point needs `tolerance`"),
            ("datatype: INT8, first: [a]", "`first` has 'a', which is not a whole number: not INT8"),
            ("datatype: INT8, shape: [1, 2], first: [1, 2, 3]", "`first` has 3 elements, and `shape` 2"),
            ("datatype: INT8, first: []", "at least 1"),
            ("datatype: INT8, data: 1, tolerance: -1", "at least 0"),
        ],
    )
    def test_of_an_output_is_told_at_its_line(self, folder: FleetFolder, tensor: str, words: str) -> None:
        (finding,) = sample_messages(folder, f"{INPUT}\n    outputs: {{y: {{{tensor}}}}}")
        assert finding.startswith("sentences.yaml:9 FL112 ")
        assert words in finding

    @pytest.mark.parametrize("status", [100, 201, 429, 503])
    def test_a_status_that_is_no_answer_is_refused(self, folder: FleetFolder, status: int) -> None:
        (finding,) = sample_messages(folder, f"{INPUT}\n    status: {status}")
        assert "write 200, or a status with which the model refuses: 400 to 500" in finding

    def test_a_refusal_has_no_outputs(self, folder: FleetFolder) -> None:
        (finding,) = sample_messages(folder, f"{INPUT}\n    status: 400\n    outputs: {{y: {{}}}}")
        assert "an answer of status 400 has no outputs: leave out `outputs`" in finding

    def test_the_largest_number_that_bf16_rounds_down_is_one(self, folder: FleetFolder) -> None:
        tensor = "x: {datatype: BF16, shape: [2], data: [3.396177e+38, -3.3895313892515355e+38]}"
        assert sample_messages(folder, f"inputs: {{{tensor}}}") == []

    @pytest.mark.parametrize(
        ("tensors", "line"),
        [
            ("inputs:\n      x:\n        datatype: BYTES\n        shape: [1]\n        data: 'a{REF}'", 12),
            (
                "inputs:\n      x:\n        datatype: BYTES\n        shape: [1, 1]\n        data: [['{REF}']]",
                12,
            ),
            ("inputs:\n      '{REF}':\n        {datatype: INT8, shape: [1], data: 1}", 9),
            (INPUT + "\n    outputs:\n      y: {datatype: BYTES,\n        first: ['{REF}']}", 11),
            (INPUT + "\n    outputs:\n      y: {datatype: BYTES,\n        data: '{REF}'}", 11),
            (INPUT + "\n    outputs:\n      '{REF}': {}", 10),
        ],
    )
    def test_a_text_that_cloudformation_would_replace_is_refused_at_its_line(
        self, folder: FleetFolder, tensors: str, line: int
    ) -> None:
        (finding,) = sample_messages(folder, tensors.replace("{REF}", "{{resolve:ssm:/secret}}"))
        assert finding.startswith(f"sentences.yaml:{line} FL519 "), finding
        assert "CloudFormation would put a value in its place, a secret perhaps" in finding

    def test_two_samples_have_two_names(self, folder: FleetFolder) -> None:
        (finding,) = sample_messages(folder, f"{INPUT}\n  - name: one\n    {INPUT}")
        assert "two samples are named 'one'" in finding


class TestTargets:
    @pytest.mark.parametrize(
        ("sample", "words"),
        [
            (
                INPUT,
                "FL326 sample 'one' names no target; each archive is one | write `target: sentences-0`",
            ),
            (
                f"target: sentences\n    {INPUT}",
                "FL326 'sentences' has copies | write `sentences-0` or `sentences-1`",
            ),
            (
                f"target: paragraphs\n    {INPUT}\nwarm: [pictures]",
                "12 FL326 no archive in `models` is named",
            ),
        ],
    )
    def test_of_a_multi_model_endpoint_are_its_archives(
        self, folder: FleetFolder, sample: str, words: str
    ) -> None:
        assert any(words in line for line in sample_messages(folder, sample, base=ZOO))

    def test_are_named_as_archives_and_not_as_callers_name_them(self, folder: FleetFolder) -> None:
        lines = sample_messages(
            folder, f"target: paragraphs.tar.gz\n    {INPUT}\nwarm: [paragraphs.tar.gz]", base=ZOO
        )
        assert [line.count("write the archive's name, `paragraphs`") for line in lines] == [1, 1]

    def test_are_warmed_once(self, folder: FleetFolder) -> None:
        (finding,) = sample_messages(
            folder, f"target: paragraphs\n    {INPUT}\nwarm: [paragraphs, paragraphs]", base=ZOO
        )
        assert "'paragraphs' is listed twice" in finding

    @pytest.mark.parametrize("sample", [f"target: sentences\n    {INPUT}", f"{INPUT}\nwarm: [sentences]"])
    def test_of_a_single_endpoint_there_are_none(self, folder: FleetFolder, sample: str) -> None:
        (finding,) = sample_messages(folder, sample)
        assert "FL326 'sentences' is named as a target, but mode `single` has none" in finding

    def test_an_archive_with_an_answered_sample_is_loaded_by_it(self, folder: FleetFolder) -> None:
        samples = f"samples: [{{name: one, target: paragraphs, {INPUT}}}]\n"
        folder.spec(f"warm: [paragraphs, sentences-1]\n{samples}", base=ZOO)
        folder.write("repository/embed/1/model.py", "class TritonPythonModel: x = 1\n")
        folder.lock()
        assert folder.resolve().check.warm == ("sentences-1.tar.gz",)

    def test_the_check_is_given_target_models(self, folder: FleetFolder) -> None:
        folder.spec(f"warm: [paragraphs]\nsamples: [{{name: one, target: sentences-1, {INPUT}}}]\n", base=ZOO)
        folder.write("repository/embed/1/model.py", "class TritonPythonModel: x = 1\n")
        folder.lock()
        check = folder.resolve().check
        assert check.warm == ("paragraphs.tar.gz",)
        tensor = {"datatype": "FP32", "shape": [1, 2], "data": [1, 2]}
        assert json.loads(check.samples) == [
            {
                "name": "one",
                "target": "sentences-1.tar.gz",
                "inputs": {"x": tensor},
                "outputs": {},
                "status": 200,
            }
        ]


class TestSizes:
    def test_samples_beyond_an_event_are_refused_with_the_way_out(self, folder: FleetFolder) -> None:
        data = ", ".join(["0.123456789"] * 12_000)
        (finding,) = sample_messages(
            folder, f"inputs: {{x: {{datatype: FP32, shape: [12000], data: [{data}]}}}}"
        )
        assert "FL327 `samples` and `warm` take 288" in finding
        assert "write one value as `data`: it fills the whole shape" in finding
        assert "of an update's event, which has room for 90112" in finding
        assert (
            sample_messages(folder, "inputs: {x: {datatype: FP32, shape: [12000], data: 0.123456789}}") == []
        )

    def test_samples_that_fit_leave_room_for_what_the_framework_makes_of_their_event(
        self, folder: FleetFolder
    ) -> None:
        """The event that is thrown for another look: in the message of an error, and in its first line."""
        texts = ", ".join(["'a'"] * 4000)
        fits = f"inputs: {{x: {{datatype: BYTES, shape: [4000], data: [{texts}]}}}}"
        assert sample_messages(folder, fits) == []
        folder.lock()
        properties = {"Samples": folder.resolve().check.samples}
        event = json.dumps({"ResourceProperties": properties, "OldResourceProperties": properties})
        thrown = json.dumps({"errorMessage": event, "trace": [f"Retry: {event}"]})
        assert 150_000 < len(thrown) < 262_144
        (finding,) = sample_messages(
            folder, fits.replace("4000", "5000").replace(texts, f"{texts}, {texts[:4998]}")
        )
        assert "FL327 `samples` and `warm` take " in finding

    def test_a_request_that_no_source_allows_is_refused(self, folder: FleetFolder) -> None:
        (finding,) = sample_messages(folder, "inputs: {x: {datatype: FP64, shape: [2000, 2000], data: 0}}")
        assert "FL260 the request of sample 'one' has 30.5 MiB; a real-time call accepts 25 MB" in finding
        (finding,) = sample_messages(folder, "inputs: {x: {datatype: BYTES, shape: [3000000], data: grün}}")
        assert "has 25.7 MiB" in finding

    def test_samples_of_an_endpoint_that_generates_are_refused(self, folder: FleetFolder) -> None:
        (finding,) = sample_messages(folder, f"{INPUT}\ncontainer: {{inference_type: generate}}")
        assert "FL329 samples are sent as tensors" in finding


def test_what_fleet_show_prints_of_a_sample_can_be_read_back(folder: FleetFolder) -> None:
    every = "y: {datatype: null, shape: null, data: null, first: null, tolerance: null}"
    assert (
        sample_messages(folder, f"target: null\n    {INPUT}\n    outputs: {{{every}}}\n    status: 200") == []
    )
