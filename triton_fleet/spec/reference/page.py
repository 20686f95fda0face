"""docs/spec.md, docs/environment.md, docs/policy.md and docs/prices.md: every key of these kinds of files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

from triton_fleet.spec.reference.keys import Key, Section, anchor, sections
from triton_fleet.spec.reference.words import KINDS, Schema, TextForm
from triton_fleet.spec.schema import endpoint_schema, environment_schema, policy_schema, prices_schema

NOTICE = "<!-- Made by `fleet schema` from triton_fleet/spec: change it there. -->\n"
SPEC = """\
# Keys of a spec

`model_specs/NAME.yaml` describes one endpoint. These are all its keys; unknown and repeated ones are errors.
An environment sets the same keys under `defaults` and `overrides` ([environment.md](environment.md)),
profiles and folders for many specs ([teams.md](teams.md)). [Rules](rules.md) check which keys fit together
and what AWS, Triton or the GPU would refuse; `fleet show` prints the resulting settings and why they apply.
How to add a key: [Add a spec key](add/spec-key.md).
"""
ENVIRONMENT = """\
# Keys of an environment

`environments/ENV.yaml` states where endpoints are deployed and what differs there. A spec overrides the
environment's `defaults`, and the environment's `overrides` override the spec; both have
[the keys of a spec](spec.md). Mappings merge key by key, everything else is replaced. All layers and their
order: [teams.md](teams.md). What endpoints are allowed: [teams.md](teams.md#policies).
"""
POLICY = """\
# Keys of a policy

`policies/NAME.yaml` states what platform engineers allow, with exceptions. How policies are checked, with
examples: [teams.md](teams.md#policies).
"""
PRICES = """\
# Keys of prices.yaml

`prices.yaml`, at the top of a fleet, states what instances cost it where that is not the catalog's list
price. What uses the prices: [cost.md](cost.md#your-own-prices).
"""
WORDS = """\
Values are YAML 1.2. **Default** is what applies if the key is left out. The tables use these words:

{}
"""


def spec_page() -> str:
    """docs/spec.md."""
    return reference_page(SPEC, endpoint_schema(), beside("endpoint"))


def environment_page() -> str:
    """docs/environment.md."""
    return reference_page(ENVIRONMENT, environment_schema(), beside("environment"))


def policy_page() -> str:
    """docs/policy.md."""
    return reference_page(POLICY, policy_schema(), beside("policy"))


def prices_page() -> str:
    """docs/prices.md."""
    return reference_page(PRICES, prices_schema(), beside("prices"))


@dataclass(frozen=True)
class Beside:
    """Additions to the table of a section: YAML that is part of such a file, and the page with more."""

    example: str = ""
    see: str = ""


def reference_page(intro: str, schema: Schema, beside: Mapping[str, Beside]) -> str:
    """A page as Markdown; `beside` is by the path of the section."""
    all_sections = sections(schema)
    takes = "\n".join(key.takes for section in all_sections for key in section.keys)
    kinds = [kind for kind in KINDS if re.search(rf"\b{kind.word}s?\b", takes)]
    texts = [_section(entry, beside.get(entry.path, Beside())) for entry in all_sections]
    return "\n".join([NOTICE, intro, WORDS.format("\n".join(map(_kind, kinds))), *texts])


@cache
def beside(kind: str) -> Mapping[str, Beside]:
    """The texts beside the tables of a kind of file, such as `endpoint`, by the paths of their sections."""
    text = (files("triton_fleet.spec.reference") / "sections.yaml").read_text(encoding="utf-8")
    return {path: Beside(**texts) for path, texts in yaml.safe_load(text)[kind].items()}


def _kind(kind: TextForm) -> str:
    return f"- **{kind.word}**: {kind.form}"


def _section(section: Section, beside: Beside) -> str:
    depth = anchor(section.path).count(".") if section.path else 0
    anchors = [f'<a id="{anchor(section.path)}"></a>\n'] if depth else []
    lines = [*anchors, f"{'#' * min(depth + 2, 4)} {section.path or 'All keys'}\n"]
    more = f"More: [{beside.see.partition('#')[0]}]({beside.see})." if beside.see else ""
    description = " ".join(filter(None, (section.description if section.path else "", more)))
    lines += [f"{description}\n"] if description else []
    lines += [f"```yaml\n{beside.example}```\n"] if beside.example else []
    lines += ["| key | value | default | |", "| --- | --- | --- | --- |", *map(_row, section.keys)]
    return "\n".join([*lines, ""])


def _row(key: Key) -> str:
    at = anchor(key.path)
    name = f"[`{key.name}`](#{at})" if key.has_section else f'<a id="{at}"></a>`{key.name}`'
    default = "**required**" if key.default is None else key.default
    return f"| {name} | {_cell(key.takes)} | {_cell(default)} | {_cell(key.description)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
