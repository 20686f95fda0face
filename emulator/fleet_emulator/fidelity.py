"""docs/fidelity.md: what the embedded AWS reproduces of AWS, and where it differs on purpose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal, get_args

import yaml

DATA = "fidelity.yaml"
PAGE = "docs/fidelity.md"
INTRO = """\
<!-- Made by `fleet schema` from emulator/fleet_emulator/fidelity.yaml: change it there. -->

# What the embedded AWS reproduces

`fleet local up` and the tests deploy to an AWS in one process. This page lists the behaviours of AWS that it
reproduces, and those in which it differs on purpose, as of {date}. What no public source settles is in
[unverified.md](unverified.md). How the embedded AWS works is in [emulator/README.md](../emulator/README.md).

An entry without a mark behaves as on AWS. The marks are:

- **Stricter**: it refuses something that AWS accepts.
- **Kinder**: it accepts something that AWS refuses, or leaves it out.

After the behaviour, each entry names its evidence, and the test that fails without the behaviour:

- *Measured*: somebody ran it on AWS and published the answer.
- *Documented*: AWS's own text states it.
- *Source*: the code that runs there does it.
- *Schema*: botocore or cfn-lint has it.
- *Inferred*: it follows from what is named.
"""
Relation = Literal["same", "stricter", "kinder"]
Evidence = Literal["measured", "documented", "source", "schema", "inferred"]


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """One behaviour of AWS.

    Attributes:
        behaviour: What happens, as one sentence.
        beside_aws: Whether the embedded AWS does the same.
        evidence: How it is known what AWS does.
        source: Where that is published.
        test: `FILE::TEST`, which fails without the behaviour; empty where there is nothing to test.
        words: The refusal as AWS words it; empty where no public source quotes it.
    """

    behaviour: str
    beside_aws: Relation
    evidence: Evidence
    source: str
    test: str = ""
    words: str = ""

    def __post_init__(self) -> None:
        """Refuse data that the page could not explain.

        Raises:
            ValueError: `beside_aws` or `evidence` has another value.
        """
        for value, choices in ((self.beside_aws, Relation), (self.evidence, Evidence)):
            if value not in get_args(choices):
                raise ValueError(f"{DATA}: {value!r} is not one of {', '.join(get_args(choices))}")


@cache
def behaviours() -> Mapping[str, Sequence[Behaviour]]:
    """All behaviours by theme, in the order of the data file.

    Raises:
        ValueError: an entry is incomplete or has a value that does not exist.
    """
    themes = _data()["themes"]
    return MappingProxyType(
        {theme["about"]: tuple(Behaviour(**entry) for entry in theme["behaviours"]) for theme in themes}
    )


def fidelity_page() -> str:
    """docs/fidelity.md as Markdown."""
    parts = [INTRO.format(date=_data()["date"])]
    for about, rows in behaviours().items():
        if not rows:
            continue
        parts += [f"## {about}\n", *map(_entry, rows), ""]
    return "\n".join(parts)


def _entry(behaviour: Behaviour) -> str:
    mark = "" if behaviour.beside_aws == "same" else f"**{behaviour.beside_aws.capitalize()}:** "
    words = f": “{behaviour.words}”" if behaviour.words else ""
    end = "" if behaviour.words.endswith(".") else "."
    file, _, test = behaviour.test.partition("::")
    link = f" [`{test}`](../{file})" if test else ""
    evidence = f"*{behaviour.evidence.capitalize()}:* {behaviour.source}."
    return f"- {mark}{behaviour.behaviour}{words}{end} {evidence}{link}".replace("\n", " ")


def _data() -> dict[str, Any]:
    text = (files("fleet_emulator") / DATA).read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))
