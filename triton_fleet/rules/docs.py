"""docs/rules.md, an index of every code, and docs/rules/THEME.md, each rule of a theme with an example."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from triton_fleet.rules.codes import Group, Theme, groups, themes
from triton_fleet.rules.example import Case, Example
from triton_fleet.rules.names import finding_prefix
from triton_fleet.rules.rule import DOCS, Rule

INTRO = """\
<!-- Made by `fleet schema` from triton_fleet/rules: change it there. -->

# Rules

`fleet check` finds what AWS, Triton or the GPU would refuse later. Each finding has a name, a code that never
changes its meaning, a location, a message, and a hint with what to write instead. `fleet rules NAME`
explains a rule on the command line, and `fleet rules --theme THEME` lists those of a theme. A rule's name is
what it finds; the sentence below the name is what it requires.

- **error**: the spec would not work. `fleet check` exits with 1, and nothing is deployed.
- **warning**: the spec works but is probably a mistake, or it may fail and no source proves it. Rules rely on
  facts of the catalog; an uncertain fact only warns, whatever the severity of its rule.

A spec may break a rule on purpose. It gives the reason, which a review then sees:

```yaml
allow: {unlisted-multi-model-instance: "tried on ml.g6.xlarge, 3 May"}
```

`allow` accepts the code as well as the name.

Each rule states what it takes. `fleet check --env ENVIRONMENT` applies all rules, because an endpoint has all
that they take. `fleet check PATH` of a model repository applies those that take a model or the models of a
repository; what depends on the release or the instance type needs `--triton` or `--instance`.

A rule marked **needed** cannot be allowed: other checks depend on what it requires. A rule marked
**an error at deploy** only warns until then. An `allow` that silences nothing is [a finding itself](#fl130).
"""
COLUMNS = "| name | code | severity | requires |\n| --- | --- | --- | --- |"
OTHER_CODES = """\
## Other codes

These are found while files are read, repositories are packed, and endpoints are deployed and called. `allow`
silences only the codes of the tables that mention it.
"""


def link_to(code: str) -> str:
    """Where a code is explained, from the project's root."""
    return f"{DOCS}#{code.lower()}"


def rules_pages(rules: Mapping[str, Rule], examples: Mapping[str, Example]) -> Mapping[str, str]:
    """The index and a page for each theme as Markdown, by their paths from the project's root.

    A rule without an example is shown without.
    """
    by_theme = _by_theme(rules.values())
    tables = [_table(theme, members) for theme, members in by_theme.items()]
    pages = {_page(theme): _theme_page(theme, members, examples) for theme, members in by_theme.items()}
    return {DOCS: "\n".join([INTRO, *tables, OTHER_CODES, *map(_group, groups())]), **pages}


def said_of(case: Case, rule: Rule) -> Iterator[str]:
    """The findings for a case, without their place: a line for each finding and one for its hint."""
    for finding in case.findings(rule):
        yield f"{finding_prefix(finding.severity, finding.code)}: {finding.message}"
        if finding.hint:
            yield f"  hint: {finding.hint}"


def weight_of(rule: Rule) -> str:
    """Its severity and what limits it, such as "error, needed"."""
    limits = {"needed": rule.is_needed, "an error at deploy": rule.at_deploy}
    return ", ".join([rule.severity.value, *(limit for limit, holds in limits.items() if holds)])


def _by_theme(rules: Collection[Rule]) -> Mapping[Theme, list[Rule]]:
    rules_by_theme = {theme: [rule for rule in rules if rule.theme == theme] for theme in themes()}
    return {theme: members for theme, members in rules_by_theme.items() if members}


def _page(theme: Theme) -> str:
    return f"{DOCS.removesuffix('.md')}/{theme.name}.md"


def _table(theme: Theme, rules: Collection[Rule]) -> str:
    """The rows of a theme in the index; links to `rules.md#CODE` find their rule by them."""
    page = _page(theme).removeprefix("docs/")
    rows = [
        f'| <a id="{rule.code.lower()}"></a>[{rule.name}]({page}#{rule.code.lower()}) | {rule.code}'
        f" | {weight_of(rule)} | {rule.summary} |"
        for rule in rules
    ]
    return "\n".join([f"## {theme.about} (`{theme.name}`)\n", COLUMNS, *rows, ""])


def _theme_page(theme: Theme, rules: Collection[Rule], examples: Mapping[str, Example]) -> str:
    comment = INTRO.partition("\n")[0]
    about = (
        "[What all rules have in common](../rules.md): how a spec allows a finding, and what a rule takes.\n"
    )
    texts = [_rule_text(rule, examples.get(rule.code)) for rule in rules]
    return "\n".join([f"{comment}\n", f"# {theme.about}\n", about, *texts])


def _rule_text(rule: Rule, example: Example | None) -> str:
    parts = [
        f'<a id="{rule.code.lower()}"></a>\n',
        f"## {rule.name} ({rule.code})\n",
        f"**{weight_of(rule)}**: {rule.summary}\n",
        *([f"{rule.reason}\n"] if rule.reason else []),
        *(_example_lines(example, rule) if example else []),
        f"Takes: {rule.scope.words}. Source: {_source(rule.source)}\n",
    ]
    return "\n".join(parts)


def _example_lines(example: Example, rule: Rule) -> list[str]:
    findings = "\n".join(said_of(example.wrong, rule))
    return [
        f"Wrong:\n\n```yaml\n{example.wrong.as_yaml}\n```\n",
        f"`fleet check` reports:\n\n```text\n{findings}\n```\n",
        f"Right:\n\n```yaml\n{example.right.as_yaml}\n```\n",
    ]


def _source(source: str) -> str:
    if source.startswith("https://"):
        return f"<{source}>"
    if not source.endswith(".md"):
        return source
    from_page = source.removeprefix("docs/")
    return f"[{source}]({'../' if from_page != source else '../../'}{from_page})"


def _group(group: Group) -> str:
    but = (
        f", except {', '.join(group.names[code] for code in group.needed_codes)}"
        if group.needed_codes
        else ""
    )
    allowance = [f"A spec may `allow` any of these{but}.\n"] if group.allowable else []
    lines = [f"### {group.about}\n", *allowance, "| name | code | severity | |", "| --- | --- | --- | --- |"]
    for code, sentence in group.codes.items():
        name = f'<a id="{code.lower()}"></a>{group.names[code]}'
        lines.append(f"| {name} | {code} | {group.weight(code)} | {sentence} |")
    return "\n".join([*lines, ""])
