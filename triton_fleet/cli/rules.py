"""`fleet rules`: what `fleet check` looks for, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from triton_fleet.cli.arguments import OutputFormat
from triton_fleet.cli.output import say
from triton_fleet.findings import CannotRunError, Finding, FindingsError
from triton_fleet.printers.console import unfolded_console
from triton_fleet.printers.lines import print_json, print_line
from triton_fleet.rules.codes import (
    THEMES_FILE,
    Theme,
    code_weight,
    other_codes,
    severity_of,
    theme_of,
    themes,
)
from triton_fleet.rules.docs import link_to, said_of, weight_of
from triton_fleet.rules.example import examples
from triton_fleet.rules.names import code_of, codes_by_name, display_name, name_of
from triton_fleet.rules.registry import rules as all_rules
from triton_fleet.rules.rule import Rule
from triton_fleet.spec.problems import did_you_mean

MIN_TABLE_WIDTH = 140
"""On a narrower terminal, the summary of a rule is below its name."""
STYLE = {"error": "red", "warning": "yellow"}

CODE = re.compile(r"FL(\d\w*)?")
"""A code, or the beginning of several."""


def rules(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME|CODE",
            help="Such as missing-driver, FL204, or FL2 for codes that begin with it. Default: all rules.",
        ),
    ] = None,
    theme: Annotated[str | None, typer.Option(help="List only the rules and other codes of a theme.")] = None,
    next_of: Annotated[
        str | None,
        typer.Option("--next", metavar="THEME", help="Print the next free code of a theme, for a new rule."),
    ] = None,
    format: Annotated[OutputFormat, typer.Option("--format", help="Text or JSON.")] = OutputFormat.HUMAN,
) -> None:
    """List the rules of `fleet check`, or explain some.

    Codes of findings that are not rules, such as those of `fleet doctor`, are explained too.
    """
    if sum(value is not None and value != [] for value in (names, theme, next_of)) > 1:
        raise typer.BadParameter("pass only one of names, --theme and --next")
    if next_of is not None:
        print_line(_next_code(_theme(next_of)))
        return
    single = [_code(name) for name in names or ()]
    codes = _expand_codes(single) if theme is None else _codes_of(_theme(theme))
    if format is OutputFormat.JSON:
        print_json([_entry(code) for code in codes or all_rules()])
    elif codes and set(codes) <= set(single):
        for code in codes:
            _explain(code)
    else:
        _list(codes or list(all_rules()))
        say("a rule's name is the mistake that it finds; its summary is what is required")
        say("`fleet rules NAME` explains one, `fleet docs rules` has all")


def _code(name: str) -> str:
    """The code of a name; what looks like a code, in upper case; anything else unchanged."""
    code = code_of(name.lower())
    return code.upper() if CODE.fullmatch(code.upper()) else code


def _expand_codes(codes: Sequence[str]) -> list[str]:
    """The codes, each once; a beginning such as FL2 stands for all codes with it."""
    all_codes = sorted([*all_rules(), *other_codes()])
    matches = {
        code: [
            match_code for match_code in all_codes if code.startswith("FL") and match_code.startswith(code)
        ]
        for code in codes
    }
    if strays := [code for code, code_matches in matches.items() if not code_matches]:
        raise FindingsError([_unknown(code, all_codes) for code in strays])
    return list(dict.fromkeys(match_code for code_matches in matches.values() for match_code in code_matches))


def _unknown(word: str, words: list[str]) -> Finding:
    if word.startswith("FL"):
        return Finding(code="FL132", message=f"code {word!r} does not exist", hint=did_you_mean(word, words))
    near = did_you_mean(word, codes_by_name())
    hint = near if near.startswith("did") else "`fleet rules` lists them, such as missing-driver"
    return Finding(code="FL132", message=f"rule or finding {word!r} does not exist", hint=hint)


def _theme(name: str) -> Theme:
    themes_by_name = {theme.name: theme for theme in themes()}
    if name not in themes_by_name:
        hint = did_you_mean(name, themes_by_name, whole_list=True)
        raise FindingsError([Finding(code="FL132", message=f"theme {name!r} does not exist", hint=hint)])
    return themes_by_name[name]


def _codes_of(theme: Theme) -> list[str]:
    return [code for code in sorted([*all_rules(), *other_codes()]) if theme_of(code) == theme]


def _next_code(theme: Theme) -> str:
    code = theme.next_code({*all_rules(), *other_codes()})
    if code is None:
        remedy = f"give it another one in triton_fleet/rules/{THEMES_FILE}"
        raise CannotRunError(f"the blocks of the theme {theme.name!r} are full", remedy)
    return code


def _list(codes: Sequence[str]) -> None:
    console = unfolded_console()
    if console.width >= MIN_TABLE_WIDTH:
        console.print(_table(codes))
        return
    for code in codes:
        severity, takes, summary = _facts(code)
        console.print(
            Text.assemble(
                (name_of(code), "bold"),
                f" {code}, {theme_of(code).name}, ",
                (severity, STYLE[severity]),
                f", takes {takes}" if takes else "",
            )
        )
        say(f"  {summary}")


def _table(codes: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("name", "code", "theme", "severity"):
        table.add_column(title, no_wrap=True)
    table.add_column("takes")
    table.add_column("summary", overflow="fold")
    for code in codes:
        severity, takes, summary = _facts(code)
        name, level = Text(name_of(code), "bold"), Text(severity, STYLE[severity])
        table.add_row(name, Text(code), Text(theme_of(code).name), level, Text(takes), Text(summary))
    return table


def _facts(code: str) -> tuple[str, str, str]:
    """The severity, what it takes, and the summary of a rule or another code."""
    rule = all_rules().get(code)
    if rule is None:
        return severity_of(code), "", _one_line(other_codes()[code])
    return rule.severity, rule.scope.words, _one_line(rule.summary)


def _entry(code: str) -> dict[str, Any]:
    rule = all_rules().get(code)
    common = {"code": code, "name": name_of(code), "theme": theme_of(code).name}
    if rule is None:
        own = {"severity": severity_of(code).value, "summary": other_codes()[code]}
        return {**common, **own, "docs": link_to(code)}
    example = examples().get(code)
    texts = {"wrong": example.wrong.as_yaml, "right": example.right.as_yaml} if example else None
    return {
        **common,
        "severity": rule.severity.value,
        "summary": _one_line(rule.summary),
        "why": rule.reason,
        "needed": rule.is_needed,
        "at_deploy": rule.at_deploy,
        "takes": rule.scope.words,
        "source": rule.source,
        "example": texts,
        "docs": link_to(code),
    }


def _explain(code: str) -> None:
    rule = all_rules().get(code)
    if rule is None:
        say(f"{display_name(code)}: {code_weight(code)}", "bold")
        say(other_codes()[code])
        say("")
        return
    say(f"{display_name(code)}: {weight_of(rule)}", "bold")
    say(_one_line(rule.summary))
    if rule.reason:
        say("")
        for paragraph in rule.reason.split("\n\n"):
            say(_one_line(paragraph))
    _show_example(rule)
    say("")
    for label, value in {
        "theme": rule.theme.name,
        "takes": rule.scope.words,
        "source": _source_text(rule.source),
    }.items():
        say(f"{label + ':':7} {value}", "dim")
    say("")


def _source_text(source: str) -> str:
    """A source as an installed fleet can read it: a page of the documentation by its command."""
    page = source.partition("#")[0].removesuffix(".md")
    return f"`fleet docs {page.removeprefix('docs/')}`" if page.startswith("docs/") else source


def _show_example(rule: Rule) -> None:
    example = examples().get(rule.code)
    if example is None:
        return
    for title, lines in {
        "wrong": example.wrong.as_yaml.splitlines(),
        "fleet check reports": said_of(example.wrong, rule),
        "right": example.right.as_yaml.splitlines(),
    }.items():
        say("")
        say(f"{title}:", "bold")
        for line in lines:
            say(f"  {line}")


def _one_line(text: str) -> str:
    return " ".join(text.split())
