"""The security fixes that an endpoint's Triton lacks, and the remedies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triton_fleet.catalog.amis import releases_on
from triton_fleet.catalog.security_fixes import SecurityFix, missing_fixes
from triton_fleet.context.context import EndpointContext
from triton_fleet.core.formats import count_of
from triton_fleet.spec.environment import LOCAL

MAX_FIXES = 4
"""So many fixes are named in a message."""


def fix_names(fixes: Sequence[SecurityFix]) -> str:
    """The ids of the first fixes with their severity and release: `load-race (high, 26.01) and 2 more`."""
    names = [f"{fix.id} ({fix.severity}, {fix.release_text})" for fix in fixes[:MAX_FIXES]]
    more = f" and {len(fixes) - MAX_FIXES} more" if len(fixes) > MAX_FIXES else ""
    return ", ".join(names) + more


def fix_ids(fixes: Sequence[SecurityFix]) -> str:
    """The ids of all of some fixes."""
    return ", ".join(fix.id for fix in fixes)


@dataclass(frozen=True, kw_only=True)
class SecurityGap:
    """The fixes that one endpoint's release of Triton lacks.

    Attributes:
        release: The release in the container.
        missing_fixes: The fixes that it lacks for the endpoint's mode and flags, the worst first.
        place: The instance types and the region, as a message has them.
        candidates: SageMaker's releases that run there, the oldest first.
        mode: The endpoint's.
        flags: Flags of tritonserver that the spec gives.
    """

    release: str
    missing_fixes: tuple[SecurityFix, ...]
    place: str
    candidates: tuple[str, ...]
    mode: str
    flags: frozenset[str]

    def remedy(self, fixes: Sequence[SecurityFix]) -> str:
        """The remedy for some of the missing fixes: a release, an own image, else a measure without them."""
        ids = {fix.id for fix in fixes}
        packages = {
            name: [fix for fix in missing_fixes(name, self.mode, self.flags) if fix.id in ids]
            for name in self.candidates
        }
        best = min(packages, key=lambda name: len(packages[name]), default=None)
        rest, ways = list(fixes), list[str]()
        if best is not None and len(packages[best]) < len(fixes):
            rest = packages[best]
            part = "all of these fixes" if not rest else f"all of them except {fix_ids(rest)}"
            ways.append(f'write `triton: "{best}"`, the first release with {part} for {self.place}')
        if rest:
            pulls = count_of(sum(len(entry.pulls) for entry in rest), "pull request").partition(" ")[2]
            numbers = ", ".join(str(pull) for entry in rest for pull in entry.pulls)
            instead = " and ".join(dict.fromkeys(entry.instead for entry in rest))
            ways.append(
                f"no image of SageMaker for {self.place} has {fix_ids(rest)}: by `image`, build one with"
                f" Triton's {pulls} {numbers}, or {instead}"
            )
        return "; ".join(ways)


def security_gap(endpoint: EndpointContext) -> SecurityGap | None:
    """The fixes that the release of an endpoint lacks; None if unknown, or not called on SageMaker."""
    image, machine = endpoint.image, endpoint.machine
    if image is None or machine is None or endpoint.environment.environment == LOCAL:
        return None
    own, image_lock = endpoint.spec.own_image, endpoint.lock.image if endpoint.lock else None
    if (
        own is not None
        and own.uri is not None
        and not (image_lock and image_lock.facts and image_lock.facts.triton)
    ):
        return None
    mode, arguments = endpoint.spec.mode.value, endpoint.spec.container.additional_args
    flags = frozenset(argument.partition("=")[0] for argument in arguments)
    return SecurityGap(
        release=image.release,
        missing_fixes=missing_fixes(image.release, mode, flags),
        place=f"{machine.type} in {endpoint.region}",
        candidates=releases_on(machine, endpoint.region),
        mode=mode,
        flags=flags,
    )
