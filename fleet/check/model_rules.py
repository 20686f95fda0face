"""Rules about an image and an instance, applied to models that no spec names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from fleet.catalog.images import image_regions, regions_of, releases
from fleet.check.target import RepositoryTarget
from fleet.endpoint.context.context import EndpointContext
from fleet.findings import Finding
from fleet.rules.registry import rules
from fleet.spec.endpoint import EndpointSpec
from fleet.spec.environment import Environment
from fleet.spec.lock import NO_DIGEST, Lock, LockedArchive, LockedModel
from fleet.spec.problems import validate
from fleet.spec.project import LoadedSpec
from fleet.spec.source import Mark, Source

MarkOf: TypeAlias = Callable[[str, Sequence[str]], Mark]

NAME = "repository"
OF_EACH = {
    "FL252": ("instance_group",),
    "FL253": ("instance_group",),
    "FL254": ("backend", "platform"),
    "FL256": (),
    "FL257": ("cc_model_filenames",),
    "FL260": ("input",),
    "FL261": ("instance_group",),
    "FL476": ("backend",),
}
"""The rules that look at one model, at the image and at the instance, with the fields that they are about."""
OF_ALL = ("FL249", "FL250", "FL251", "FL262")
"""Those that look at all models together."""
OF_THE_IMAGE = {"FL249", "FL254", "FL256"}
"""Those of them that nothing is known for without a release."""
OF_ANY_IMAGE = "FL476"
"""The one that needs neither a release nor an instance."""
ANY_INSTANCE = "ml.none.any"
"""A type that no rule knows anything of."""


def fact_findings(
    models: Mapping[str, LockedModel], place: Path, mark_of: MarkOf, asked: RepositoryTarget
) -> Iterator[Finding]:
    """The findings about models by their facts; without image and instance, about what no image can load.

    Args:
        models: The facts of those that are loaded, by directory.
        place: The repository.
        mark_of: The place of the first of some fields that a model has.
        asked: The image and the instance.
    """
    is_open = asked.release is None and asked.instance is None
    if not is_open:
        yield from _findings(models, Mark(place, 1, 1), asked, OF_ALL)
    for name, facts in models.items():
        for code, fields in OF_EACH.items():
            if not is_open or code == OF_ANY_IMAGE:
                yield from _findings({name: facts}, mark_of(name, fields), asked, (code,))


def _findings(
    models: Mapping[str, LockedModel], mark: Mark, asked: RepositoryTarget, codes: tuple[str, ...]
) -> Iterator[Finding]:
    release = asked.release or releases()[-1]
    source = Source(
        mark.file,
        {
            "endpoint": NAME,
            "mode": asked.mode.value,
            "triton": release,
            "instance": {"type": asked.instance or ANY_INSTANCE},
            "models": [{"archive": NAME, "repository": "."}],
        },
        {("models",): mark, ("instance",): mark},
    )
    region = regions_of(release)[0] if release in releases() else image_regions()[0]
    decided = EndpointContext(
        loaded=LoadedSpec(validate(EndpointSpec, source), source),
        environment=Environment(environment="none", account="0" * 12, region=region),
        lock=Lock(
            endpoint=NAME,
            archives={NAME: LockedArchive(digest=NO_DIGEST, size=0, models=dict(models))},
        ),
    )
    for code in codes:
        if asked.release is not None or code not in OF_THE_IMAGE:
            yield from rules()[code].findings(decided, deploying=True)
