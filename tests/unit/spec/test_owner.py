"""How an owner is reached, and what no contact can be."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.layered_spec import spec


@pytest.mark.parametrize(
    "contact", ["search@example.com", "@example/search", "@jane", "https://chat.example.com/search"]
)
def test_an_owner_is_reached_by_email_handle_or_page(folder: FleetFolder, contact: str) -> None:
    folder.spec(f"owner: {{team: search, contact: '{contact}'}}\n")
    owner = spec(folder).owner
    assert owner is not None
    assert owner.reviewer == (None if contact.startswith("https") else contact)


@pytest.mark.parametrize(
    "address",
    [
        "https://hooks.example.com/services/T0/B0/S3CRET",
        "https://team.webhook.example.com/S3CRET",
        "https://chat.example.com/api/webhooks/1/S3CRET",
        "https://chat.googleapis.com/v1/spaces/S3CRET",
    ],
)
@pytest.mark.parametrize("form", ["{{team: search, contact: '{}'}}", "'{}'", "{{team: '{}'}}"])
def test_a_contact_that_holds_a_key_is_refused_and_not_shown(
    folder: FleetFolder, address: str, form: str
) -> None:
    folder.spec(f"owner: {form.format(address)}\n")
    (finding,) = folder.findings()
    assert finding.confidential
    assert "S3CRET" not in f"{finding.message} {finding.hint}"
    if "contact" in form:
        assert finding.message == (
            f'`owner.contact` is "https://{address.split("/")[2]}/…": a webhook\'s URL contains its key, which does not'
            " belong in a file"
        )


@pytest.mark.parametrize(
    "address",
    [
        "https://chat.example.com/search",
        "https://wiki.example.com/teams/search-and-ranking-on-call-2026",
        "https://wiki.example.com/pages/12345678901234567890",
        "https://wiki.example.com/docs/webhooks.html",
        "https://notes.example.com/Search-0123abcd4567ef890123abcd4567ef89",
    ],
)
def test_a_page_without_a_key_is_a_contact(folder: FleetFolder, address: str) -> None:
    folder.spec(f"owner: {{team: search, contact: '{address}'}}\n")
    assert folder.finding_lines() == []


@pytest.mark.parametrize(
    "contact", ["search", "https://hooks.example.com/x?key=1", "a b@c.de", "@a/b/c", "http://a.b/c"]
)
def test_an_owner_that_nobody_reaches_is_a_mistake(folder: FleetFolder, contact: str) -> None:
    folder.spec(f"owner: {{team: search, contact: '{contact}'}}\n")
    assert "sentences.yaml:6 FL112 `owner.contact`" in folder.finding_lines()[0]
