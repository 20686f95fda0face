"""Rules about security fixes of Triton's SageMaker front end."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.context.context import EndpointContext
from triton_fleet.context.security_fixes import fix_names, security_gap
from triton_fleet.findings import Severity
from triton_fleet.rules.rule import Problem, rule

BULLETINS = "https://github.com/NVIDIA/product-security"


@rule("FL520", Severity.WARNING, source=BULLETINS)
def missing_security_fix(endpoint: EndpointContext) -> Iterator[Problem]:
    """The release of Triton has the security fixes of its SageMaker front end that the mode needs.

    AWS builds images of few releases, and does not publish what it patches in them. The fixes, with the first
    release of each and what their absence allows, are in `triton_fleet/catalog/data/security_fixes.yaml`;
    images.md lists them too. A policy requires them by `require: {security_fixes: {severity: high}}`.
    """
    gap = security_gap(endpoint)
    if gap is not None and gap.missing:
        message = (
            f"Triton {gap.release} lacks security fixes for `mode: {gap.mode}`: {fix_names(gap.missing)}"
        )
        hint = f'{gap.remedy(gap.missing)}; or write `allow: {{missing-security-fix: "…"}}` with the reason'
        yield Problem(("triton",), message, hint)
