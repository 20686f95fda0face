"""A fuzz target: the files of a fleet, as bytes, through all of `fleet check`.

`python tests/fuzz/fuzz_check.py --seconds 60 --seed 1` mutates the shipped files and the rules' examples, says how
many inputs it tried, and keeps those that break something. A fuzzer that measures coverage calls `one_input`.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import random
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from triton_fleet.check.run import all_findings
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.printers.formats import as_json
from triton_fleet.printers.github import as_github
from triton_fleet.printers.human import show_findings
from triton_fleet.printers.sarif import as_sarif
from triton_fleet.project.project import open_project
from triton_fleet.rules.example import SPEC, examples
from triton_fleet.spec.source import FOLDER

PROFILE = re.compile(rb"^profile: ([a-z0-9-]+)\n", re.MULTILINE)
SEPARATOR = b"\n#####\n"
"""Between the three files of an input: the spec, the environment, the lock. Those left out are the usual ones."""
FILES = ("model_specs/sentences.yaml", "environments/dev.yaml", "locks/dev/sentences.lock.yaml")
USUAL_SPEC = b"""\
endpoint: sentences
triton: "25.04"
instance: {type: ml.g5.xlarge}
models: [{archive: sentences, repository: ../repository}]
"""
USUAL_ENVIRONMENT = b'environment: dev\naccount: "111122223333"\nregion: us-east-1\n'
USUAL_LOCK = b"""\
endpoint: sentences
archives:
  sentences:
    digest: sha256:%s
    size: 10240
    models: {embed: {backend: python, max_batch_size: 8, instances: [{kind: KIND_GPU, count: 2}], size: 6}}
""" % (b"a" * 64)
USUAL = (USUAL_SPEC, USUAL_ENVIRONMENT, USUAL_LOCK)
SECONDS, HANG = 1.0, 20.0
"""Of the processor's time: what a fuzzer on an idle machine calls a hang, and what a test on any machine does."""
WORDS = (
    b"~ true no 0 1 -1 1.5 1e3 1e999 .inf .nan 0x1F 0o17 10:00 2026-11-20 '' \"\" [] {} <<: &a *a !!str !x | > - ?"
    b' "\\0" "\\ud800" "\\U00110000" "\\u2028" 25.06 "25.06" "99.99" ml.g4dn.xlarge ml.p5.48xlarge ml.c5.large'
    b" ml.inf2.xlarge multi-model live eu-west-1 cn-north-1 600s 0s 50% 100% 0.001% s3://bucket/key/"
    b" SAGEMAKER_TRITON_LOG_INFO SAGEMAKER_TRITON_SHM_DEFAULT_BYTE_SIZE FL222 python tensorrt ensemble KIND_CPU"
).split(b" ")


def one_input(data: bytes, seconds: float = HANG) -> None:
    """Check a fleet whose files these are.

    Raises:
        AssertionError: a finding has no place or says nothing; a second run says something else; or it takes
            too long.
    """
    given_words = data.split(SEPARATOR, len(FILES) - 1)
    with TemporaryDirectory() as folder:
        root = Path(folder)
        files = dict(zip(FILES, (*given_words, *USUAL[len(given_words) :]), strict=True))
        files["repository/embed/config.pbtxt"] = b'backend: "python"\n'
        files["repository/embed/1/model.py"] = b"class TritonPythonModel: x = 1\n"
        for path, content in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
        began = time.process_time()
        findings = run_check(root)
        took = time.process_time() - began
        if took > seconds:
            raise AssertionError(f"it takes {took:.1f} s")
        if run_check(root) != findings:
            raise AssertionError("two runs find different things")
        _resolve(root)
        _print(findings, root)


def run_check(root: Path) -> list[Finding]:
    """Findings of `fleet check`, of the spec as an endpoint and as a file that lies anywhere."""
    try:
        project = open_project(root, "dev")
    except FindingsError as error:
        if not all(finding.file and finding.message for finding in error.findings):
            raise AssertionError(f"a finding without a file: {error}") from error
        return error.findings
    findings = all_findings(project, [root / FILES[0]])
    for finding in findings:
        if not (finding.file and finding.line and finding.message.strip()):
            raise AssertionError(f"a finding without a place or a message: {finding!r}")
    return findings


def _resolve(root: Path) -> None:
    """The bytes that a deploy would begin with."""
    try:
        resolve_project(open_project(root, "dev"))
    except FindingsError as error:
        if not error.findings:
            raise AssertionError("nothing is said") from error


def _print(findings: list[Finding], root: Path) -> None:
    with redirect_stderr(io.StringIO()) as output:
        show_findings(findings)
    text = [
        output.getvalue(),
        as_json(findings, root),
        as_sarif(findings, root, root),
        as_github(findings, root),
    ]
    "".join(text).encode()


def seeds() -> list[bytes]:
    """Inputs that make sense: the shipped files and the examples of all rules."""
    clone = Path(__file__).resolve().parents[2]
    specs = [file for file in sorted((clone / "model_specs").glob("*.yaml")) if file.name != FOLDER]
    contents = [shipped_spec(clone, spec) for spec in specs]
    contents += [
        USUAL_SPEC + SEPARATOR + file.read_bytes().replace(b"environment: local", b"environment: dev")
        for file in sorted((clone / "environments").glob("*.yaml"))
    ]
    for example in examples().values():
        for case in (example.wrong, example.right):
            archive = {
                "digest": f"sha256:{0:064}",
                "size": case.archive_size,
                "models": dict(case.models or {}),
            }
            spec = {**SPEC, **case.spec, "endpoint": "sentences"}
            names = [model["archive"] for model in spec["models"] if isinstance(model, dict)]
            lock = {"endpoint": "sentences", "archives": dict.fromkeys(names, archive)}
            region = USUAL_ENVIRONMENT.replace(b"us-east-1", case.region.encode())
            contents.append(SEPARATOR.join((_yaml(spec), region, _yaml(lock))))
    return contents


