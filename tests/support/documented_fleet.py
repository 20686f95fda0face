"""The project in a folder of its own and an account in which it is deployed, for whoever follows the documentation."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fleet_emulator.permissions import may_put_metrics
from fleet_emulator.server import EmbeddedAws
from tests.support import aws_cli_stand_in, doc_shell
from tests.support.clone import make_clone
from tests.support.doc_commands import DocumentedCommand
from tests.support.doc_shell import CommandResult, DocShell
from tests.support.embedded_app.clients import client
from tests.support.embedded_keys import KEYS
from tests.support.fleet_folder import ROOT
from tests.support.repository_archives import archive, folder_of
from tests.support.zoo import times
from triton_fleet.awsapi.emulator import local_session, local_variables
from triton_fleet.local.endpoint_host import TritonHost
from triton_fleet.local.gateway import Gateway
from triton_fleet.local.image_contents import fleet_contents
from triton_fleet.local.state import LocalState
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.spec.environment import LocalLimits

ACCOUNT, REGION = "123456789012", "us-west-2"
"""The embedded AWS's account, and the region of environments/prod.yaml."""
FIRST = ("make weights", "fleet deploy --env prod sentence-embeddings")
"""What other commands need; it is typed once, before any page."""
FIRST_PAGE = "beginning"
"""The revision from which each page is followed."""
LAST = "COMMIT"
"""As pages call the last commit that changed the lock."""
REQUEST = '{"inputs": [{"name": "INPUT0", "shape": [1, 1], "datatype": "BYTES", "data": ["hello"]}]}'


@dataclass(frozen=True)
class DocumentedFleet:
    """`first` is how the commands of `FIRST` ended."""

    shell: DocShell
    first: list[CommandResult]

    def follow(self, commands: Sequence[DocumentedCommand]) -> Iterator[CommandResult]:
        """Type commands, in the folder as it was in the beginning."""
        git(self.shell.root, "reset", "--quiet", "--hard", FIRST_PAGE)
        git(self.shell.root, "clean", "--quiet", "-fd")
        return self.shell.type(commands)


@contextmanager
def documented_fleet(runtime: TritonRuntime, folder: Path) -> Iterator[DocumentedFleet]:
    """Its endpoints are served by the real Triton."""
    root = make_clone(folder / "clone").root
    _add_what_pages_presuppose(root)
    host = TritonHost(
        LocalState(folder / "served"),
        runtime,
        s3=lambda *_: client(aws, "s3"),
        limits=LocalLimits,
        record=lambda *_: None,
        may_put=may_put_metrics,
        contents=partial(fleet_contents, root),
    )
    aws = EmbeddedAws(host, Gateway(host.open_call), keys=KEYS)
    aws.start()
    try:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in _variables(root, aws.url).items():
                patch.setenv(name, value)
            patch.chdir(root)
            shell = DocShell(
                root,
                folder,
                {
                    "fleet": doc_shell.fleet,
                    "aws": lambda words: aws_cli_stand_in.run(words, url=aws.url, region=REGION),
                },
            )
            _commit(root)
            _add_what_the_reader_has(aws.url)
            yield DocumentedFleet(shell, list(shell.type([DocumentedCommand("", 0, text) for text in FIRST])))
    finally:
        host.close()
        aws.stop()


def _variables(root: Path, url: str) -> dict[str, str]:
    return {
        **local_variables({}, region=REGION, url=url, keys=KEYS),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(root / "home"),
        "JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(Path.home() / ".cache" / "aws" / "jsii" / "package-cache"),
        "COLUMNS": "120",
        "CDK_VALIDATION": "false",
        "URL": "https://example.com/alarms",
        "GIT_EDITOR": "echo reviewed >",
    }


def _add_what_pages_presuppose(root: Path) -> None:
    """Accounts that are the embedded one, a draft at home, and repositories and inputs of the reader's own."""
    for file in (root / "environments").glob("*.yaml"):
        text = re.sub(r"(?m)^account: .*", f'account: "{ACCOUNT}"', file.read_text())
        if file.stem == "staging":  # in the region of dev its endpoints would be refused for their names
            text = text.replace("us-east-1", "eu-west-1")
        if (
            file.stem == "dev"
        ):  # a page takes the endpoint away that they are of, and has the reader edit this
            text = text.partition("overrides:")[0]
        file.write_text(text)
    activate = root / ".venv" / "bin" / "activate"
    activate.parent.mkdir(parents=True)
    shutil.copy(Path(sys.prefix) / "bin" / "activate", activate)  # no link: a page types `make clean`
    draft = root / "home" / "drafts" / "bert.yaml"
    draft.parent.mkdir(parents=True)
    shipped_text = (root / "model_specs" / "sentence-embeddings.yaml").read_text()
    draft.write_text(re.sub("(?m)^endpoint: .*", "endpoint: bert", shipped_text).replace("../", f"{root}/"))
    (root / "request.json").write_text(REQUEST)
    contents = {name.replace("times", "ranking"): text.encode() for name, text in times(2).items()}
    for folder in ("repository", "configs"):
        folder_of(root / folder, contents)
    shutil.copy(root / "repository" / "ranking" / "config.pbtxt", root)
    archive(root, contents)


def _add_what_the_reader_has(url: str) -> None:
    """The function `page`, which calls whoever is on duty; and a Foundation to be deleted, of which the name is enough."""
    session = local_session(REGION, KEYS)
    session.client("cloudformation", endpoint_url=url).create_stack(
        StackName="triton-fleet-dev",
        TemplateBody=json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}),
    )
    may: Any = {
        "Effect": "Allow",
        "Principal": {"Service": "lambda.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    role = session.client("iam", endpoint_url=url).create_role(
        RoleName="page", AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [may]})
    )
    session.client("lambda", endpoint_url=url).create_function(
        FunctionName="page",
        Runtime="python3.12",
        Role=role["Role"]["Arn"],
        Handler="page.call",
        Code={"ZipFile": b"page"},
    )


def _commit(root: Path) -> None:
    """Two revisions, between which a lock changed; what the project's git leaves out stays out."""
    lock = root / "locks" / "prod" / "sentence-embeddings.lock.yaml"
    for file in (ROOT / ".gitignore", *ROOT.glob("examples/*/.gitignore")):
        shutil.copy(file, root / file.relative_to(ROOT))
    git(root, "init", "--quiet")
    for name in ("name", "email"):
        git(root, "config", f"user.{name}", "reader")
    before = lock.read_text()
    lock.write_text(f"# The release before.\n{before}")
    git(root, "add", "--all")
    git(root, "add", "--force", ".venv")
    git(root, "commit", "--quiet", "--message", "first")
    lock.write_text(before)
    git(root, "commit", "--quiet", "--all", "--message", "second")
    for name in (FIRST_PAGE, LAST):
        git(root, "tag", name)


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)
