"""Whether the credentials are of the environment's account."""

from __future__ import annotations

from fleet.aws.preflight.check_result import Seen
from fleet.aws.preflight.subject import Subject
from fleet.findings import FindingsError
from fleet.spec.source import moved_to


def account(subject: Subject) -> Seen:
    """Whose the credentials are.

    Raises:
        CannotRunError: there are none, or AWS does not answer; then nothing else can be asked.
    """
    place, what = subject.place, "account"
    try:
        caller = subject.access.check_account()
    except FindingsError as error:
        mark = subject.project.environment_source.mark(("account",))
        findings = [moved_to(mark, each) for each in error.findings]
        text = f"not {place.account}, so nothing else is looked at"
        return Seen(what=what, text=text, findings=tuple(findings))
    return Seen(what=what, text=f"{place.account}, {place.region}, as {caller}")
