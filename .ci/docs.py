"""Builds the site of docs/ in build/docs/site, strictly; nothing is fetched when it is read.

`python .ci/docs.py`. docs/index.md is the one list of pages: its headings and links are the navigation. What
a page links to outside of docs/ becomes a page below source/, so that the link works on the forge and on
the site. Exits with 1 where a page is on no list, a link leads nowhere, a page reads otherwise than on the
forge, or something would be fetched; with 2 where the generator is missing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt

GENERATOR = ".venv-docs/bin/zensical"
INDEX = Path("docs/index.md")
LINK = re.compile(r"(`{3,}).*?\1|`[^`\n]+`|(?<=\]\()(?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?(?=\))", re.DOTALL)
"""Code, in which nothing is a link, or the target of a link in Markdown to another file and its anchor."""
ENTRY = re.compile(r"^(#{2,3}) (.+)$|^- \[([^]]+)\]\(([^)#\s]+)\)", re.MULTILINE)
ADDRESS = re.compile(r"^(https?:)?//")
STYLE_ADDRESS = re.compile(r"""(?:@import\s*|url\(\s*)["']?((?:https?:)?//[^"')]+)""")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
BLOCKS = frozenset(["h1", "h2", "h3", "h4", "li", "ol", "pre", "table", "tr", "ul"])


@dataclass(frozen=True)
class Stage:
    """The folder that the generator reads: docs/ and, below source/, what it links to, with links that fit.

    `problems` are what is wrong, each with its place.
    """

    root: Path
    folder: Path
    problems: list[str] = field(default_factory=list)
    _pages: dict[Path, Path] = field(default_factory=dict)

    def fill(self) -> list[Any]:
        """Write all pages; the navigation by the index."""
        files = [path.relative_to(self.root) for path in sorted((self.root / "docs").rglob("*"))]
        for path in [file for file in files if (self.root / file).is_file()]:
            self.page_of(path)
        return self._navigation()

    def pages(self) -> list[tuple[Path, Path]]:
        """The pages of docs/, each with its place in the folder."""
        of_docs = [page for page in sorted(self._pages) if page.parts[0] == "docs" and page.suffix == ".md"]
        return [(page, self._pages[page]) for page in of_docs]

    def page_of(self, path: Path) -> Path:
        """The page of a file of the repository, relative to the folder, which is written if it was not yet.

        A folder's page is its README.md, or a list of its files.
        """
        if (self.root / path / "README.md").is_file():
            path = path / "README.md"
        if path not in self._pages:
            self._pages[path] = self._place(path)
            target = self.folder / self._pages[path]
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".md":
                target.write_text(self._with_links(path, (self.root / path).read_text()))
            elif target.suffix == ".md":
                target.write_text(_source_page(self.root, path))
            else:
                shutil.copyfile(self.root / path, target)
        return self._pages[path]

    def _place(self, path: Path) -> Path:
        if path.parts[0] == "docs":
            return path.relative_to("docs") / ("index.md" if (self.root / path).is_dir() else "")
        # The generator skips hidden folders.
        place = Path("source", *(part.lstrip(".") for part in path.parts))
        return place if path.suffix in {".md", ".png", ".svg"} else place.with_name(f"{place.name}.md")

    def _with_links(self, path: Path, text: str) -> str:
        place = self._pages[path]

        def link(match: re.Match[str]) -> str:
            if not match[2]:
                # In code of a table, a forge takes the backslash away and Python-Markdown does not.
                is_of_table = text[text.rfind("\n", 0, match.start()) + 1] == "|"
                return match[0].replace("\\|", "|") if is_of_table else match[0]
            target = Path(os.path.normpath(path.parent / match[2]))
            if not (self.root / target).exists():
                line = text.count("\n", 0, match.start()) + 1
                self.problems.append(f"{path}:{line}: there is no {target}: correct the link")
                return match[0]
            page = os.path.relpath(self.page_of(target), place.parent)
            return f"{page}{match[3] or ''}"

        return LINK.sub(link, text)

    def _navigation(self) -> list[Any]:
        """Of the index: a section for each heading, an entry for each link that begins a list's line."""
        sections = [list[Any]([INDEX.name])]
        pages = {INDEX}
        for match in ENTRY.finditer((self.root / INDEX).read_text()):
            heading, name, title, link = ((member or "").replace("`", "") for member in match.groups())
            if heading:
                del sections[len(heading) - 1 :]
                section = list[Any]()
                sections[-1].append({name: section})
                sections.append(section)
                continue
            path = Path(os.path.normpath(INDEX.parent / link))
            if (self.root / path).is_dir():
                members = sorted(member.relative_to(self.root) for member in (self.root / path).glob("*.md"))
                pages.update(members)
                sections[-1].append({title: [self._pages[member].as_posix() for member in members]})
            elif path in self._pages:
                pages.add(path)
                sections[-1].append({title: self._pages[path].as_posix()})
        for page in [member for member, _ in self.pages() if member not in pages]:
            self.problems.append(f"{page}: is on no list: add a link to it to {INDEX}, below its reader")
        return sections[0]


class _Page(HTMLParser):
    """The blocks of an article, and the addresses elsewhere that a browser fetches from to show it."""

    def __init__(self, *, is_article: bool) -> None:
        super().__init__()
        self.blocks = Counter[str]()
        self.addresses = set[str]()
        self._depth = int(is_article)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._depth += tag == "article"
        if self._depth and tag in BLOCKS:
            self.blocks[tag] += 1
        attributes = {name: value or "" for name, value in attrs}
        addresses = [attributes.get("src", ""), *(attributes.get("srcset", "").split(","))]
        if tag == "link" and attributes.get("rel") not in {"canonical", "next", "prev"}:
            addresses.append(attributes.get("href", ""))
        self.addresses.update(address.strip() for address in addresses if ADDRESS.match(address.strip()))

    def handle_endtag(self, tag: str) -> None:
        self._depth -= tag == "article"


def _source_page(root: Path, path: Path) -> str:
    """A page with a file's text, or with a folder's files, which the search leaves out."""
    title = path.as_posix()
    if not (root / path).is_dir():
        text = (root / path).read_text()
        fence = "`" * (max([len(run) for run in re.findall("`+", text)], default=2) + 1)
        content = f"{fence}{path.suffix.removeprefix('.') or 'text'}\n{text}\n{fence}"
    elif path.parts[0] == "docs":
        title = path.name.capitalize()
        content = "\n".join(f"- [{_title(file)}]({file.name})" for file in sorted((root / path).glob("*.md")))
    else:
        content = "\n".join(f"- `{file.name}`" for file in sorted((root / path).iterdir()))
    return f"---\nsearch: {{exclude: true}}\n---\n\n# {title}\n\n{content}\n"


def _title(page: Path) -> str:
    """The first heading of a page."""
    return next((line[2:] for line in page.read_text().splitlines() if line.startswith("# ")), page.stem)


def _read_page(text: str, forge: MarkdownIt | None = None) -> _Page:
    """The blocks of a page of the site, or of one in Markdown as a forge renders it."""
    page = _Page(is_article=forge is not None)
    page.feed(forge.render(text) if forge else text)
    return page


def _differences(stage: Stage, site: Path) -> Iterator[str]:
    """Pages with other headings, lists, tables or code on the site than on the forge."""
    forge = MarkdownIt("commonmark").enable("table")
    for page, place in stage.pages():
        forge_blocks = _read_page((stage.root / page).read_text(), forge).blocks
        name = place.with_name("index.html") if place.name == "README.md" else place.with_suffix(".html")
        site_blocks = _read_page((site / name).read_text()).blocks
        for tag in sorted(BLOCKS):
            if forge_blocks[tag] != site_blocks[tag]:
                yield (
                    f"{page}: {forge_blocks[tag]} <{tag}> on the forge, {site_blocks[tag]} on the site: "
                    "put an empty line before each list, and indent by four spaces what is inside of one"
                )


def _fetch_problems(site: Path) -> Iterator[str]:
    """Addresses elsewhere that a browser would fetch from to show the site, with the number of files."""
    files_by_address = defaultdict[str, list[Path]](list)
    for file in sorted(site.rglob("*")):
        if file.suffix == ".html":
            addresses = _read_page(file.read_text()).addresses
        else:
            addresses = set(STYLE_ADDRESS.findall(file.read_text()) if file.suffix == ".css" else ())
        for address in addresses:
            files_by_address[address].append(file.relative_to(site))
    for address, files in sorted(files_by_address.items()):
        rest = f", as do {len(files) - 1} more files of the site" if files[1:] else ""
        yield f"{files[0]} fetches {address}{rest}: keep a copy in docs/"


def main(root: Path, generator: str) -> int:
    """Build the site of a repository with this program; what the process ends with."""
    if not shutil.which(generator):
        print(f"there is no {generator}: run `make docs`", file=sys.stderr)
        return 2
    build = root / "build" / "docs"
    shutil.rmtree(build, ignore_errors=True)
    stage = Stage(root, build / "pages")
    stage.folder.mkdir(parents=True)
    shutil.copy(root / ".ci" / "docs.css", stage.folder)
    settings = yaml.safe_load((root / ".ci" / "docs.yml").read_text())
    settings |= {"docs_dir": "pages", "site_dir": "site", "nav": stage.fill()}
    (build / "mkdocs.yml").write_text(yaml.safe_dump(settings, sort_keys=False))
    if not stage.problems:
        command = [generator, "build", "--strict", "--config-file", str(build / "mkdocs.yml")]
        process = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        if process.returncode:
            output = COLOUR.sub("", process.stdout + process.stderr)
            print(output.partition("Traceback")[0].strip(), file=sys.stderr)
            return 1
        site = build / "site"
        stage.problems.extend([*_differences(stage, site), *_fetch_problems(site)])
    for line in stage.problems:
        print(line, file=sys.stderr)
    if not stage.problems:
        print(f"built {(build / 'site' / 'index.html').relative_to(root)}")
    return 1 if stage.problems else 0


if __name__ == "__main__":
    os.chdir(Path(__file__).resolve().parents[1])
    sys.exit(main(Path.cwd(), *(sys.argv[1:] or [GENERATOR])))
