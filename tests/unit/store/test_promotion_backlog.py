"""`fleet diff`: what main and the environment before have that prod does not have yet, in words."""

from __future__ import annotations

import json

import pytest

from tests.support.fleet_folder import ALLOWED_FINDINGS, SPEC, FleetFolder
from tests.support.git_repository import GitRepository
from tests.support.selections import environments_read
from triton_fleet.cli.commands import app
from triton_fleet.findings import FindingsError

WAITS = "waits for promotion: prod would change"
SIZE = 3 << 20
OWN = SPEC.replace("../repo", "../../repo") + ALLOWED_FINDINGS


def lock(digest: str, *, size: int = SIZE, models: str = "[embed]", more: str = "") -> str:
    archive = f'sentences: {{digest: "sha256:{digest * 64}", size: {size}, models: {models}}}'
    return f"endpoint: sentences\narchives:\n  {archive}\n{more}"


@pytest.fixture
def fleet(folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> FleetFolder:
    """prod has what staging has, and staging follows main."""
    for number, name in enumerate(("dev", "staging", "prod")):
        folder.environment("promoted_from: staging\n" if name == "prod" else "", name, account=number)
    folder.spec()
    folder.write("locks/staging/sentences.lock.yaml", lock("a"))
    folder.write("locks/prod/sentences.lock.yaml", lock("a"))
    folder.write("locks/prod/sentences.spec.yaml", OWN)
    monkeypatch.chdir(folder.root)
    return folder


def output_lines(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    app(["diff", "--env", "prod", *arguments], standalone_mode=False)
    return capsys.readouterr().out.splitlines()


def test_an_environment_that_is_up_to_date(fleet: FleetFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert output_lines(capsys) == ["prod is up to date with main and staging"]


def test_keys_that_changed_on_main(fleet: FleetFolder, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.spec("scaling: {min: 1, max: 4, gpu_utilization: 60}\n", base=SPEC.replace("g5.x", "g5.2x"))
    first, last = output_lines(capsys)
    start = "waits for promotion: prod would change sentences: instance.type ml.g5.xlarge → ml.g5.2xlarge; scaling "
    assert first.startswith(f'{start}none → {{"min": 1, "max": 4, ')
    assert first.endswith("…, +77.04 USD a month at min, +3,349.44 at max")
    assert last == "run `fleet promote --to prod sentences` to copy what staging runs"


def test_content_that_the_environment_before_has(
    fleet: FleetFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.write("locks/staging/sentences.lock.yaml", lock("b", size=2 * SIZE, models="[embed, rank]"))
    assert "  staging  archive sentences: other files, model rank is new, 3.1 MB → 6.3 MB" in output_lines(
        capsys
    )


def test_an_endpoint_that_was_never_promoted(fleet: FleetFolder, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.write("model_specs/ranking.yaml", SPEC.replace("endpoint: sentences", "endpoint: ranking"))
    assert output_lines(capsys) == [
        "waits for promotion: prod would get ranking: 1 × ml.g5.xlarge, +1,013.76 USD a month",
        "  prod does not have it; it has no lock in staging",
    ]


def test_an_endpoint_that_main_has_no_more(fleet: FleetFolder, capsys: pytest.CaptureFixture[str]) -> None:
    (fleet.root / "model_specs/sentences.yaml").unlink()
    assert output_lines(capsys) == [
        "sentences: main no longer has it; `fleet destroy sentences --env prod` removes it"
    ]


def test_a_value_that_looks_like_a_secret_is_not_shown(
    fleet: FleetFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.spec("environment: {API_TOKEN: hf_abcdefghijklmnop}\nallow: {plain-text-secret: a test}\n")
    text = "\n".join(output_lines(capsys))
    assert "environment.API_TOKEN none → (not shown)" in text
    assert "hf_abc" not in text


def test_as_json(fleet: FleetFolder, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.spec(base=SPEC.replace("g5.x", "g5.2x"))
    (endpoint,) = json.loads("\n".join(output_lines(capsys, "--format", "json")))["endpoints"]
    assert (endpoint["name"], endpoint["state"]) == ("sentences", "changed")
    assert endpoint["spec"] == [
        {"key": "instance.type", "change": "`instance.type`: ml.g5.xlarge → ml.g5.2xlarge"}
    ]
    assert endpoint["pending"]["changes"] == endpoint["spec"]
    assert endpoint["pending"]["cost"]["max"]["difference"] == "77.04"
    assert endpoint["pending"]["refused_by"] == []


def test_endpoints_are_selected(fleet: FleetFolder, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.write("model_specs/ranking.yaml", SPEC.replace("endpoint: sentences", "endpoint: ranking"))
    assert output_lines(capsys, "sentences") == ["sentences in prod is up to date with main and staging"]


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("model_specs/ranking.yaml", ["ranking"]),
        ("repository/embed", ["ranking", "sentences"]),
        ("changed:HEAD", ["ranking", "sentences"]),
        ("locks/prod/sentences.spec.yaml", ["sentences"]),
        ("instance=g5.2xlarge", ["ranking", "sentences"]),
        ("rank*", ["ranking"]),
    ],
)
def test_what_waits_is_selected_by_what_it_is_made_from(
    fleet: FleetFolder, capsys: pytest.CaptureFixture[str], selector: str, names: list[str]
) -> None:
    fleet.write("repository/embed/config.pbtxt", 'backend: "python"\n')
    GitRepository.around(fleet.root)
    fleet.spec(base=SPEC.replace("g5.x", "g5.2x"))
    text = SPEC.replace("endpoint: sentences", "endpoint: ranking").replace("g5.x", "g5.2x")
    fleet.write("model_specs/ranking.yaml", text)
    document = json.loads("\n".join(output_lines(capsys, selector, "--format", "json")))
    assert [endpoint["name"] for endpoint in document["endpoints"]] == names


def test_a_deleted_spec_selects_the_endpoint_that_waits_for_its_end(
    fleet: FleetFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    GitRepository.around(fleet.root)
    (fleet.root / "model_specs/sentences.yaml").unlink()
    assert output_lines(capsys, "model_specs/sentences.yaml")[0].startswith(
        "sentences: main no longer has it"
    )


@pytest.mark.parametrize(
    ("selector", "is_selected"),
    [
        ("owner=search,changed:HEAD", True),
        ("changed:HEAD,owner=search,instance=g5*", True),
        ("changed:HEAD,sentences", True),
        ("changed:HEAD", True),
        ("owner=ranking,changed:HEAD", False),
        ("owner=search,owner=ranking,changed:HEAD", False),
    ],
)
def test_an_endpoint_that_waits_for_its_end_is_selected_by_the_spec_that_the_environment_has(
    fleet: FleetFolder, capsys: pytest.CaptureFixture[str], selector: str, is_selected: bool
) -> None:
    fleet.write("locks/prod/sentences.spec.yaml", f"{OWN}owner: {{team: search}}\n")
    text = SPEC.replace("endpoint: sentences", "endpoint: ranking")
    fleet.write("model_specs/ranking.yaml", f"{text}owner: {{team: ranking}}\n")
    fleet.write("locks/prod/ranking.spec.yaml", f"{text}owner: {{team: ranking}}\n")
    GitRepository.around(fleet.root)
    (fleet.root / "model_specs/sentences.yaml").unlink()
    document = json.loads("\n".join(output_lines(capsys, selector, "--format", "json")))
    assert [endpoint["name"] for endpoint in document["endpoints"]] == (["sentences"] if is_selected else [])


def test_a_file_that_concerns_nothing_is_a_note_or_an_empty_document(
    fleet: FleetFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.write("app.py", "")
    assert output_lines(capsys, "app.py") == []
    assert json.loads("\n".join(output_lines(capsys, "app.py", "--format", "json")))["endpoints"] == []


@pytest.mark.parametrize("selector", ["instance=g5.xlarge", "instance=g5.2xlarge", "instance=*"])
def test_a_mistake_on_main_is_not_hidden_by_what_the_environment_has(
    fleet: FleetFolder, capsys: pytest.CaptureFixture[str], selector: str
) -> None:
    fleet.write("model_specs/ranking.yaml", "endpoint: ranking\n")
    with pytest.raises(FindingsError, match="FL111"):
        output_lines(capsys, selector)


def test_an_environment_before_that_is_wrong_is_not_hidden(
    fleet: FleetFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.environment("promoted_from: dev\n", "staging")
    fleet.write("locks/staging/sentences.spec.yaml", OWN)
    fleet.write("environments/dev.yaml", "environment: dev\n")
    with pytest.raises(FindingsError, match="FL111"):
        output_lines(capsys, "instance=g5.xlarge")


def test_specs_are_read_once_for_each_environment_however_many_paths_are_named(
    fleet: FleetFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = environments_read(monkeypatch)
    output_lines(capsys, *(str(fleet.write(f"repository/embed/{number}.txt", "")) for number in range(5)))
    assert read == ["prod", "staging"]


def test_an_endpoint_that_the_environment_leaves_out_is_refused(
    fleet: FleetFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.write("model_specs/ranking.yaml", SPEC.replace("endpoint: sentences", "endpoint: ranking"))
    fleet.environment("promoted_from: staging\nendpoints: [sentences]\n", "prod")
    with pytest.raises(FindingsError, match="FL511"):
        output_lines(capsys, "ranking")


def test_nothing_waits_for_an_environment_that_follows_main(
    fleet: FleetFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(FindingsError, match="staging has no `promoted_from`"):
        app(["diff", "--env", "staging"], standalone_mode=False)


def test_the_environment_before_may_be_promoted_to_itself(
    fleet: FleetFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.environment("promoted_from: dev\n", "staging")
    fleet.write("locks/staging/sentences.spec.yaml", OWN.replace("g5.x", "g5.2x"))
    assert output_lines(capsys) == [
        "sentences:",
        "  staging  `instance.type`: ml.g5.xlarge → ml.g5.2xlarge",
        "run `fleet promote --to prod sentences` to copy what staging runs",
    ]


def test_what_main_alone_has_cannot_be_promoted_yet(
    fleet: FleetFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.environment("promoted_from: dev\n", "staging")
    fleet.write("locks/staging/sentences.spec.yaml", OWN)
    fleet.spec(base=SPEC.replace("g5.x", "g5.2x"))
    assert output_lines(capsys) == [
        f"{WAITS} sentences: instance.type ml.g5.xlarge → ml.g5.2xlarge, +77.04 USD a month"
    ]
