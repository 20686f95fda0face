"""The commands of the documentation: each is one that its program has, and each that is not typed has a test."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest

from tests.support import aws_cli_stand_in
from tests.support.doc_commands import DocumentedCommand, Page, read_page, read_pages
from tests.support.fleet_commands import WrongCommandError, form, recipe, simple_commands, spelled_out
from tests.support.fleet_folder import ROOT
from tests.support.run_elsewhere import FILE, is_meant, run_elsewhere

PAGES = read_pages()
OF_THE_AWS_CLI_ITSELF = (["s3", "cp"], ["ecr", "get-login-password"])
"""Commands that are no operation of an API; source: awscli/customizations."""
SHELL = ("cat", "cd", "docker", "echo", "export", "git", "jq", "mkdir", "pip", "sed", "source")
WITH_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def check(call: list[str], *, complete: bool) -> None:
    """Whether a program has such a command.

    Raises:
        WrongCommandError: it has not, or the program is one of which a page should not speak.
    """
    match call:
        case ["fleet", *_]:
            form(call, complete=complete)
        case ["make", *words]:
            for line in recipe(*words):
                if line.startswith("python "):
                    check(line.split(), complete=True)
        case ["python" | "pytest", *words]:
            for missing_word in (word for word in words if "/" in word and not (ROOT / word).exists()):
                raise WrongCommandError(f"there is no {missing_word}")
        case ["aws", *words]:
            if words[:2] not in OF_THE_AWS_CLI_ITSELF:
                aws_cli_stand_in.parse(words)
        case ["npx", "cdk", command, *words] | ["cdk", command, *words]:
            if unknown := {word for word in words if word.startswith("-")} - cdk_options(command):
                raise WrongCommandError(f"cdk {command} has no {', '.join(sorted(unknown))}")
        case [program, *_] if program not in SHELL:
            raise WrongCommandError(
                f"{program} is no program that is known here; a block of output says so by its language, as ```text"
            )


@cache
def cdk_options(command: str) -> set[str]:
    """The pinned CDK CLI's own list of its options."""
    document: Any = json.loads((ROOT / "node_modules/aws-cdk/lib/cli/cli-type-registry.json").read_text())
    if command not in document["commands"]:
        raise WrongCommandError(f"cdk has no command {command}")
    options = document["globalOptions"] | document["commands"][command].get("options", {})
    short = {f"-{alias}" for option in options.values() for alias in option.get("alias", "")}
    return short | {f"--{name}" for name in options}


def mistakes(commands: list[DocumentedCommand], *, complete: bool) -> list[str]:
    result = []
    for command in commands:
        try:
            for text in [command.bare] if complete else spelled_out(command.text):
                for call in simple_commands(text):
                    check(call, complete=complete)
        except WrongCommandError as error:
            result.append(f"{command}: {error}")
    return result


@WITH_PAGE
def test_every_command_of_a_page_is_one_that_its_program_has(page: Page) -> None:
    assert mistakes(page.commands, complete=True) + mistakes(page.mentions, complete=False) == []


@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        ("fleet chekc --env dev", "there is no `fleet chekc`"),
        ("fleet models lst zoo", "there is no `fleet models lst`"),
        ("fleet check --enw dev", "No such option: --enw"),
        ("fleet check --env dev --format jsn", "'jsn' is not one of"),
        ("fleet destroy --env dev", "Missing parameter: endpoint"),
        ("fleet deploy", "Missing parameter: env"),
        ("fleet local", "is no command without a subcommand"),
        ("make demmo", "No rule to make target 'demmo'"),
        ("python examples/none.py", "there is no examples/none.py"),
        ("make bench NAME=none", "there is no benchmarks/none.py"),
        ("npx cdk deplyo", "cdk has no command deplyo"),
        ("npx cdk deploy --enw dev", "cdk deploy has no --enw"),
        ("aws sagemaker describe-endpoints", "no operation describe-endpoints"),
        ("aws sagemaker describe-endpoint --name x", "has no --name"),
        ("model_specs/a.yaml:1:1: error[unknown-key] FL110: unknown", "its language, as ```text"),
    ],
)
def test_a_mistake_is_told_with_its_page_and_line(line: str, mistake: str) -> None:
    page = read_page("docs/x.md", f"A page.\n\n```\n{line}   # why\n```\n")
    (told_mistake,) = mistakes(page.commands, complete=True)
    assert told_mistake.startswith(f"docs/x.md:4: `{line}`: ")
    assert mistake in told_mistake


@pytest.mark.parametrize(
    ("text", "typed_lines"),
    [
        ("```sh\nfleet ls \\\n  --env dev\n\nfleet rules  # all\n```", ["fleet ls --env dev", "fleet rules"]),
        ("```console\n$ fleet rules\nFL110\n$ fleet schema\n```", ["fleet rules", "fleet schema"]),
        ("```yaml\n- run: fleet check --env prod\n  with: {}\n```", ["fleet check --env prod"]),
        ("    fleet rules\n    fleet schema\n\nText.", ["fleet rules", "fleet schema"]),
        ("```text\nfleet rules\n```\n```python\nfleet\n```", []),
        ("A list:\n- whose item\n    goes on.", []),
    ],
    ids=["commands", "with output", "steps of a workflow", "indented", "no commands", "no block"],
)
def test_commands_are_found_in_blocks_that_are_of_commands(text: str, typed_lines: list[str]) -> None:
    assert [item.bare for item in read_page("docs/x.md", text).commands] == typed_lines


def test_what_is_shown_below_a_command_is_read_with_it() -> None:
    (command,) = read_page("docs/x.md", "```console\n$ fleet rules FL110\nFL110\n  more\n```").commands
    assert (command.line, command.output) == (2, "FL110\n  more")


def test_a_command_in_a_sentence_may_be_a_synopsis_over_two_lines() -> None:
    (named_values,) = read_page(
        "docs/x.md", "Say `fleet models ls\\|rm\nZOO [--env E] [TARGET...]` there."
    ).mentions
    assert (named_values.line, list(spelled_out(named_values.text))) == (
        1,
        ["fleet models ls ZOO --env E TARGET", "fleet models rm ZOO --env E TARGET"],
    )


def with_recipes(typed_names: Iterable[str]) -> set[str]:
    """Commands, and of those of make also what the Makefile's target calls."""
    typed_names = set(typed_names)
    return typed_names.union(*(recipe(*line.split()[1:]) for line in typed_names if line.startswith("make ")))


def test_each_command_that_is_run_elsewhere_is_still_documented() -> None:
    names = with_recipes(item.bare for page in PAGES for item in page.commands)
    named_commands = run_elsewhere().commands
    assert [
        named_command
        for named_command in named_commands
        if not any(is_meant(named_command, name) for name in names)
    ] == []


def test_each_test_that_runs_documented_commands_is_there() -> None:
    for test in run_elsewhere().by_a_test:
        file, name = re.split(r"::|\[", test)[:2]
        assert f"def {name}(" in (ROOT / file).read_text(), f"{FILE.name}: there is no {test}"


def test_ci_runs_what_is_left_to_it() -> None:
    assert set(run_elsewhere().by_ci) <= set((ROOT / ".ci" / "run").read_text().splitlines())


def test_each_part_of_a_target_that_is_run_by_its_parts_is_run() -> None:
    elsewhere = run_elsewhere()
    names = with_recipes(item.bare for page in PAGES for item in page.commands if item.bare not in elsewhere)
    parts = with_recipes(elsewhere.by_its_recipe) - set(elsewhere.by_its_recipe)
    assert [part for part in parts - names if part not in elsewhere] == []
