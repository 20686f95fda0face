"""`make docs`: each page is on the index's list, reads as on the forge, and links that leave docs/ still lead somewhere."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

GENERATOR = """\
#!{python}
import pathlib, sys, markdown_it
assert sys.argv[1:4] == ["build", "--strict", "--config-file"]
build = pathlib.Path(sys.argv[4]).parent
for page in (build / "pages").rglob("*.md"):
    file = build / "site" / page.relative_to(build / "pages").with_suffix(".html")
    file.parent.mkdir(parents=True, exist_ok=True)
    text = markdown_it.MarkdownIt("commonmark").enable("table").render(page.read_text())
    file.write_text("{head}<article>" + {change} + "</article>")
"""
"""A generator that renders as a forge does, but for what it changes."""
INDEX = "# Home\n\n## Use it\n\n### Guides\n\n- [`fleet a`](a.md): what it does\n- [More](more): the rest\n"


class Site:
    """A small repository with two listed pages, and what its build says."""

    def __init__(self, root: Path, repository: Path) -> None:
        shutil.copytree(repository / ".ci", root / ".ci")
        self.root = root
        self.write("docs/index.md", INDEX)
        self.write("docs/a.md", "# A\n")
        self.write("docs/more/b.md", "# B of `more`\n")
        self.generator()

    def write(self, file: str, text: str) -> None:
        (self.root / file).parent.mkdir(parents=True, exist_ok=True)
        (self.root / file).write_text(text)

    def generator(self, *, head: str = "", change: str = "text", code: str = "") -> None:
        program = GENERATOR.format(python=sys.executable, head=head, change=change) + code
        self.write("generator", program)
        (self.root / "generator").chmod(0o755)

    def build(self, generator: Sequence[str] = ("./generator",)) -> tuple[int, str]:
        command = [sys.executable, str(self.root / ".ci" / "docs.py"), *generator]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        return process.returncode, process.stdout + process.stderr

    def page(self, page: str) -> str:
        return (self.root / "build" / "docs" / "pages" / page).read_text()


@pytest.fixture
def site(tmp_path: Path, root: Path) -> Site:
    return Site(tmp_path, root)


def test_the_navigation_is_the_indexs_headings_and_links(site: Site) -> None:
    assert site.build() == (0, "built build/docs/site/index.html\n")
    settings: dict[str, Any] = yaml.safe_load((site.root / "build/docs/mkdocs.yml").read_text())
    assert settings["nav"] == [
        "index.md",
        {"Use it": [{"Guides": [{"fleet a": "a.md"}, {"More": ["more/b.md"]}]}]},
    ]
    assert "- [B of `more`](b.md)" in site.page("more/index.md"), "a folder that is linked to has a page"


def test_a_page_on_no_list_is_refused_by_name(site: Site) -> None:
    site.write("docs/drift.md", "# Drift\n")
    assert site.build() == (
        1,
        "docs/drift.md: is on no list: add a link to it to docs/index.md, below its reader\n",
    )


def test_a_link_to_a_file_that_is_not_there_is_refused_with_its_line(site: Site) -> None:
    site.write("docs/a.md", "# A\n\n[gone](../fleet/gone.py)\n")
    assert site.build() == (1, "docs/a.md:3: there is no fleet/gone.py: correct the link\n")


def test_what_code_shows_is_no_link(site: Site) -> None:
    text = "# A\n\n`[x](gone.md)`\n\n```markdown\n[x](gone.md)\n```\n"
    site.write("docs/a.md", text)
    assert site.build()[0] == 0
    assert site.page("a.md") == text


def test_a_line_in_code_of_a_table_is_shown_without_its_backslash(site: Site) -> None:
    site.write("docs/a.md", "# A\n\n| a |\n| --- |\n| `x \\| y` |\n\n`x \\| y`\n")
    site.build()
    assert site.page("a.md") == "# A\n\n| a |\n| --- |\n| `x | y` |\n\n`x \\| y`\n"


def test_a_link_out_of_docs_leads_to_a_page_with_the_file(site: Site) -> None:
    site.write(
        "docs/a.md",
        "# A\n\n[code](../fleet/x.py#L2), [words](../.ci/words.yaml), [its page](../fleet/README.md)\n",
    )
    site.write("fleet/x.py", "TEXT = '''\n```\n'''\n")
    site.write(
        "fleet/README.md", "# Fleet\n\n[a](../docs/a.md#a) [x](x.py) [web](https://example.com/x.md)\n"
    )
    assert site.build()[0] == 0
    assert (
        "[code](source/fleet/x.py.md#L2), [words](source/ci/words.yaml.md), [its page](source/fleet/README.md)"
        in site.page("a.md")
    )
    assert "# fleet/x.py\n\n````py\nTEXT = '''\n```\n'''\n\n````\n" in site.page("source/fleet/x.py.md")
    assert "[a](../../a.md#a) [x](x.py.md) [web](https://example.com/x.md)" in site.page(
        "source/fleet/README.md"
    )


def test_a_link_to_a_folder_leads_to_its_readme_or_to_its_files(site: Site) -> None:
    site.write("docs/a.md", "# A\n\n[one](../one), [two](../two/)\n")
    site.write("one/README.md", "# One\n")
    site.write("two/x.py", "")
    assert site.build()[0] == 0
    assert "[one](source/one/README.md), [two](source/two.md)" in site.page("a.md")
    assert "# two\n\n- `x.py`\n" in site.page("source/two.md")


def test_a_page_that_reads_otherwise_than_on_the_forge_is_refused(site: Site) -> None:
    site.write("docs/a.md", "# A\n\n- one\n  - two\n")
    site.generator(change="text.replace('<ul>', '', 1).replace('</ul>', '', 1)")
    code, text = site.build()
    assert code == 1
    assert "docs/a.md: 2 <ul> on the forge, 1 on the site: put an empty line before each list" in text


@pytest.mark.parametrize(
    "head",
    [
        "<script src='https://example.com/x'></script>",
        "<link rel='stylesheet' href='//example.com/x'>",
        "<img src='http://example.com/x'>",
        "<img srcset='a.png 1x, https://example.com/x 2x'>",
    ],
)
def test_a_site_that_would_fetch_something_is_refused(site: Site, head: str) -> None:
    site.generator(head=head)
    code, text = site.build()
    assert code == 1
    assert text.startswith("a.html fetches ")
    assert ", as do 3 more files of the site: keep a copy in docs/\n" in text
    assert "//example.com/x" in text


def test_a_style_that_would_fetch_a_font_is_refused(site: Site) -> None:
    style = "@font-face { src: url('https://example.com/f') }"
    site.generator(code=f"(build / 'site' / 'a.css').write_text({style!r})\n")
    assert site.build() == (
        1,
        "a.css fetches https://example.com/f: keep a copy in docs/\n",
    )


def test_a_link_that_leaves_the_site_is_not_fetched(site: Site) -> None:
    site.write("docs/a.md", "# A\n\n<https://example.com>\n")
    assert site.build()[0] == 0


def test_what_the_generator_refuses_is_shown_without_its_traceback(site: Site) -> None:
    site.generator(
        code="print('\\x1b[33mWarning:\\x1b[0m anchor does not exist')\nprint('Traceback: x')\nsys.exit(1)\n"
    )
    assert site.build() == (1, "Warning: anchor does not exist\n")


def test_without_a_generator_it_names_the_command_that_installs_it(site: Site) -> None:
    assert site.build([".venv-docs/bin/zensical"]) == (
        2,
        "there is no .venv-docs/bin/zensical: run `make docs`\n",
    )
