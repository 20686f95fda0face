"""`fleet rules`: what `fleet check` looks for, and why."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from fleet.cli.output import say
from fleet.findings import Finding, FindingsError
from fleet.printers.console import OutputConsole
from fleet.printers.lines import print_json
from fleet.rules.docs import link_to, said_of, weight_of
from fleet.rules.example import examples
from fleet.rules.other_codes import other_codes, severity_of, weight_of_other
from fleet.rules.registry import rules as all_rules
from fleet.rules.rule import Rule
from fleet.spec.problems import did_you_mean

WIDTH_OF_A_PIPE = 250
"""Where nobody looks at it, each rule is one line."""
STYLE = {"error": "red", "warning": "yellow"}


class Format(StrEnum):
    """How it is printed."""

    HUMAN = "human"
    JSON = "json"


def rules(
    codes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CODE]...", help="Such as FL204, or FL2 for all that begin so; else all rules."
        ),
    ] = None,
    format: Annotated[Format, typer.Option("--format", help="For people, or JSON.")] = Format.HUMAN,
) -> None:
    """List the rules, or explain some of them and other codes of findings."""
    named = [code.upper() for code in codes or ()]
    wanted = _known(named)
    if format is Format.JSON:
        print_json([_entry(code) for code in wanted or all_rules()])
    elif wanted and set(wanted) <= set(named):
        for code in wanted:
            _explain(code)
    else:
        console = OutputConsole()
        if not console.is_terminal:
            console.width = WIDTH_OF_A_PIPE
        console.print(_table(wanted or list(all_rules())))
        say(f"`fleet rules CODE` explains one; all are in {link_to('').removesuffix('#')}")


def _known(codes: Sequence[str]) -> list[str]:
    """The codes that are meant, each once; a beginning, such as FL2, means all that begin so."""
    known = sorted([*all_rules(), *other_codes()])
    meant = {
        code: [each for each in known if code.startswith("FL") and each.startswith(code)] for code in codes
    }
    if strays := [code for code, found in meant.items() if not found]:
        raise FindingsError([_unknown(code, known) for code in strays])
    return list(dict.fromkeys(each for found in meant.values() for each in found))


def _unknown(code: str, known: list[str]) -> Finding:
    hint = did_you_mean(code, known) if code.startswith("FL") else "`fleet rules` lists them, such as FL204"
    return Finding(code="FL132", message=f"there is no code {code!r}", hint=hint)


def _table(codes: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("code", "severity", "name"):
        table.add_column(heading, no_wrap=True)
    table.add_column("summary", overflow="fold")
    for code in codes:
        rule = all_rules().get(code)
        severity = severity_of(code) if rule is None else rule.severity
        name, summary = ("", other_codes()[code]) if rule is None else (rule.name, rule.summary)
        table.add_row(
            Text(code, "bold"), Text(severity, STYLE[severity]), Text(name), Text(_one_line(summary))
        )
    return table


def _entry(code: str) -> dict[str, Any]:
    rule = all_rules().get(code)
    if rule is None:
        said = {"code": code, "severity": severity_of(code).value, "summary": other_codes()[code]}
        return {**said, "docs": link_to(code)}
    example = examples().get(code)
    shown = {"wrong": example.wrong.shown, "right": example.right.shown} if example else None
    return {
        "code": code,
        "severity": rule.severity.value,
        "name": rule.name,
        "summary": _one_line(rule.summary),
        "why": rule.why,
        "needed": rule.needed,
        "at_deploy": rule.at_deploy,
        "source": rule.source,
        "example": shown,
        "docs": link_to(code),
    }


def _explain(code: str) -> None:
    rule = all_rules().get(code)
    if rule is None:
        say(f"{code} ({weight_of_other(code)})", "bold")
        say(other_codes()[code])
        say("")
        return
    say(f"{code} {rule.name} ({weight_of(rule)})", "bold")
    say(_one_line(rule.summary))
    if rule.why:
        say("")
        for line in rule.why.splitlines():
            say(line)
    _show_example(rule)
    for line in ("", f"source: {rule.source}", f"docs:   {link_to(code)}", ""):
        say(line, "dim")


def _show_example(rule: Rule) -> None:
    example = examples().get(rule.code)
    if example is None:
        return
    for heading, lines in {
        "wrong": example.wrong.shown.splitlines(),
        "fleet check says": said_of(example.wrong, rule),
        "right": example.right.shown.splitlines(),
    }.items():
        say("")
        say(f"{heading}:", "bold")
        for line in lines:
            say(f"  {line}")


def _one_line(text: str) -> str:
    return " ".join(text.split())
