"""AG4, supply chain: what runs is what was pinned and reviewed, and a tool that was swapped is not the approved one."""

import email.parser
import io
import json
import marshal
import re
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Any

import pytest

from acta.infra.environments import select
from acta.infra.packaging.bundle import LOCK_FOLDER, LOCKS, ROOT, SHARED_LOCK, made_for
from acta.infra.packaging.install import InstallFailed, install, target_of
from acta.infra.packaging.tool_catalogue import CATALOGUE, build_folder, to_catalogue
from acta.infra.packaging.tool_lock import make_lock
from acta.infra.tool_folders import BadFolder, ToolFolder, folders_in
from tests.doubles.http_sink import Sink
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import FUNCTIONS, Behind
from tests.e2e.support.conversing import http_tool
from tests.e2e.support.own_tools import tools_dir
from tests.e2e.support.person import Json, Person, refused
from tests.e2e.support.script import Call, do, end, plan
from tests.e2e.support.stage import Stage

HEADER_BYTES = 16
"""Of bytecode (PEP 552)."""


@pytest.fixture(scope="module")
def other() -> Iterator[Sink]:
    """Where a tool is led that was taken over. Tools may reach it."""
    with Sink() as made:
        yield made


@pytest.fixture(scope="module")
def reachable(sink: Sink, other: Sink) -> str:
    return f"{sink.at},{other.at}"


def deployed(behind: Behind, function: str) -> zipfile.ZipFile:
    """The code that runs."""
    return zipfile.ZipFile(io.BytesIO(behind.code(function)))


def pinned(lock: Path) -> set[tuple[str, str]]:
    return set(re.findall(r"^([a-z0-9-]+)==(\S+)", lock.read_text(encoding="utf-8"), re.MULTILINE))


def lock_of(function: str) -> Path:
    return ROOT / LOCK_FOLDER / LOCKS.get(function, SHARED_LOCK)


@cache
def catalogue() -> bytes:
    """What the functions that know Python tools have of them: made anew from the folders."""
    local = select("local")
    built = [build_folder(each, target_of(local)) for each in folders_in(tools_dir(), local.name)]
    return to_catalogue(built, local.name, local.longest_tool_seconds)


def is_bytecode_of(source: bytes, bytecode: bytes) -> bool:
    """Python runs it without a look at the source that lies beside it."""
    assert bytecode[: len(MAGIC_NUMBER)] == MAGIC_NUMBER
    return bool(marshal.loads(bytecode[HEADER_BYTES:]) == compile(source, "", "exec", dont_inherit=True))


def in_tree(name: str) -> Path:
    """The source of a file of the zip."""
    return ROOT / name


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(name, marks=() if name in ("start", "step") else pytest.mark.thorough)
        for name in FUNCTIONS
    ],
)
def test_a_function_runs_this_tree_s_sources_and_the_libraries_of_its_lock(
    behind: Behind, function: str
) -> None:
    made = {place.as_posix(): path.read_bytes() for path, place in made_for(function, ROOT)}
    known = {**made, CATALOGUE.as_posix(): catalogue()}
    with deployed(behind, function) as code:
        names = [name for name in code.namelist() if not name.endswith("/")]
        ours = [name for name in names if name.startswith("acta/")]
        assert f"acta/functions/{function}/handler.py" in ours
        for name in ours:
            if name.endswith(".pyc"):
                folder, _, file = name.rpartition("/__pycache__/")
                source = in_tree(f"{folder}/{file.partition('.')[0]}.py").read_bytes()
                assert is_bytecode_of(source, code.read(name)), name
            else:
                assert code.read(name) == (known.get(name) or in_tree(name).read_bytes()), name
        assert made.keys() <= set(names)
        parse = email.parser.HeaderParser().parsestr
        metadata = [parse(code.read(name).decode()) for name in names if name.endswith(".dist-info/METADATA")]
    libraries = {(re.sub(r"[-_.]+", "-", each["Name"]).lower(), each["Version"]) for each in metadata}
    assert libraries <= pinned(lock_of(function))
    assert {"pydantic", "aws-lambda-powertools"} <= {name for name, _ in libraries}


@pytest.mark.thorough
@pytest.mark.parametrize("function", ["start", "step"])
def test_a_library_s_files_are_those_of_the_wheels_that_the_lock_has_the_hashes_of(
    behind: Behind, function: str, tmp_path: Path
) -> None:
    """Against wheels that are installed anew. Nothing is in the zip that is in none of them."""
    install(lock_of(function), tmp_path, target_of(select("local")))
    with deployed(behind, function) as code:
        for name in code.namelist():
            if name.endswith("/") or name.startswith("acta/") or ".dist-info/" in name:
                continue
            if name.endswith(".pyc"):
                source = tmp_path / re.sub(r"__pycache__/([^.]+)\..*", r"\1.py", name)
                assert is_bytecode_of(source.read_bytes(), code.read(name)), name
            else:
                assert code.read(name) == (tmp_path / name).read_bytes(), name


def test_a_wheel_that_is_not_the_pinned_one_is_not_installed(tmp_path: Path) -> None:
    """Somebody has replaced it where it is downloaded from: same name, same version."""
    lock = tmp_path / "functions.txt"
    (line,) = [each for each in pinned(lock_of("start")) if each[0] == "typing-extensions"]
    lock.write_text(f"{line[0]}=={line[1]} --hash=sha256:{'0' * 64}\n")
    with pytest.raises(InstallFailed, match=r"(?i)hash"):
        install(lock, tmp_path / "libraries", target_of(select("local")))
    assert not list(tmp_path.rglob("typing_extensions.py"))


