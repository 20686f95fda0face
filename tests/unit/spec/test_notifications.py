"""Whom an environment may name to hear of alarms."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import FleetFolder
from triton_fleet.printers.formats import Format, print_findings


@pytest.mark.parametrize(
    "subscriber",
    [
        "oncall@example.com",
        "first.last+pages@mail.example.org",
        "arn:aws:sqs:us-east-1:111122223333:pages_1",
        "arn:aws:lambda:us-east-1:111122223333:function:page",
        "arn:aws:lambda:us-east-1:111122223333:function:page:live",
    ],
)
def test_email_addresses_queues_and_functions_are_taken(folder: FleetFolder, subscriber: str) -> None:
    folder.environment(f"notifications: {{critical: ['{subscriber}']}}\n")
    assert folder.resolve().deployment.notifications == {"warning": (), "critical": (subscriber,)}


@pytest.mark.parametrize(
    ("subscriber", "message"),
    [
        ("https://events.example.com/v1/0123456789abcdef", "a URL contains its key"),
        ("http://localhost:8080", "a URL contains its key"),
        ("oncall", "write an email address"),
        ("oncall@", "write an email address"),
        ("arn:aws:s3:::bucket", "write an email address"),
        ("arn:aws:lambda:us-east-1:111122223333:page", "write an email address"),
        ("arn:aws:sqs:us-east-1:111122223333:function:page", "write an email address"),
        (
            "arn:aws:sqs:eu-west-1:111122223333:pages",
            "it is in region eu-west-1, and the environment of us-east-1",
        ),
        ("arn:aws:sqs:us-east-1:444455556666:pages", "it is in account 444455556666, and the environment of"),
        (
            "arn:aws-cn:sqs:cn-north-1:111122223333:pages",
            "it is in the partition aws-cn, and us-east-1 is of aws",
        ),
        ("arn:aws:sqs:eu-west-1:111122223333:pages.fifo", "write an email address"),
        ("+491701234567", "write an email address"),
    ],
)
def test_anything_else_is_refused_at_its_line(folder: FleetFolder, subscriber: str, message: str) -> None:
    folder.environment(f"notifications:\n  critical:\n    - '{subscriber}'\n")
    (finding,) = folder.findings()
    assert (finding.code, finding.line) == ("FL112", 6)
    assert message in finding.message


def test_nobody_is_subscribed_twice(folder: FleetFolder) -> None:
    folder.environment("notifications: {warning: [a@example.com, a@example.com]}\n")
    assert ["'a@example.com' is listed twice" in line for line in folder.finding_lines()] == [True]


def test_what_is_not_of_the_account_is_subscribed_by_hand(folder: FleetFolder) -> None:
    folder.environment("notifications: {warning: ['arn:aws:sqs:us-east-1:444455556666:pages']}\n")
    (line,) = folder.finding_lines()
    assert (
        '`notifications.warning[0]` is "arn:aws:sqs:us-east-1:444455556666:pages": it is in account' in line
    )
    assert "| subscribe it by hand, and let its owner confirm" in line


@pytest.mark.parametrize(
    "written_text",
    [
        "{critical: ['https://hooks.example.com/T0/S3CRET']}",
        "{critical: ['https://user:S3CRET@hooks.example.com/T0/x']}",
        "{critical: ['hooks.example.com/T0/S3CRET']}",
        "{critical: 'https://hooks.example.com/T0/S3CRET'}",
        "'https://hooks.example.com/T0/S3CRET'",
        "{slack: 'https://hooks.example.com/T0/S3CRET'}",
        "{critical: [{url: 'https://hooks.example.com/T0/S3CRET'}]}",
        "{critical: [oncall, 'https://hooks.example.com/T0/S3CRET']}",
    ],
)
@pytest.mark.parametrize("form", list(Format))
def test_the_key_in_a_url_is_shown_nowhere(
    folder: FleetFolder, written_text: str, form: Format, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.environment(f"notifications: {written_text}\n")
    findings = folder.findings()
    print_findings(findings, form, folder.root)
    output = capsys.readouterr()
    assert findings[0].code in output.out + output.err
    assert "S3CRET" not in output.out + output.err


def test_a_refused_url_is_told_by_its_host_with_what_to_do_about_its_key(folder: FleetFolder) -> None:
    folder.environment("notifications: {critical: ['https://hooks.example.com/T0/S3CRET']}\n")
    (line,) = folder.finding_lines()
    assert '`notifications.critical[0]` is "https://hooks.example.com/…": a URL contains its key' in line
    assert "if it was committed, replace its key" in line


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            "dashboards: off",
            '`dashboards` is "off": it must be true or false | write `false`, without quotes',
        ),
        ("scaling: {min: 1}", "unknown key `scaling` | it is a key of a spec: write it under `defaults:`"),
        ("alarm: {}", "unknown key `alarm` | known: "),
    ],
)
def test_mistakes_at_the_top_of_an_environment_say_what_is_meant(
    folder: FleetFolder, keys: str, message: str
) -> None:
    folder.environment(f"{keys}\n")
    assert [message in line for line in folder.finding_lines()] == [True]


def test_a_key_of_the_environment_is_none_of_its_defaults(folder: FleetFolder) -> None:
    folder.environment("defaults: {kms_key: a}\n")
    (line,) = folder.finding_lines()
    assert "dev.yaml:4 FL110 unknown key `kms_key` | it is a key of environments/ENV.yaml, at the top" in line


@pytest.mark.parametrize("runbook", ["wiki", "http://wiki.example", "https://wiki.example/#a", "https://a b"])
def test_a_runbook_is_the_address_of_a_page(folder: FleetFolder, runbook: str) -> None:
    folder.environment(f'runbook: "{runbook}"\n')
    assert [finding.code for finding in folder.findings()] == ["FL112"]
    assert "write an address that begins with https://" in folder.finding_lines()[0]
