"""Rules about an image and an instance, applied to models that no spec names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from fleet.artifacts.asked import Asked
from fleet.artifacts.draft import NO_DIGEST
from fleet.catalog.images import image_regions, regions_of, releases
from fleet.decide.decided import Decided
from fleet.findings import Finding
from fleet.rules.registry import rules
from fleet.spec.endpoint import EndpointSpec, Mode
from fleet.spec.environment import Environment
from fleet.spec.lock import Lock, LockedArchive, LockedModel
from fleet.spec.problems import validated
from fleet.spec.project import LoadedSpec
from fleet.spec.source import Mark, Source

NAME = "repository"
OF_EACH = ("FL252", "FL253", "FL254", "FL256", "FL257", "FL260", "FL261")
OF_ALL = ("FL249", "FL250", "FL251", "FL262")
"""The rules that look at models, at the image and at the instance, and at nothing else of a spec."""
OF_THE_IMAGE = {"FL249", "FL254", "FL256"}
"""Those of them that nothing is known for without a release."""
ANY_INSTANCE = "ml.none.any"
"""A type that no rule knows anything of."""


def fact_findings(
    models: Mapping[str, LockedModel], place: Path, place_of: Callable[[str], Path], asked: Asked
) -> Iterator[Finding]:
    """What the rules find of models by their facts; nothing if neither image nor instance is named.

    Args:
        models: The facts of those that are loaded, by directory.
        place: The repository.
        place_of: Where a model is told about.
        asked: The image and the instance.
    """
    if asked.release is None and asked.instance is None:
        return
    yield from _findings(models, place, asked, OF_ALL)
    for name, facts in models.items():
        yield from _findings({name: facts}, place_of(name), asked, OF_EACH)


def _findings(
    models: Mapping[str, LockedModel], place: Path, asked: Asked, codes: tuple[str, ...]
) -> Iterator[Finding]:
    release = asked.release or releases()[-1]
    source = Source(
        place,
        {
            "endpoint": NAME,
            "mode": (Mode.MULTI_MODEL if asked.multi_model else Mode.SINGLE).value,
            "triton": release,
            "instance": {"type": asked.instance or ANY_INSTANCE},
            "models": [{"archive": NAME, "repository": "."}],
        },
        {("models",): Mark(place, 1, 1)},
    )
    region = regions_of(release)[0] if release in releases() else image_regions()[0]
    decided = Decided(
        loaded=LoadedSpec(validated(EndpointSpec, source), source),
        environment=Environment(environment="none", account="0" * 12, region=region),
        lock=Lock(
            endpoint=NAME,
            archives={NAME: LockedArchive(digest=NO_DIGEST, size=0, models=dict(models))},
        ),
    )
    for code in codes:
        if asked.release is not None or code not in OF_THE_IMAGE:
            yield from rules()[code].findings(decided, deploying=True)
