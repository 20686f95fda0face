"""Whom an environment may name to hear of alarms."""

from __future__ import annotations

import pytest

from fleet_folder import FleetFolder


@pytest.mark.parametrize(
    "subscriber",
    [
        "oncall@example.com",
        "first.last+pages@mail.example.org",
        "arn:aws:sqs:eu-west-1:111122223333:pages_1",
        "arn:aws-cn:sqs:cn-north-1:111122223333:pages",
        "arn:aws:lambda:us-east-1:111122223333:function:page",
        "arn:aws:lambda:us-east-1:111122223333:function:page:live",
    ],
)
def test_email_addresses_queues_and_functions_are_taken(folder: FleetFolder, subscriber: str) -> None:
    folder.environment(f"notifications: {{critical: ['{subscriber}']}}\n")
    assert folder.resolve().place.notifications == {"warning": (), "critical": (subscriber,)}


@pytest.mark.parametrize(
    ("subscriber", "said"),
    [
        ("https://events.example.com/v1/0123456789abcdef", "a URL holds its key"),
        ("http://localhost:8080", "a URL holds its key"),
        ("oncall", "write an email address"),
        ("oncall@", "write an email address"),
        ("arn:aws:s3:::bucket", "write an email address"),
        ("arn:aws:sqs:eu-west-1:111122223333:pages.fifo", "write an email address"),
        ("+491701234567", "write an email address"),
    ],
)
def test_anything_else_is_refused_at_its_line(folder: FleetFolder, subscriber: str, said: str) -> None:
    folder.environment(f"notifications:\n  critical:\n    - '{subscriber}'\n")
    (finding,) = folder.findings()
    assert (finding.code, finding.line) == ("FL112", 6)
    assert said in finding.message


def test_nobody_is_subscribed_twice(folder: FleetFolder) -> None:
    folder.environment("notifications: {warning: [a@example.com, a@example.com]}\n")
    assert ["'a@example.com' is named twice" in said for said in folder.said()] == [True]


@pytest.mark.parametrize("runbook", ["wiki", "http://wiki.example", "https://wiki.example/#a", "https://a b"])
def test_a_runbook_is_the_address_of_a_page(folder: FleetFolder, runbook: str) -> None:
    folder.environment(f'runbook: "{runbook}"\n')
    assert [each.code for each in folder.findings()] == ["FL112"]
