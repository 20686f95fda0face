"""The security fixes of Triton that a statement requires."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.security_fixes import SecurityFix
from triton_fleet.context.security_fixes import fix_names, security_gap
from triton_fleet.rules.about.raw_policy import IMAGES
from triton_fleet.rules.policies.breach import Breach
from triton_fleet.rules.policies.limits import undecided
from triton_fleet.rules.policies.scope import listed
from triton_fleet.rules.policies.subject import Subject
from triton_fleet.spec.policy import SecurityFixes, Statement

KEY = "require.security_fixes"


def security_breaches(statement: Statement, subject: Subject) -> Iterator[Breach]:
    """The fixes that a statement requires and the release of an endpoint lacks."""
    required = statement.require.security_fixes if statement.require else None
    if required is None:
        return
    rule = f"requires {_rule_text(required)}"
    for raw in subject.raw_properties("Model", *IMAGES):
        found = f"the raw property {raw.name} replaces the image of `triton`"
        yield Breach(key=KEY, code="FL996", path=raw.path, found=found, rule=rule, remedy="leave it out")
    image = subject.loaded.spec.own_image
    if image is not None and image.uri is not None and subject.image_release is None:
        remedy = f"run {subject.lock_command} with credentials that may pull it"
        yield undecided(KEY, ("image", "uri"), "the Triton release in the image is unknown", rule, remedy)
        return
    gap = security_gap(subject.locked_context)
    missing = [each for each in gap.missing if _is_required(each, required)] if gap else []
    if gap is not None and missing:
        yield Breach(
            key=KEY,
            code="FL996",
            path=("triton",),
            found=f"Triton {gap.release} lacks {fix_names(missing)}",
            rule=rule,
            remedy=gap.remedy(missing),
        )


def _is_required(fix: SecurityFix, required: SecurityFixes) -> bool:
    by_severity = required.severity is not None and fix.severity.rank >= required.severity.rank
    return by_severity or fix.id in required.fixes


def _rule_text(required: SecurityFixes) -> str:
    severity = required.severity
    parts = [] if severity is None else [f"security fixes of severity {severity} or worse"]
    parts += [f"the fix {fix}" for fix in required.fixes]
    return listed(parts)
