"""Text of a stranger reaches a terminal or a CI log as visible text: it drives neither."""

from __future__ import annotations

import io
import json
import sys
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text

from tests.support.fleet_folder import ROOT
from triton_fleet.aws.deploy.destroy import Deletion
from triton_fleet.aws.running_configuration import LiveEndpoint
from triton_fleet.cli import deploy, destroy, local, models, preflight, publish
from triton_fleet.cli.output import say
from triton_fleet.cli.show.spec import Line, print_lines
from triton_fleet.exits import run_to_exit
from triton_fleet.findings import CannotRunError, Finding, FindingsError, Severity
from triton_fleet.local.state import LocalState
from triton_fleet.local.status import Status
from triton_fleet.printers.console import OutputConsole
from triton_fleet.printers.formats import Format, print_findings
from triton_fleet.printers.lines import print_bytes, print_error, print_json, print_line
from triton_fleet.printers.sanitizer import powerless
from triton_fleet.printers.steps import FinishedStep, Outcome, Steps
from triton_fleet.spec.prices import PriceBook
from triton_fleet.store.live.live_set import Target
from triton_fleet.store.progress import BarProgress, LineProgress

COMMANDS = (
    "::error::x",
    "  ::warning file=a::x",
    "##[error]x",
    "a ##[group]b",
    "::",
    "##[",
    "###[add-mask]x",
)
BREAKS = ("\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
UNSEEN = (
    *map(chr, (*range(0x20), *range(0x7F, 0xA0))),  # C0, DEL, C1
    *"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",  # direction
    *"\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u115f\u3164\ufe0f\U000e0020\U000e0100",  # nothing to see
)
HOSTILE = (
    *COMMANDS,
    *(
        f"a{broken_values}{command}"
        for broken_values in BREAKS
        for command in ("::error::x", "  ::error::x", "##[group]x")
    ),
    "a\x1b]0;title\x07\x1b[2J\x1b[31mb",
    "".join(f"{item}x" for item in UNSEEN if item not in "\n"),
    "[red]markup[/red] :warning:",
)


def require_powerless(output: str) -> None:
    for line in output.split("\n"):
        assert not line.strip().startswith("::"), line
        assert "##[" not in line
        for item in line:
            assert item == " " or unicodedata.category(item)[0] not in "CZ", (line, item)
            assert item not in "\u034f\u115f\u3164\ufe0f\U000e0100", (line, item)


@given(st.text(st.sampled_from([*UNSEEN, *":#[] a\n"]), max_size=30), st.integers(0, 30))
def test_any_text_becomes_powerless_whole_and_in_pieces(text: str, at: int) -> None:
    require_powerless(powerless(text))
    stream = io.StringIO()
    console = OutputConsole(file=stream, width=10_000)
    console.print(Text.assemble((text[:at], "bold"), (text[at:], "red")))
    require_powerless(stream.getvalue())


@pytest.mark.nightly
def test_all_of_unicode_is_visible_or_an_escape() -> None:
    require_powerless("\n".join(powerless(chr(code)) for code in range(sys.maxunicode + 1)))


@pytest.mark.parametrize("plain", ["é 日本 ✓ 🚀", "a::b", "std::vector", ": :", "#[x]", "# [x]", "a\nb"])
def test_text_without_power_stays_as_it_is(plain: str) -> None:
    assert powerless(plain) == plain


# --- what prints


def refuse(text: str) -> None:
    def wrong() -> None:
        raise CannotRunError(text, text)

    with pytest.raises(SystemExit):
        run_to_exit(wrong)


def find(text: str) -> None:
    finding = Finding(code="FL001", message=text, hint=text, file=Path("a", text.replace("\0", "0") or "b"))

    def wrong() -> None:
        raise FindingsError([finding, Finding(code="FL001", message=f"a\n{text}", severity=Severity.WARNING)])

    with pytest.raises(SystemExit):
        run_to_exit(wrong)


def steps(text: str) -> None:
    taken_steps = Steps(OutputConsole())
    with taken_steps.step(text) as step:
        taken_steps.say(text)
        step.note = text
    taken_steps.history.append(FinishedStep(title=text, note=text, seconds=1, outcome=Outcome.FAILURE))
    taken_steps.to_come.append(text)
    OutputConsole().print(deploy._summary(taken_steps))


def progress(text: str) -> None:
    for made_progress in (LineProgress(OutputConsole()), BarProgress(OutputConsole(force_terminal=False))):
        with made_progress.build(text) as tell:
            tell(text)
        with made_progress.archive(text, 1) as advance:
            advance(1)


def table(text: str) -> None:
    made_table = Table(box=None, pad_edge=False)
    made_table.add_column(text)
    made_table.add_row(text)
    made_table.add_row(Text(text))
    OutputConsole().print(made_table)


def served(text: str) -> None:
    model = SimpleNamespace(target=text, state=text, memory=1, disk=1)
    endpoint = SimpleNamespace(
        account=text,
        region=text,
        log=text,
        state=text,
        restarts=1,
        configuration=text,
        models=[model],
        evictions=[text],
        differences=[text],
        missing_permissions=[text],
        problems=[text],
    )
    supervisor: Any = SimpleNamespace(account="", region="")
    local._show(Status(endpoints=[endpoint], skipped_resources=[text]), supervisor)  # type: ignore[list-item]


def live_models(text: str) -> None:
    live: Any = SimpleNamespace(deployment=SimpleNamespace(environment="dev"), endpoint="zoo")
    date = datetime(2026, 1, 1, tzinfo=UTC)
    for target in (
        Target(name=text, size=1, mtime=date, is_declared=False),
        Target(name=text, is_declared=True),
    ):
        say("  ".join(models._row(live, target, {text: text})))


def check_unneeded_escape(text: str) -> None:
    image = SimpleNamespace(size=1, repository=text)
    units = [SimpleNamespace(name=text, size=1, objects=[1, 2], image=item) for item in (None, image)]
    plan: Any = SimpleNamespace(
        units=units,
        uploads=[SimpleNamespace(key=text)],
        objects=[1],
        images=[image],
        size=1,
        too_young=1,
        too_young_images=1,
    )
    publish._show(plan, text)


def check_doomed_text(text: str) -> None:
    texts = dict.fromkeys(("name", "status", "instance_type", "image", "model_data_url", "config_name"), text)
    live: Any = LiveEndpoint(instances=1, variants=(text,), **texts)
    stack: Any = SimpleNamespace(name=text, status=text)
    deployment = SimpleNamespace(account="1", region="r", bucket=text)
    environment = SimpleNamespace(is_local=False)
    project: Any = SimpleNamespace(
        deployment=deployment, environment=environment, fleet=SimpleNamespace(prices=PriceBook())
    )
    destroy._show(Deletion(stack=stack, types=[text], endpoint=live), project, text)


def check_look(text: str) -> None:
    OutputConsole().print(preflight._line(SimpleNamespace(title=text, text=text, severity=None)))  # type: ignore[arg-type]


def check_comment(text: str) -> None:
    print_lines(OutputConsole(), [Line(Text(text), text), Line(Text("x" * 200), text)])


def machine(text: str) -> None:
    print_findings([Finding(code="FL110", message=text, hint=text)], Format.JSON, ROOT)


PRINT_FUNCTIONS: list[Callable[[str], None]] = [
    *(
        say,
        print_error,
        print_line,
        refuse,
        find,
        steps,
        progress,
        table,
        served,
        live_models,
        check_unneeded_escape,
    ),
    *(
        check_doomed_text,
        check_look,
        check_comment,
        machine,
        print_json,
        lambda text: print_json({text: [text]}),
    ),
]


@pytest.mark.parametrize("show", PRINT_FUNCTIONS)
def test_no_text_of_others_has_power(show: Callable[[str], None], capfd: pytest.CaptureFixture[str]) -> None:
    for text in HOSTILE:
        show(text)
        output = capfd.readouterr()
        assert output.out + output.err
        require_powerless(output.out + output.err)


def test_no_text_of_others_has_power_in_sarif(capfd: pytest.CaptureFixture[str]) -> None:
    """All in one document: each has the descriptions of all rules."""
    print_findings([Finding(code="FL110", message=text, hint=text) for text in HOSTILE], Format.SARIF, ROOT)
    output = capfd.readouterr().out
    require_powerless(output)
    assert len(json.loads(output)["runs"][0]["results"]) == len(HOSTILE)


def test_lines_after_the_first_begin_with_a_mark(capfd: pytest.CaptureFixture[str]) -> None:
    say("one\ntwo\nthree")
    refuse("one\ntwo")
    find("one\ntwo")
    output = capfd.readouterr()
    assert output.out == "one\n    | two\n    | three\n"
    assert output.err.startswith("cannot run: one\n    | two\n  remedy: one\n    | two\n")
    assert "FL001: one\n    | two\n  hint: one\n    | two\n" in output.err


def test_json_says_what_it_said(capfd: pytest.CaptureFixture[str]) -> None:
    for text in (*HOSTILE, "é 日本 🚀 \ud800"):
        print_json({"a": text})
        assert json.loads(capfd.readouterr().out) == {"a": text}


def test_a_github_annotation_is_one_command_whatever_its_text(capfd: pytest.CaptureFixture[str]) -> None:
    for text in HOSTILE:
        print_findings([Finding(code="FL001", message=text, hint=text)], Format.GITHUB, ROOT)
        (line, rest) = capfd.readouterr().out.split("\n")
        assert line.startswith("::error title=FL001")
        assert line.isprintable()
        assert rest == ""


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_an_answer_is_bytes_for_a_program_and_visible_lines_for_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = b"\x1b[2J\xff\n::error::x\ty"
    for stream, output in (
        (io.TextIOWrapper(io.BytesIO()), answer),
        (Terminal(io.BytesIO()), b"\\x1b[2J\\xff\n:\\x3aerror::x    y\n"),
    ):
        monkeypatch.setattr("sys.stdout", stream)
        print_bytes(answer)
        stream.flush()
        assert stream.buffer.getvalue() == output  # type: ignore[attr-defined]


def test_a_log_of_a_model_is_printed_without_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "zoo.log"
    log.write_bytes("\n".join(HOSTILE).encode() + b"\xff")
    monkeypatch.setattr(LocalState, "logs", lambda _: {"zoo": log})
    monkeypatch.setattr(local, "_state", lambda: LocalState(tmp_path))
    local.logs("zoo")
    output = capfd.readouterr().out
    assert len(output.splitlines()) == len("\n".join(HOSTILE).split("\n"))
    require_powerless(output)
