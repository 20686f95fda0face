"""An engine that cannot be built is told at the line that asks for it, and stops nothing else."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import StringIO

import pytest
from onnx import helper

from engine_request.problems import PROBLEMS
from tests.support.codebuild_stand_in import StandInCodeBuild, refusal
from tests.support.engine_bucket import EngineBucket, small_onnx
from tests.support.fleet_folder import ROOT
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.printers.console import OutputConsole
from triton_fleet.rules.names import display_name
from triton_fleet.store.engines.task import CODES
from triton_fleet.store.images.task import CODES as IMAGE_CODES
from triton_fleet.store.progress import BarProgress, LineProgress

UNSUPPORTED_GRAPH = small_onnx(nodes=[helper.make_node("NoSuchOperator", ["x"], ["y"], domain="of.somebody")])


@pytest.fixture
def codebuild(engine_bucket: EngineBucket) -> StandInCodeBuild:
    """A build of it is under way at the first look."""
    stand_in = StandInCodeBuild(engine_bucket.artifacts.s3)
    engine_bucket.clients = replace(engine_bucket.clients, codebuild=stand_in, logs=stand_in)
    engine_bucket.endpoint()
    return stand_in


def refusal_finding(engine_bucket: EngineBucket) -> Finding:
    with pytest.raises(FindingsError) as caught:
        engine_bucket.publish()
    (finding,) = caught.value.findings
    return finding


@pytest.mark.nightly
def test_an_operator_that_tensorrt_lacks_is_told_in_its_words_and_others_are_published(
    engine_bucket: EngineBucket,
) -> None:
    engine_bucket.endpoint("broken", model=UNSUPPORTED_GRAPH)
    engine_bucket.endpoint("sound")
    finding = refusal_finding(engine_bucket)
    assert (finding.code, finding.file, finding.line) == (
        "FL376",
        engine_bucket.root / "model_specs/broken.yaml",
        8,
    )
    assert finding.message.startswith("the engine of model 'bert' was not built: unsupported operator: ")
    assert "NoSuchOperator" in finding.message
    assert "the full log is in /triton-fleet/dev/engines, stream " in finding.hint
    assert "bert/1/model.plan" in engine_bucket.packed_files("sound")
    assert engine_bucket.artifacts.object_keys("engines/leases/") == []
    assert len(engine_bucket.artifacts.object_keys("endpoints/")) == 1


def test_two_publishers_at_once_start_one_build(engine_bucket: EngineBucket) -> None:
    engine_bucket.endpoint()
    with ThreadPoolExecutor(2) as pool:
        pair = [future.result() for future in [pool.submit(engine_bucket.publish) for _ in range(2)]]
    assert sorted(item.engines for item in pair) == [0, 1]
    assert len(engine_bucket.builds) == 1


@pytest.mark.parametrize(
    ("exit_code", "code"),
    [
        (10, "FL375"),
        (14, "FL373"),
        (99, "FL381"),
        *(
            pytest.param(number, code, marks=pytest.mark.nightly)
            for number, code in (
                *((number, "FL375") for number in (11, 12, 13)),
                *((number, "FL376") for number in (15, 18, 19)),
                (16, "FL377"),
                (17, "FL378"),
                (20, "FL379"),
                (21, "FL380"),
            )
        ),
    ],
)
def test_each_problem_of_the_build_script_has_a_code(
    engine_bucket: EngineBucket, codebuild: StandInCodeBuild, exit_code: int, code: str
) -> None:
    codebuild.on_look = lambda id: codebuild.fail(
        id, exit_code=exit_code, problem="too bad", message="It rained.", log=["one", "two"]
    )
    finding = refusal_finding(engine_bucket)
    assert finding.code == code
    assert (
        finding.message == "the engine of model 'bert' was not built: too bad: It rained.\n    one\n    two"
    )
    assert finding.hint == "do better; the full log is in group, stream stream"


def test_of_a_build_that_says_nothing_the_reason_of_codebuild_and_the_end_of_its_log_are_told(
    engine_bucket: EngineBucket, codebuild: StandInCodeBuild
) -> None:
    codebuild.reason = "CannotPullContainerError"
    codebuild.lines = ["[Container] Entering phase BUILD\n", *(f"line {number}\n" for number in range(9))]
    codebuild.on_look = codebuild.fail
    finding = refusal_finding(engine_bucket)
    assert finding.code == "FL381"
    assert "the build ended with the status FAILED: CannotPullContainerError" in finding.message
    assert finding.message.endswith("\n    line 4\n    line 5\n    line 6\n    line 7\n    line 8")


def test_what_an_earlier_attempt_said_is_not_told_again(
    engine_bucket: EngineBucket, codebuild: StandInCodeBuild
) -> None:
    codebuild.on_look = lambda id: codebuild.fail(id, exit_code=16, problem="p", message="Full.")
    assert refusal_finding(engine_bucket).code == "FL377"
    codebuild.on_look = codebuild.fail
    assert refusal_finding(engine_bucket).code == "FL381"


def test_what_codebuild_does_not_take_of_one_engine_stops_no_other(
    engine_bucket: EngineBucket, codebuild: StandInCodeBuild
) -> None:
    engine_bucket.endpoint("second", model=small_onnx("other"))
    codebuild.refusals = [refusal("InvalidInputException", "There is no such fleet.")]
    finding = refusal_finding(engine_bucket)
    assert (finding.code, finding.line) == ("FL379", 8)
    assert "There is no such fleet." in finding.message
    assert list(codebuild.status.values()) == ["SUCCEEDED"]
    assert engine_bucket.artifacts.object_keys("engines/leases/") == []


def test_a_build_that_codebuild_ended_for_its_time_is_told_so(
    engine_bucket: EngineBucket, codebuild: StandInCodeBuild
) -> None:
    codebuild.on_look = lambda id: codebuild.status.update({id: "TIMED_OUT"})
    finding = refusal_finding(engine_bucket)
    assert (finding.code, "engine_builds.timeout" in finding.hint) == ("FL378", True)


def test_without_a_terminal_a_build_is_told_by_lines(
    engine_bucket: EngineBucket, codebuild: StandInCodeBuild
) -> None:
    stream = StringIO()
    engine_bucket.publish(LineProgress(OutputConsole(file=stream, width=200)))
    first, second, *_ = stream.getvalue().splitlines()
    assert first == "engine sentences/bert: building"
    assert second.startswith("engine sentences/bert: ready after ")


def test_on_a_terminal_a_build_shows_the_last_line_of_its_log(
    engine_bucket: EngineBucket, codebuild: StandInCodeBuild
) -> None:
    codebuild.lines = ["first", "\x1b[31mtactic 7 of 9"]
    stream = StringIO()
    engine_bucket.publish(BarProgress(OutputConsole(file=stream, width=200, force_terminal=True)))
    assert "engine sentences/bert" in stream.getvalue()
    assert "\\x1b[31mtactic 7 of 9" in stream.getvalue()


def test_the_documentation_has_each_exit_code_with_its_problem_and_its_finding() -> None:
    tables = {"engines": CODES, "images": IMAGE_CODES}
    for page, codes in tables.items():
        text = (ROOT / f"docs/{page}.md").read_text()
        matches = re.findall(r"^\| (\d+) \| ([^|]+) \| ([^|]+ \(FL\d+\)) \|", text, re.MULTILINE)
        assert matches == [
            (str(problem.exit_code), problem.name, display_name(codes[problem.exit_code]))
            for problem in PROBLEMS
            if problem.exit_code in codes
        ]
    assert {problem.exit_code for problem in PROBLEMS} == CODES.keys() | IMAGE_CODES.keys()
