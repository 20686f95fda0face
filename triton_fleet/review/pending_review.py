"""The promotions to an environment that a change adds to those that wait."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from triton_fleet.changes.lock_changes import content_changes
from triton_fleet.changes.pending_promotion import PendingPromotion, PromotionState, added_promotions
from triton_fleet.changes.spec_changes import spec_changes
from triton_fleet.changes.wording import finding_line
from triton_fleet.check.pending_promotions import pending_promotions
from triton_fleet.findings import FindingsError
from triton_fleet.review.environment_side import EnvironmentSide
from triton_fleet.spec.prices import PRICES, PriceBook
from triton_fleet.store.promote.backlog import PromotionPreview, PromotionPreviews


@dataclass(frozen=True, kw_only=True)
class PendingReview:
    """The promotions that a change adds to those that wait; `notes` are why some of them are unknown."""

    promotions: tuple[PendingPromotion, ...] = ()
    notes: tuple[str, ...] = ()


def pending_review(before: EnvironmentSide, after: EnvironmentSide, today: date) -> PendingReview:
    """The endpoints of which main has something else at the head of a change than at its base.

    Among the others, those that the environment would refuse at one end alone: by its policies, by prices, or
    by the sum of a team.

    Args:
        before: An environment at the base.
        after: The same at the head.
        today: The day on which policies are checked.
    """
    name = after.project.environment.environment if after.project else ""
    try:
        head = _previews(after)
    except FindingsError as error:
        return PendingReview(notes=(f"what waits for {name} is unknown: {_problem(after, error)}",))
    if head is None or after.project is None:
        return PendingReview()
    base, notes = None, tuple[str, ...]()
    try:
        base = _previews(before)
    except FindingsError as error:
        text = f"what waited for {name} before is unknown: {_problem(before, error)}"
        notes = (f"{text}; all that waits now is shown",)
    sides = (before, base), (after, head)
    old, new = ({name: _preview(*side, name) for name in head.names} for side in sides)
    names = {name for name in head.names if _content(new[name]) != _content(old[name])}
    names |= {*head.names} - {*(base.names if base else ())}
    if not names and _decisions(before) == _decisions(after):
        return PendingReview(notes=notes)
    prices = after.project.fleet.prices
    base_promotions = _promotions(before, today, prices) if base else {}
    at_head = [
        _change_since_base(
            promotion, old[promotion.endpoint], new[promotion.endpoint], (before.root, after.root)
        )
        if promotion.state is PromotionState.NEW
        and promotion.endpoint in base_promotions
        and base_promotions[promotion.endpoint].state is PromotionState.NEW
        else promotion
        for promotion in _promotions(after, today, prices).values()
        if promotion.endpoint in names or promotion.endpoint in base_promotions
    ]
    content = {name: _content_between(old[name], new[name]) for name in names}
    return PendingReview(
        promotions=added_promotions([*base_promotions.values()], at_head, content), notes=notes
    )


def _previews(side: EnvironmentSide) -> PromotionPreviews | None:
    """None where the environment is not promoted to.

    Raises:
        FindingsError: what it is promoted from is wrong.
    """
    return PromotionPreviews(side.project) if side.project and side.project.is_promoted else None


def _problem(side: EnvironmentSide, error: FindingsError) -> str:
    return finding_line(side.relative(error.findings[0]))


def _promotions(side: EnvironmentSide, today: date, prices: PriceBook) -> dict[str, PendingPromotion]:
    """The promotions that wait at one end, with findings relative to the fleet."""
    promotions = pending_promotions(side.project, today, prices=prices) if side.project else []
    return {
        promotion.endpoint: replace(
            promotion,
            by_rules=tuple(map(side.relative, promotion.by_rules)),
            by_policies=tuple(map(side.relative, promotion.by_policies)),
            problem=promotion.problem.replace(f"{side.root}/", ""),
        )
        for promotion in promotions
    }


def _decisions(side: EnvironmentSide) -> dict[str, bytes]:
    """The files that decide about an endpoint beside its own: policies, prices, and the environment's."""
    if side.project is None:
        return {}
    name, root = side.project.environment.environment, side.root
    files = [root / PRICES, root / f"environments/{name}.yaml", *root.glob(f"locks/{name}/*")]
    files += root.glob("policies/**/*.yaml")
    return {str(file.relative_to(root)): file.read_bytes() for file in files if file.is_file()}


def _preview(
    side: EnvironmentSide, previews: PromotionPreviews | None, name: str
) -> PromotionPreview | str | None:
    """An endpoint as main has it, or why main's cannot be read."""
    try:
        return previews.preview(name) if previews else None
    except FindingsError as error:
        return _problem(side, error)


def _content(preview: PromotionPreview | str | None) -> object:
    """The part of a preview that both ends are compared by, wherever their files are."""
    return (preview.loaded_spec.spec, preview.lock) if isinstance(preview, PromotionPreview) else preview


def _change_since_base(
    promotion: PendingPromotion,
    before: PromotionPreview | str | None,
    after: PromotionPreview | str | None,
    roots: tuple[Path, Path],
) -> PendingPromotion:
    """An endpoint that the environment does not have at either end, with what differs between both ends."""
    if not (isinstance(before, PromotionPreview) and isinstance(after, PromotionPreview)):
        return promotion
    return replace(promotion, changes=tuple(spec_changes(before.loaded_spec, after.loaded_spec, roots)))


def _content_between(
    before: PromotionPreview | str | None, after: PromotionPreview | str | None
) -> tuple[str, ...] | None:
    """The content that differs between both ends, in words; None where a lock is unknown."""
    locks = [
        preview.lock for preview in (before, after) if isinstance(preview, PromotionPreview) and preview.lock
    ]
    return tuple(content_changes(locks[0], locks[1])) if len(locks) == 2 else None
