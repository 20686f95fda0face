"""Both commits of a change read, checked and synthesised by this version; only endpoints that differ."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from triton_fleet.changes.endpoint_change import EndpointChange, Revision, endpoint_change
from triton_fleet.changes.environment_change import EnvironmentChange, with_renames
from triton_fleet.changes.fleet_change import FleetChange
from triton_fleet.changes.money_change import price_changes
from triton_fleet.changes.permission_changes import permission_changes
from triton_fleet.changes.templates import Template, compare
from triton_fleet.changes.update_effect import UpdateEffect
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.findings import Finding
from triton_fleet.git.files import changed_files
from triton_fleet.product.synthesis import OWN_PYTHON, installation, settings
from triton_fleet.project.fleet_files import SYNTHESIS_INPUTS
from triton_fleet.project.project import Fleet
from triton_fleet.review.base_tree import SizesByEndpoint, base_tree, file_sizes
from triton_fleet.review.environment_side import EnvironmentSide, base_side, head_side
from triton_fleet.review.executed_files import executed_files
from triton_fleet.review.pending_review import pending_review
from triton_fleet.review.product_review import pinned_requirements, product_change
from triton_fleet.spec.environment import LOCAL, Environment
from triton_fleet.spec.prices import PriceBook

PROCESSES = 2
"""Syntheses at one time: each takes some 300 MB."""


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """An environment in both commits; `changed_endpoints` are the endpoints whose files are not the same."""

    name: str
    before: EnvironmentSide
    after: EnvironmentSide
    endpoints: tuple[str, ...]
    old: Mapping[str, Revision]
    new: Mapping[str, Revision]

    @property
    def changed_endpoints(self) -> tuple[str, ...]:
        alike = self.has_same_settings
        return tuple(
            name
            for name in self.endpoints
            if not (alike and _is_same(self.old.get(name), self.new.get(name)))
        )

    @property
    def comparable(self) -> tuple[str, ...]:
        """Those of them that neither commit has with a mistake: no other template is compared."""
        return tuple(
            name
            for name in self.changed_endpoints
            if not any(side[name].problem for side in (self.old, self.new) if name in side)
        )

    @property
    def has_same_settings(self) -> bool:
        return self.before.settings == self.after.settings

    @property
    def sides(self) -> tuple[tuple[EnvironmentSide, Mapping[str, Revision]], ...]:
        return ((self.before, self.old), (self.after, self.new))


def fleet_review(
    root: Path, reference: str, environments: Sequence[str], today: date, *, installs: bool = False
) -> FleetChange:
    """The changes that files of a fleet make in its environments since HEAD left a reference.

    Args:
        root: The fleet.
        reference: A branch, a tag or a commit.
        environments: Names; none for all except `local`, of both commits.
        today: The day on which policies are checked.
        installs: Whether the version of the product that the base pins may be installed, to compare it.

    Raises:
        FindingsError: an environment's file is wrong, or neither commit has it.
        CannotRunError: Git or the CDK app failed.
    """
    root = Path(os.path.realpath(root))
    with base_tree(root, reference) as base:
        head, fork = Fleet(root), Fleet(base.root)
        names = {*head.environments, *fork.environments} - {LOCAL}
        changed_paths = [
            changed_file.relative_to(root)
            for changed_file in changed_files(root, reference)
            if changed_file.is_relative_to(root)
        ]
        files = [path for path in changed_paths if path.parts[0] in SYNTHESIS_INPUTS]
        pairs = [_pair(name, fork, head, files) for name in dict.fromkeys(environments or sorted(names))]
        templates = _templates(pairs)
        sizes = [file_sizes(base, pair.old, pair.new, pair.changed_endpoints) for pair in pairs]
        prices = head.prices
        changes = tuple(
            _environment(pair, template_pair, size_pair, today, (fork.prices, prices))
            for pair, template_pair, size_pair in zip(pairs, templates, sizes, strict=True)
        )
        product = product_change(
            base, root, changed_paths, [pair.before for pair in pairs], installs=installs
        )
        return FleetChange(
            reference=reference,
            commit=base.commit,
            environments=changes,
            executed_files=executed_files(root, base.tree, base.commit, base.root),
            product=product,
            notes=(*_fleet_notes(base.root, root, is_compared=product is not None),),
            prices=prices,
        )


def _pair(name: str, base: Fleet, head: Fleet, files: Sequence[Path]) -> _Pair:
    before = base_side(base, name)
    after = head_side(head, name, before)
    endpoints = tuple(dict.fromkeys([*before.endpoints_of(files), *after.endpoints_of(files)]))
    environment = next(side.project.environment for side in (after, before) if side.project)
    old, new = (side.revisions(endpoints, environment) for side in (before, after))
    return _Pair(name=name, before=before, after=after, endpoints=endpoints, old=old, new=new)


def _is_same(before: Revision | None, after: Revision | None) -> bool:
    if not (before and after) or before.spec is None or after.spec is None:
        return False
    return (before.spec, before.lock, before.problem) == (after.spec, after.lock, after.problem)


Templates = Mapping[str, Template]


def _templates(pairs: Sequence[_Pair]) -> list[tuple[Templates, Templates]]:
    """The templates of the endpoints that differ, before and after, for each pair."""
    jobs = list[tuple[int, int, EnvironmentSide, list[str]]]()
    for number, pair in enumerate(pairs):
        for side, (place, revisions) in enumerate(pair.sides):
            names = [name for name in pair.comparable if name in revisions]
            if place.project and (names or not pair.has_same_settings):
                jobs.append((number, side, place, names))
    if not jobs:
        return [({}, {}) for _ in pairs]
    python, results = (
        installation(OWN_PYTHON),
        [(dict[str, Template](), dict[str, Template]()) for _ in pairs],
    )

    def synthesise(job: tuple[int, int, EnvironmentSide, list[str]]) -> None:
        number, side, place, names = job
        results[number][side].update(place.templates(python, names))

    all_in_parallel(jobs, synthesise, threads=PROCESSES)
    return list(results)


def _environment(
    pair: _Pair,
    templates: tuple[Templates, Templates],
    sizes: tuple[SizesByEndpoint, SizesByEndpoint],
    today: date,
    prices: tuple[PriceBook, PriceBook],
) -> EnvironmentChange:
    before, after = templates
    old, new = (
        {name: _with(side, side_templates, side_sizes, name) for name in pair.changed_endpoints}
        for side, side_templates, side_sizes in zip((pair.old, pair.new), templates, sizes, strict=True)
    )
    sides = ((name, old[name], new[name]) for name in pair.changed_endpoints)
    changes = with_renames(
        [change for side in sides if not _is_void(change := endpoint_change(*side, prices[1]))],
        *(
            {name: revision.lock for name, revision in side.items() if revision.lock}
            for side in (pair.old, pair.new)
        ),
    )
    earlier, later = before.get("", {}), after.get("", {})
    shared_changes = tuple(compare(earlier, later)) if earlier and later else ()
    project = pair.after.project or pair.before.project
    new_findings, fixed_findings = _findings(pair, today)
    review = pending_review(pair.before, pair.after, today)
    return EnvironmentChange(
        name=pair.name,
        region=project.environment.region if project else "",
        endpoints=tuple(changes),
        foundation=shared_changes,
        permissions=permission_changes(earlier, later) if earlier and later else (),
        new=new_findings,
        fixes=fixed_findings,
        promotions=review.promotions,
        price_note=price_changes(*prices),
        notes=(*_notes(pair), *review.notes),
        currency=prices[1].currency,
    )


def _with(
    revisions: Mapping[str, Revision], templates: Templates, sizes: SizesByEndpoint, name: str
) -> Revision | None:
    revision = revisions.get(name)
    return (
        replace(revision, template=templates.get(name, {}), sizes=sizes.get(name, {})) if revision else None
    )


def _is_void(change: EndpointChange) -> bool:
    """Whether nothing is left of a change of files, such as that of a comment."""
    words = (*change.changes, *change.content, *change.warnings)
    return change.effect is UpdateEffect.NOTHING and not words


def _findings(pair: _Pair, today: date) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    if not pair.endpoints:
        return (), ()
    old, new = (
        {
            (finding.code, finding.severity, finding.file, finding.message): finding
            for finding in side.findings(pair.endpoints, today)
        }
        for side in (pair.before, pair.after)
    )
    new_findings, fixed_findings = (
        [mine[key] for key in mine if key not in others_findings]
        for mine, others_findings in ((new, old), (old, new))
    )
    return tuple(new_findings), tuple(fixed_findings)


def _fleet_notes(before: Path, after: Path, *, is_compared: bool) -> Iterator[str]:
    """Notes about parts that the comparison leaves out."""
    old, new = settings(before), settings(after)
    if old != new:
        keys = ", ".join(sorted(key for key in {**old, **new} if old.get(key) != new.get(key)))
        yield f"cdk.json differs ({keys}): templates of endpoints that are not listed may change, too"
    if not is_compared and (old_pin := pinned_requirements(before)) != (
        new_pin := pinned_requirements(after)
    ):
        yield (
            f"requirements.txt: {old_pin or 'none'} → {new_pin or 'none'}: one version synthesises both"
            " sides; `fleet report --with-upgrade` shows what the other one changes by itself"
        )


def _notes(pair: _Pair) -> tuple[str, ...]:
    if pair.before.problem:
        return (f"{pair.name} cannot be compared: {pair.before.problem}",)
    if pair.before.project is None:
        return (
            f"{pair.name} is a new environment: its account has to be bootstrapped before the first deploy",
        )
    if pair.after.project is None:
        return (
            f"the file of {pair.name} is deleted: its stacks stay; `fleet destroy` at the base removes them",
        )
    if pair.before.project.environment.account != pair.after.project.environment.account:
        return (
            f"{pair.name} moves to another account: everything is created there, and the endpoints"
            " of the old account keep running",
        )
    return protection_note(pair.name, pair.before.project.environment, pair.after.project.environment)


def protection_note(name: str, before: Environment, after: Environment) -> tuple[str, ...]:
    """A note of a changed `termination_protection`, which no template has."""
    if before.termination_protection == after.termination_protection:
        return ()
    if after.termination_protection:
        return (f"the next deploy of {name} protects its endpoints' stacks against deletion",)
    return (
        f"the next deploy of {name} lets its endpoints' stacks be deleted: termination protection is off",
    )
