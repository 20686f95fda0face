"""docs/rules.md: every rule with an example of what it says, and every other code."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from fleet.rules.example import Case, Example
from fleet.rules.names import finding_prefix
from fleet.rules.other_codes import Group, groups
from fleet.rules.rule import DOCS, Rule
from fleet.rules.themes import Theme, themes

INTRO = """\
<!-- Made by `fleet schema` from fleet/rules: change it there. -->

# Rules

`fleet check` says what AWS, Triton or the GPU would refuse later. Each finding has a name, a code that never
changes its meaning, a place, a message, and a hint that says what to write instead. `fleet rules NAME`
explains one on the command line; `fleet rules --theme THEME` lists those of a theme. A rule is named after
what it finds; the sentence below its name says what should hold.

- **error**: it would not work. `fleet check` exits with 1, and nothing is deployed.
- **warning**: it works and is likely not meant, or nobody has proved that it fails. Rules rest on facts of
  the catalog, and a fact that is not certain only warns, whatever the severity of its rule.

A spec may break a rule on purpose, with the reason, where nobody overlooks it in a review:

```yaml
allow: {unlisted-multi-model-instance: "tried on ml.g6.xlarge, 3 May"}
```

`allow` takes the code in place of the name as well.

A rule that is **needed** cannot be allowed: without what it asks for nothing can be decided. One that says
**an error at deploy** only warns before. An `allow` that silences nothing is [a finding itself](#fl130).
"""
OTHERS = """\
## Other codes

What is found where files are read, repositories packed, endpoints deployed and called. `allow` silences what
is said of models themselves, where it stands so above the table, and nothing else.
"""


def link_to(code: str) -> str:
    """Where a code is explained, from the project's root."""
    return f"{DOCS}#{code.lower()}"


def rules_page(rules: Mapping[str, Rule], examples: Mapping[str, Example]) -> str:
    """The page as Markdown; a rule without an example is told without."""
    by_theme = _by_theme(rules.values())
    parts = [INTRO, _contents(by_theme)]
    for theme, members in by_theme.items():
        parts.append(f"## {theme.about} (`{theme.name}`)\n")
        parts += [_rule_text(rule, examples.get(rule.code)) for rule in members]
    parts += [OTHERS, *map(_group, groups())]
    return "\n".join(parts)


def said_of(case: Case, rule: Rule) -> Iterator[str]:
    """What `fleet check` says of a case, without its place: a line for each finding and one for its hint."""
    for finding in case.findings(rule):
        yield f"{finding_prefix(finding.severity, finding.code)}: {finding.message}"
        if finding.hint:
            yield f"  hint: {finding.hint}"


def weight_of(rule: Rule) -> str:
    """Its severity and what limits it, such as "error, needed"."""
    limits = {"needed": rule.needed, "an error at deploy": rule.at_deploy}
    return ", ".join([rule.severity.value, *(limit for limit, holds in limits.items() if holds)])


def _by_theme(rules: Collection[Rule]) -> Mapping[Theme, list[Rule]]:
    found = {theme: [rule for rule in rules if rule.theme == theme] for theme in themes()}
    return {theme: members for theme, members in found.items() if members}


def _contents(by_theme: Mapping[Theme, list[Rule]]) -> str:
    lines = list[str]()
    for theme, members in by_theme.items():
        lines.append(f"- {theme.about} (`{theme.name}`)")
        lines += [f"  - [{each.name}](#{each.code.lower()}) ({each.code})" for each in members]
    lines += ["- [Other codes](#other-codes)", ""]
    return "\n".join(lines)


def _rule_text(rule: Rule, example: Example | None) -> str:
    parts = [
        f'<a id="{rule.code.lower()}"></a>\n',
        f"### {rule.name} ({rule.code})\n",
        f"**{weight_of(rule)}**: {rule.summary}\n",
        *([f"{rule.why}\n"] if rule.why else []),
        *(_example_lines(example, rule) if example else []),
        f"Source: {_source(rule.source)}\n",
    ]
    return "\n".join(parts)


def _example_lines(example: Example, rule: Rule) -> list[str]:
    said = "\n".join(said_of(example.wrong, rule))
    return [
        f"```yaml\n{example.wrong.shown}\n```\n",
        f"```text\n{said}\n```\n",
        f"Instead:\n\n```yaml\n{example.right.shown}\n```\n",
    ]


def _source(source: str) -> str:
    if source.startswith("https://"):
        return f"<{source}>"
    if not source.endswith(".md"):
        return source
    from_here = source.removeprefix("docs/")
    return f"[{source}]({from_here if from_here != source else f'../{source}'})"


def _group(group: Group) -> str:
    but = f", but for {', '.join(group.names[code] for code in group.needed)}" if group.needed else ""
    allowed = [f"A spec may `allow` itself any of these{but}.\n"] if group.allowable else []
    lines = [f"### {group.about}\n", *allowed, "| name | code | severity | |", "| --- | --- | --- | --- |"]
    for code, said in group.codes.items():
        name = f'<a id="{code.lower()}"></a>{group.names[code]}'
        lines.append(f"| {name} | {code} | {group.weight(code)} | {said} |")
    return "\n".join([*lines, ""])