def shipped_spec(clone: Path, spec: Path) -> bytes:
    """A spec, with the environment and the lock of its own, under the name that the target reads.

    The target reads no profile: its keys are in the spec.
    """
    lock = clone / "locks" / "dev" / f"{spec.stem}.lock.yaml"
    text = spec.read_bytes().replace(b"instance: {count: 2}", b"instance: {type: ml.g4dn.4xlarge, count: 2}")
    whole = PROFILE.sub(lambda result: _keys_of(clone, result[1].decode(), spec), text)
    rest = [file.read_bytes() for file in (clone / "environments" / "dev.yaml", lock)]
    return SEPARATOR.join(text.replace(spec.stem.encode(), b"sentences") for text in (whole, *rest))


def _keys_of(clone: Path, profile: str, spec: Path) -> bytes:
    """The keys of a profile and of those that it names, without those that the spec has."""
    keys = yaml.safe_load((clone / "profiles" / f"{profile}.yaml").read_text())
    own = yaml.safe_load(spec.read_text())
    if "profile" in keys:
        keys = {**yaml.safe_load((clone / "profiles" / f"{keys.pop('profile')}.yaml").read_text()), **keys}
    return _yaml({key: value for key, value in keys.items() if key not in own})


def _yaml(document: object) -> bytes:
    class Plain(yaml.SafeDumper):
        """Without anchors, which no file of ours may have."""

        def ignore_aliases(self, data: object) -> bool:
            return True

    text: str = yaml.dump(document, Dumper=Plain, sort_keys=False)
    return text.encode()


def mutations(inputs: list[bytes], chance: random.Random) -> Iterator[bytes]:
    """One of the inputs, changed in one to four places; without end."""
    ways: list[Callable[[bytes, list[bytes], random.Random], bytes]] = [
        _byte,
        _cut,
        _word,
        _value,
        _line,
        nest_bytes,
    ]
    while True:
        data = chance.choice(inputs)
        for _ in range(chance.randint(1, 4)):
            data = chance.choice(ways)(data, inputs, chance)
        yield data


def _byte(data: bytes, _: list[bytes], chance: random.Random) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + chance.randbytes(1) + data[at + chance.randint(0, 1) :]


def _cut(data: bytes, _: list[bytes], chance: random.Random) -> bytes:
    begin = chance.randint(0, len(data))
    end = min(begin + chance.randint(1, 40), len(data))
    times = chance.choice((0, 2, 50))
    return data[:begin] + data[begin:end] * times + data[end:]


def _word(data: bytes, _: list[bytes], chance: random.Random) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + chance.choice(WORDS) + data[at:]


def _value(data: bytes, inputs: list[bytes], chance: random.Random) -> bytes:
    """Values behind a colon become something else: a word, a long number, or what stands elsewhere."""
    places = [at for at in range(len(data)) if data.startswith(b": ", at)]
    if not places:
        return data
    begin = chance.choice(places) + 2
    end = min(
        (at for at in (data.find(end, begin) for end in (b"\n", b",", b"}")) if at >= 0), default=len(data)
    )
    other_word = chance.choice(inputs).split(b": ")[-1].split(b"\n")[0]
    number = b"9" * chance.choice((5, 20, 400, 5000))
    return (
        data[:begin]
        + chance.choice((chance.choice(WORDS), other_word, number, b'"%s"' % number))
        + data[end:]
    )


def _line(data: bytes, inputs: list[bytes], chance: random.Random) -> bytes:
    lines, other_words = data.split(b"\n"), chance.choice(inputs).split(b"\n")
    lines.insert(chance.randint(0, len(lines)), chance.choice(other_words))
    return b"\n".join(lines)


def nest_bytes(data: bytes, _: list[bytes], chance: random.Random) -> bytes:
    at, deep = chance.randint(0, len(data)), chance.choice((2, 30, 2000))
    return data[:at] + chance.choice((b"[", b"{", b"- ", b"a: ", b"]", b'"')) * deep + data[at:]


def fuzz(what: str, inputs: list[bytes], attempt: Callable[[bytes, float], None]) -> int:
    """Try inputs for some time; keep those that break something."""
    parser = argparse.ArgumentParser(description=f"Fuzz {what}.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--keep", type=Path, default=Path("fuzz-crashes"), help="where inputs that break are kept"
    )
    options = parser.parse_args()
    number, broken_values, began = 0, set[str](), time.monotonic()
    for data in mutations(inputs, random.Random(options.seed)):
        if time.monotonic() - began >= options.seconds:
            break
        number += 1
        try:
            attempt(data, SECONDS)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{type(error).__name__} {last.filename}:{last.lineno}"
            if place not in broken_values:
                broken_values.add(place)
                options.keep.mkdir(parents=True, exist_ok=True)
                file = options.keep / hashlib.sha256(data).hexdigest()[:16]
                file.write_bytes(data)
                print(f"{place}: {str(error)[:200]}\n  kept as {file}", flush=True)
    seconds = time.monotonic() - began
    print(
        f"{number:,} inputs in {seconds:.0f} s, {number / seconds:.0f} a second; {len(broken_values)} ways to break it"
    )
    return int(bool(broken_values))


if __name__ == "__main__":
    sys.exit(fuzz("`fleet check`", seeds(), one_input))
