"""Settings and hooks of Git that name a program, which leaves a mark when it is run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.support.fleet_folder import FleetFolder

ATTRIBUTES = "* filter=driver diff=driver merge=driver\n"
SETTINGS = {
    "core.fsmonitor": "[core]\nfsmonitor = PROGRAM\n",
    "core.hooksPath": "[core]\nhooksPath = HOOKS\n",
    "core.pager": "[core]\npager = PROGRAM\n[pager]\nlog = PROGRAM\ndiff = PROGRAM\nrev-parse = PROGRAM\n",
    "core.editor": "[core]\neditor = PROGRAM\n[sequence]\neditor = PROGRAM\n",
    "core.sshCommand": '[core]\nsshCommand = PROGRAM\n[extensions]\npartialClone = origin\n[remote "origin"]\n'
    "url = ssh://localhost/x\npromisor = true\n",
    "core.gitProxy": '[core]\ngitProxy = PROGRAM\n[extensions]\npartialClone = origin\n[remote "origin"]\n'
    "url = git://localhost/x\npromisor = true\n",
    "remote.uploadpack": '[extensions]\npartialClone = origin\n[remote "origin"]\nurl = /\npromisor = true\n'
    "uploadpack = PROGRAM\n",
    "remote.ext": '[protocol "ext"]\nallow = always\n[extensions]\npartialClone = origin\n[remote "origin"]\n'
    "url = ext::PROGRAM\npromisor = true\n",
    "core.askPass": "[core]\naskPass = PROGRAM\n[credential]\nhelper = !PROGRAM\n",
    "core.alternateRefsCommand": "[core]\nalternateRefsCommand = PROGRAM\n",
    "diff.external": "[diff]\nexternal = PROGRAM\n",
    "diff.command": '[diff "driver"]\ncommand = PROGRAM\n',
    "diff.textconv": '[diff "driver"]\ntextconv = PROGRAM\ncachetextconv = true\n',
    "filter.clean": '[filter "driver"]\nclean = PROGRAM\nrequired = true\n',
    "filter.smudge": '[filter "driver"]\nsmudge = PROGRAM\nrequired = true\n',
    "filter.process": '[filter "driver"]\nprocess = PROGRAM\nrequired = true\n',
    "merge.driver": '[merge "driver"]\ndriver = PROGRAM\n',
    "gpg.program": "[gpg]\nprogram = PROGRAM\n[log]\nshowSignature = true\n",
    "alias": "[alias]\ndiff = !PROGRAM\nrev-parse = !PROGRAM\n",
    "hook.command": '[hook "x"]\ncommand = PROGRAM\nevent = reference-transaction\nevent = post-index-change\n',
    "include.path": "[include]\npath = INCLUDED\n",
    "includeIf.path": '[includeIf "gitdir:/**"]\npath = INCLUDED\n',
    "submodule.recurse": '[submodule]\nrecurse = true\n[submodule "x"]\nupdate = !PROGRAM\n[diff]\nsubmodule = log\n',
    "worktreeConfig": "[extensions]\nworktreeConfig = true\n",
}
HOOKS = ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman")


@dataclass(frozen=True)
class Marks:
    """A program, and what it leaves; `write` plants it in Git's folder of a clone, or in what looks like one."""

    folder: Path

    @property
    def program(self) -> Path:
        return self.folder / "program"

    @property
    def mark_names(self) -> list[str]:
        file = self.folder / "marks"
        return file.read_text().splitlines() if file.exists() else []

    def prepare(self) -> None:
        for place in (self.program, *(self.folder / "hooks" / hook for hook in HOOKS)):
            self._script(place)
        (self.folder / "included").write_text(f"[core]\nfsmonitor = {self.program}\n")

    def write(self, git: Path, setting: str, *, core: str = "") -> None:
        text = SETTINGS[setting].replace("PROGRAM", str(self.program))
        text = text.replace("HOOKS", str(self.folder / "hooks")).replace(
            "INCLUDED", str(self.folder / "included")
        )
        version = "[core]\nrepositoryformatversion = 1\nbare = false\n"
        (git / "config").write_text(version + core + text)
        (git / "config.worktree").write_text(f"[core]\nfsmonitor = {self.program}\n")
        for hook in HOOKS:
            self._script(git / "hooks" / hook)

    def _script(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'#!/bin/sh\necho "$0 $*" >> {self.folder}/marks\ncat\n')
        file.chmod(0o755)


def marks(folder: Path) -> Marks:
    actual_marks = Marks(folder)
    actual_marks.prepare()
    return actual_marks


def write_bare(
    folder: Path, marks: Marks, setting: str = "core.fsmonitor", objects: Path | None = None
) -> None:
    """Make a folder what Git takes for a repository, without a file that Git does not commit."""
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    marks.write(folder, setting, core="worktree = .\n")
    for text in ("objects", "refs"):
        FleetFolder(folder).write(f"{text}/config.pbtxt", 'backend: "python"\n')
        FleetFolder(folder).write(f"{text}/1/model.py", "class TritonPythonModel: x = 1\n")
    if objects is not None:
        (folder / "objects/info").mkdir()
        (folder / "objects/info/alternates").write_text(f"{objects}\n")
