"""What a change adds to what waits for a promotion to an environment."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

from fleet.artifacts.promote.backlog import PromotionPreview, PromotionPreviews
from fleet.check.pending_promotions import pending_promotions
from fleet.findings import FindingsError
from fleet.report.lock_changes import content_changes
from fleet.report.pending_promotion import PendingPromotion, PromotionState, added_promotions
from fleet.report.spec_changes import spec_changes
from fleet.review.environment_side import EnvironmentSide


def pending_review(
    before: EnvironmentSide, after: EnvironmentSide, today: date
) -> tuple[PendingPromotion, ...]:
    """The endpoints of which main has something else at the head of a change than at its base.

    Args:
        before: An environment at the base.
        after: The same at the head.
        today: The day on which policies are checked.
    """
    head, base = _previews(after), _previews(before)
    if head is None or after.project is None:
        return ()
    new, old = ({name: _preview(each, name) for name in head.names} for each in (head, base))
    names = [name for name in head.names if _content(new[name]) != _content(old[name])]
    waiting = [each for name in names if base and name in base.names and (each := base.pending(name))]
    states = {each.endpoint: each.state for each in waiting}
    coming = [
        _beside_base(each, old[each.endpoint], new[each.endpoint], (before.root, after.root))
        if each.state is states.get(each.endpoint) is PromotionState.NEW
        else each
        for each in pending_promotions(after.project, today, names)
    ]
    return tuple(
        replace(
            each,
            by_rules=tuple(map(after.relative, each.by_rules)),
            by_policies=tuple(map(after.relative, each.by_policies)),
        )
        for each in added_promotions(waiting, coming)
    )


def _previews(side: EnvironmentSide) -> PromotionPreviews | None:
    """None where the environment is not promoted to, or what it is promoted from is a finding."""
    try:
        return PromotionPreviews(side.project) if side.project and side.project.is_promoted else None
    except FindingsError:
        return None


def _preview(previews: PromotionPreviews | None, name: str) -> PromotionPreview | str | None:
    """An endpoint as main has it, or why main's cannot be read."""
    try:
        return previews.preview(name) if previews else None
    except FindingsError as error:
        return error.findings[0].message


def _content(preview: PromotionPreview | str | None) -> object:
    """What two previews of the same endpoint are compared by, wherever their files are."""
    return (preview.loaded.spec, preview.lock) if isinstance(preview, PromotionPreview) else preview


def _beside_base(
    found: PendingPromotion,
    before: PromotionPreview | str | None,
    after: PromotionPreview | str | None,
    roots: tuple[Path, Path],
) -> PendingPromotion:
    """An endpoint that the environment does not have at either end, with what differs between both ends."""
    if not (isinstance(before, PromotionPreview) and isinstance(after, PromotionPreview)):
        return found
    locks = before.lock, after.lock
    content = content_changes(locks[0], locks[1]) if locks[0] and locks[1] else ()
    changes = spec_changes(before.loaded, after.loaded, roots)
    return replace(found, changes=tuple(changes), content=tuple(content))
