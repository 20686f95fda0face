"""Texts that CloudFormation or the CDK would replace are refused in every file, at their line."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import LOCK, FleetFolder

REFERENCE = "{{resolve:secretsmanager:prod/db:SecretString:password}}"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"environment: {{A: '{REFERENCE}'}}\n", 6),
        (f'environment:\n  A: "\\x7b{REFERENCE[1:]}"\n', 7),
        (f"environment:\n  A: >-\n    {REFERENCE}\n", 7),
        (f"container: {{additional_args: ['--x={REFERENCE}']}}\n", 6),
        (f"tags: {{'{REFERENCE}': a}}\n", 6),
        (f"cloudformation: {{EndpointConfig: {{KmsKeyId: 'a{REFERENCE}'}}}}\n", 6),
        (f"samples:\n  - name: '{REFERENCE}'\n", 7),
        ("environment: {A: 'x ${Token[TOKEN.37]}'}\n", 6),
        ("tags: {a: '#{Token[TOKEN.37]}'}\n", 6),
        ("cloudformation: {Model: {A: -1.8881545897087626e+289}}\n", 6),
        ("environment: {_children: x}\n", 6),
        ("environment:\n  A: b\n  __proto__: x\n", 8),
    ],
)
def test_one_in_a_spec_is_refused_at_its_line(folder: FleetFolder, text: str, line: int) -> None:
    folder.spec(text)
    assert [item.partition(" ")[0] for item in folder.finding_lines() if " FL519 " in item] == [
        f"sentences.yaml:{line}"
    ]


def test_one_in_a_profile_or_a_lock_is_refused(folder: FleetFolder) -> None:
    folder.write("profiles/base.yaml", f"environment: {{A: '{REFERENCE}'}}\n")
    folder.spec("profile: base\n")
    assert [line for line in folder.finding_lines() if line.startswith("base.yaml:1 FL519 ")]
    folder.spec("")
    folder.write("locks/dev/sentences.lock.yaml", f"{LOCK}promoted_from: '{REFERENCE}'\n")
    assert [
        line
        for line in folder.finding_lines()
        if line.startswith("sentences.lock.yaml:") and " FL519 " in line
    ]


def test_braces_that_nothing_replaces_are_text(folder: FleetFolder) -> None:
    folder.spec("environment: {A: '{{name}} ${HOME} #{x} {resolve:a}', B: '1e300'}\n")
    assert [line for line in folder.finding_lines() if " FL519 " in line] == []