@pytest.mark.parametrize("asked", ["./evil", "-e ./evil", "evil @ file://{here}/evil", "--find-links {here}"])
def test_no_code_of_a_package_runs_where_a_folder_of_tools_is_locked_and_built(
    tmp_path: Path, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a package runs when it is built would have the keys and files of whoever deploys."""
    mark = tmp_path / "ran"
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil" / "setup.py").write_text(
        f"open({str(mark)!r}, 'w')\nfrom setuptools import setup\nsetup(name='evil')\n"
    )
    (tmp_path / "tools.py").write_text("")
    (tmp_path / "requirements.txt").write_text(f"iniconfig\n{asked.format(here=tmp_path)}\n")
    monkeypatch.chdir(tmp_path)
    folder = ToolFolder("orders", tmp_path, tenants=())
    with pytest.raises(BadFolder, match="is not the name of a library"):
        make_lock(folder)
    (tmp_path / "requirements.lock").write_text(f"{asked.format(here=tmp_path)}\n")
    with pytest.raises(BadFolder):
        build_folder(folder, target_of(select("local")))
    with suppress(InstallFailed):
        install(folder.lock, tmp_path / "libraries", target_of(select("local")))
    assert not mark.exists()


def test_npm_runs_no_script_of_a_package_that_it_installs(tmp_path: Path) -> None:
    """npm finds the settings beside the `package.json` of what it installs."""
    mark, package = tmp_path / "ran", {"name": "evil", "version": "1.0.0"}
    (tmp_path / "evil").mkdir()
    told = {**package, "scripts": {"preinstall": f"touch {mark}", "install": f"touch {mark}"}}
    (tmp_path / "evil" / "package.json").write_text(json.dumps(told))
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "package.json").write_text(json.dumps({**package, "name": "ours"}))
    (tmp_path / "ours" / ".npmrc").write_text((ROOT / ".npmrc").read_text())
    command = ("npm", "install", "--offline", "--install-links", "--no-audit", "--no-fund", "../evil")
    subprocess.run(command, cwd=tmp_path / "ours", capture_output=True, check=True)
    assert (tmp_path / "ours" / "node_modules" / "evil" / "package.json").exists()
    assert not mark.exists()


def changed(tool: Json, url: str) -> Json:
    """What a `PUT` takes."""
    kept = {name: value for name, value in tool.items() if name != "name"}
    return {**kept, "config": {**tool["config"], "url": url}}


def test_a_tool_that_was_led_elsewhere_after_it_was_approved_is_asked_about_anew(
    boss: Person, admit: Admit, llmock: Any, sink: Sink, other: Sink
) -> None:
    ann = admit(boss.tenant, "ann")
    stage = Stage(ann, llmock.tool_mode("off"))
    tool = http_tool("refund", sink.url("/refund"))
    assert boss.post("/v1/tools", tool).status_code == 201
    stage.prepare(do(plan("Pay back")), do(Call("refund", {"n": 7}), text="I pay back."))
    session_id = ann.start("Pay back 7")
    (approved,) = ann.asked(session_id).session["interventions"]

    assert boss.http.put("/v1/tools/refund", json=changed(tool, other.url("/collect"))).status_code == 200
    stage.prepare(do(Call("refund", {"n": 7}), text="Once more."))
    assert ann.resolve(session_id, approved["intervention_id"], "approve").status_code == 200
    seen = ann.watch(
        session_id,
        lambda s: [one["intervention_id"] for one in s["interventions"]] not in ([], [approved["intervention_id"]]),
    )  # fmt: skip
    (anew,) = seen.session["interventions"]
    assert (anew["type"], anew["tool_call"]["name"]) == ("approval_required", "refund")
    assert sink.heard == other.heard == []

    stage.prepare(end("It was changed.", 1))
    assert ann.resolve(session_id, anew["intervention_id"], "reject").status_code == 200
    seen = ann.finished(session_id)
    assert any(text.startswith("Error: the tool refund was changed") for text in stage.results(seen))
    assert sink.heard == other.heard == []


def test_no_admin_brings_in_a_function_a_server_or_a_model_that_the_operator_has_not_chosen(
    boss: Person, behind: Behind
) -> None:
    lends = {"description": "x", "input_schema": {"type": "object"}}
    for name, kind, config, field in (
        ("of_another", "lambda", {"function": "acta-local-tool-of-another"}, "config.function"),
        ("outside", "http", {"url": "https://tools.evil.example/run", "method": "POST"}, "config.url"),
    ):
        tool = {"name": name, "kind": kind, "config": config, **lends}
        assert list(refused(boss.post("/v1/tools", tool), 400, "VALIDATION_ERROR")["details"]) == [field]
    server = {"name": "tools", "kind": "mcp", "config": {"url": "https://tools.evil.example/mcp"}, **lends}
    assert boss.post("/v1/tools", server).status_code == 400
    with behind.configured("admin", ACTA_ALLOWED_MODELS="claude-chosen"):
        for model in ({"model": "claude-other"}, {"models": {"think": "claude-other"}}):
            error = refused(boss.post("/v1/agents", {"name": "Mine", **model}), 400, "VALIDATION_ERROR")
            assert all(field.startswith("model") for field in error["details"])
        assert boss.post("/v1/agents", {"name": "Mine", "model": "claude-chosen"}).status_code == 201
