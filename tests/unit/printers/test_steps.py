"""The lines of a long command: one a step, several steps at one time, and what is left when it is interrupted."""

from __future__ import annotations

import io
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from triton_fleet.cli import deploy
from triton_fleet.findings import CannotRunError, Finding, FindingsError
from triton_fleet.printers.console import OutputConsole
from triton_fleet.printers.steps import Outcome, Steps

SECONDS = re.compile(r"  \d+\.\d s$", re.MULTILINE)


def steps(*, terminal: bool = False) -> tuple[Steps, io.StringIO]:
    file = io.StringIO()
    return Steps(OutputConsole(file=file, width=80, force_terminal=terminal)), file


def lines(file: io.StringIO) -> list[str]:
    return SECONDS.sub("", file.getvalue()).splitlines()


def test_without_a_terminal_a_step_has_a_line_at_its_start_if_one_is_given_and_one_at_its_end() -> None:
    taken_steps, file = steps()
    with taken_steps.step("cdk synth"):
        pass
    with taken_steps.step("cdk deploy a", start_text="cdk deploy a: started; its log is a.log") as step:
        step.note = "created"
    assert lines(file) == [
        "✓ cdk synth",
        "  cdk deploy a: started; its log is a.log",
        "✓ cdk deploy a: created",
    ]


def test_a_terminal_shows_all_steps_under_way_and_in_the_end_a_line_for_each() -> None:
    taken_steps, file = steps(terminal=True)
    pair, event = threading.Barrier(3), threading.Event()

    def take(name: str) -> None:
        with taken_steps.step(f"cdk deploy {name}", start_text="not on a terminal"):
            pair.wait(30)
            event.wait(30)

    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(take, name) for name in ("a", "b")]
        pair.wait(30)
        assert taken_steps._live is not None
        taken_steps._live.refresh()
        text = file.getvalue()
        event.set()
        for future in futures:
            future.result()
    assert "cdk deploy a" in text
    assert "cdk deploy b" in text
    assert "not on a terminal" not in file.getvalue()
    assert {step.title for step in taken_steps.history} == {"cdk deploy a", "cdk deploy b"}
    assert taken_steps._live is None


def test_a_question_is_asked_without_anything_drawn_over_it() -> None:
    taken_steps, _ = steps(terminal=True)
    with taken_steps.step("cdk deploy a"):
        with taken_steps.pause():
            assert taken_steps._live is None
            with taken_steps.step("cdk deploy b"):
                assert taken_steps._live is None
        assert taken_steps._live is not None


@pytest.mark.parametrize(
    ("error", "outcome", "note"),
    [
        (CannotRunError("AWS does not answer:\nno route"), Outcome.FAILURE, "AWS does not answer:"),
        (
            FindingsError([Finding(code="FL601", message=f"resource {index}") for index in range(3)]),
            Outcome.FAILURE,
            "resource 0 (and 2 more)",
        ),
        (KeyboardInterrupt(), Outcome.INTERRUPTION, ""),
    ],
)
def test_a_step_that_fails_is_remembered_with_its_reason(
    error: BaseException, outcome: Outcome, note: str
) -> None:
    taken_steps, file = steps()
    with pytest.raises(type(error)), taken_steps.step("cdk deploy a"):
        raise error
    (step,) = taken_steps.history
    assert (step.outcome, step.note, lines(file)) == (outcome, note, ["✗ cdk deploy a"])


def test_what_other_threads_print_after_an_interruption_is_left_out() -> None:
    taken_steps, file = steps()
    initial_event, may_end = threading.Event(), threading.Event()

    def take() -> None:
        with taken_steps.step("cdk deploy a"):
            initial_event.set()
            may_end.wait(30)
            taken_steps.say("too late")

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(take)
        initial_event.wait(30)
        taken_steps.interrupt()
        may_end.set()
        future.result()
    with taken_steps.step("stop what was started"):
        pass
    assert lines(file) == ["✗ cdk deploy a", "✓ stop what was started"]
    assert [step.outcome for step in taken_steps.history] == [Outcome.INTERRUPTION, Outcome.SUCCESS]


def test_the_summary_fits_eighty_columns_and_tells_done_failed_interrupted_and_not_begun() -> None:
    taken_steps, _ = steps()
    reason = "AWS::SageMaker::Endpoint of triton-fleet-dev-b: " + "the model does not load, " * 5
    taken_steps.to_come = [f"cdk deploy triton-fleet-dev-{name}" for name in "abcd"]
    with taken_steps.step("cdk deploy triton-fleet-dev-a") as step:
        step.note = "nothing to do"
    for name, error in (("b", CannotRunError(reason)), ("c", KeyboardInterrupt())):
        with pytest.raises(type(error)), taken_steps.step(f"cdk deploy triton-fleet-dev-{name}"):
            raise error
    stream = io.StringIO()
    OutputConsole(file=stream, width=80).print(deploy._summary(taken_steps))
    table = stream.getvalue()
    assert max(map(len, table.splitlines())) <= 80
    assert re.search(r"-dev-a +nothing to do +0\.0\n", table)
    assert re.search(r"-dev-b +failed: AWS::SageMaker::Endpoint of", table)
    assert re.search(r"-dev-c +interrupted +0\.0\n", table)
    assert re.search(r"-dev-d +not started *\n", table)
