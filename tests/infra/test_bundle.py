"""What is in a zip, what is not, and how large it is."""

import gzip
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from acta.engine.api.fallback import DOCUMENT, PAGE, PARTS
from acta.infra.document.openapi import document
from acta.infra.environments import Architecture, select
from acta.infra.packaging.bundle import KEPT, LOCK_FOLDER, ROOT, Bundler, NotMade
from acta.infra.packaging.install import InstallFailed, InstallTarget, target_of
from acta.infra.sizing import FunctionName

FUNCTIONS: tuple[str, ...] = get_args(FunctionName)
HOST = target_of(select("local"))
CLOUD = target_of(select("prod"))
LIMIT = 5_500_000
"""Bytes of zip for what answers over HTTP. The clocks of all time zones are 0.3 MB of `start`."""


def zipped(folder: Path) -> int:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return len(buffer.getvalue())


def tree(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Path -> mode, time and content of everything in it."""
    return {
        path.relative_to(folder).as_posix(): (
            path.stat().st_mode,
            path.stat().st_mtime_ns,
            b"" if path.is_dir() else path.read_bytes(),
        )
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def small_tree(tmp_path: Path) -> Path:
    """A small repository of the same shape, with an empty lock."""
    for name in (
        "acta/functions/start/handler.py",
        "acta/functions/start/__init__.py",
        "acta/functions/__init__.py",
        "acta/__init__.py",
        "acta/engine/x.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("" if name.endswith("__init__.py") else f"import acta.engine.x\nNAME = {name!r}\n")
    (tmp_path / LOCK_FOLDER).mkdir(parents=True)
    (tmp_path / LOCK_FOLDER / "functions.txt").write_text("# nothing\n")
    return tmp_path


@pytest.mark.parametrize("function", ["start", "status"])
@pytest.mark.parametrize("target", [HOST, CLOUD], ids=["host", "cloud"])
def test_what_answers_over_http_is_small(function: str, target: InstallTarget) -> None:
    assert zipped(Bundler(target).build(function)) <= LIMIT


@pytest.mark.parametrize("function", FUNCTIONS)
def test_only_step_ships_llm_sdks_and_none_ships_what_the_runtime_has(function: str) -> None:
    shipped = {path.name for path in Bundler(HOST).build(function).iterdir()}
    assert ({"anthropic", "openai"} <= shipped) == (function == "step")
    assert {"acta", "pydantic", "aws_lambda_powertools"} <= shipped
    assert not shipped & {"boto3", "botocore", "s3transfer", "bin", "tests"}
    assert "aws_xray_sdk" not in shipped, "Lambda traces the invocations, and nothing traces what is in them"


def shipped(name: str) -> set[str]:
    """The files of `step` in an environment's zip."""
    environment = select(name)
    bundle = Bundler(target_of(environment), offline=environment.offline).build("step")
    return {path.relative_to(bundle).as_posix() for path in bundle.rglob("*.py")}


@pytest.mark.parametrize(("name", "is_there"), [("local", True), ("dev", False), ("prod", False)])
def test_the_offline_stand_in_is_in_the_zips_of_environments_that_may_choose_it(
    name: str, is_there: bool
) -> None:
    assert ("acta/engine/models/offline.py" in shipped(name)) is is_there


def test_without_the_stand_in_a_call_without_a_key_is_refused_as_that() -> None:
    bundle = Bundler(HOST).build("step")
    program = (
        f"import sys; sys.path.insert(0, {str(bundle)!r})\n"
        "from acta.engine.models.choose import choose\n"
        "from acta.engine.errors import ProviderKeyRefused\n"
        "from acta.engine.settings import Settings\n"
        "model, _ = choose(Settings(env='prod', table='t', bucket='b'), {}, lambda name, refresh=False: '')\n"
        "try: model.complete(None, timeout=1)\n"
        "except ProviderKeyRefused as refused: print(refused.code)\n"
    )
    python = ROOT / ".venv-runtime" / "bin" / "python"
    done = subprocess.run([python, "-B", "-I", "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("PROVIDER_KEY_REFUSED", "")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_handler_imports_from_its_bundle_and_the_runtime_alone(function: str) -> None:
    bundle = Bundler(HOST).build(function)
    program = (
        f"import sys; sys.path.insert(0, {str(bundle)!r}); import acta.functions.{function}.handler as made; "
        "assert callable(made.handler); print(*{'anthropic', 'openai'} & set(sys.modules)); "
        "from acta.engine.store.schema import FrozenModel; "
        "print(*[one for one in FrozenModel.__subclasses__() if one.__pydantic_complete__])"
    )
    environ = {
        "PATH": os.environ["PATH"],
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_LAMBDA_FUNCTION_NAME": function,
        "POWERTOOLS_METRICS_NAMESPACE": "Acta",
        "ACTA_ENV": "local",
        "ACTA_IS_LOCAL": "true",
        "ACTA_TABLE": "table",
        "ACTA_BUCKET": "bucket",
        "ACTA_STATE_MACHINE_ARN": "arn:aws:states:us-east-1:000000000000:stateMachine:acta-local",
    }
    done = subprocess.run(
        [ROOT / ".venv-runtime" / "bin" / "python", "-B", "-I", "-c", program],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""


def test_the_cloud_gets_its_own_platform_s_wheels() -> None:
    compiled = [path.name for path in Bundler(CLOUD).build("start").rglob("*.so")]
    assert compiled
    assert not any("x86_64" in name or "darwin" in name for name in compiled)


MACHINES = {"arm64": 183, "x86_64": 62}
"""Architecture -> `e_machine` in the header of an ELF file."""
RUNTIME_GLIBC = (2, 34)
"""Of Amazon Linux 2023, the system of Lambda's Python runtimes since 3.12. Source: AL2023 user guide, "glibc"."""


@pytest.mark.parametrize(
    ("function", "architecture"),
    [
        pytest.param(
            function, machine, marks=() if (function, machine) == ("step", "arm64") else pytest.mark.thorough
        )
        for function in FUNCTIONS
        for machine in MACHINES
    ],
)
def test_lambda_can_load_every_shared_object(function: str, architecture: Architecture) -> None:
    bundle = Bundler(target_of(replace(select("prod"), architecture=architecture))).build(function)
    objects = [path for path in bundle.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    assert objects
    for path in objects:
        content = path.read_bytes()
        assert int.from_bytes(content[18:20], "little") == MACHINES[architecture], path.name
        wanted = {(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", content)}
        assert max(wanted, default=RUNTIME_GLIBC) <= RUNTIME_GLIBC, path.name


def test_bytecode_is_there_only_where_the_builder_s_python_is_the_target_s(small_tree: Path) -> None:
    other = (sys.version_info.major, sys.version_info.minor + 1)
    same, foreign = Bundler(HOST, small_tree), Bundler(replace(HOST, python=other), small_tree)
    assert list(same.build("start").rglob("*.pyc"))
    assert not list(foreign.build("start").rglob("*.pyc"))


def test_bytecode_is_trusted_without_a_look_at_the_source_s_time(small_tree: Path) -> None:
    for path in Bundler(HOST, small_tree).build("start").rglob("*.pyc"):
        assert int.from_bytes(path.read_bytes()[4:8], "little") == 0b01  # PEP 552: hash-based, unchecked


def test_two_builds_of_one_tree_are_the_same(small_tree: Path) -> None:
    first = Bundler(HOST, small_tree).build("start")
    before = tree(first)
    first.rename(first.with_name("kept"))
    assert tree(Bundler(HOST, small_tree).build("start")) == before


def test_an_unchanged_tree_is_not_built_again_and_a_changed_one_is(small_tree: Path) -> None:
    bundler = Bundler(HOST, small_tree)
    first = bundler.build("start")
    (first / "mark").write_text("")
    assert (bundler.build("start") / "mark").exists()
    (small_tree / "acta" / "engine" / "x.py").write_text("NAME = 'new'\n")
    again = bundler.build("start")
    assert not (again / "mark").exists()
    assert (again / "acta" / "engine" / "x.py").read_text() == "NAME = 'new'\n"


def test_what_tests_and_editors_leave_behind_changes_nothing(small_tree: Path) -> None:
    bundler = Bundler(HOST, small_tree)
    before = bundler.key("start")
    (small_tree / "acta" / "engine" / "__pycache__").mkdir()
    (small_tree / "acta" / "engine" / "__pycache__" / "x.pyc").write_bytes(b"old")
    assert bundler.key("start") == before


def test_a_lock_that_cannot_be_installed_leaves_no_half_bundle(small_tree: Path) -> None:
    (small_tree / LOCK_FOLDER / "functions.txt").write_text("pydantic==2.14.3\n")  # no hash
    with pytest.raises(InstallFailed, match="must have a hash"):
        Bundler(HOST, small_tree).build("start")
    assert list((small_tree / "build" / "bundle").iterdir()) == []


def test_without_the_page_and_its_sources_it_is_said_what_to_install(small_tree: Path) -> None:
    (small_tree / "acta" / "functions" / "console").mkdir()
    with pytest.raises(NotMade, match="install the wheel or the sdist of `make dist`"):
        Bundler(HOST, small_tree).key("console")


def test_the_cache_keeps_a_bounded_number_of_bundles(small_tree: Path) -> None:
    bundler = Bundler(HOST, small_tree)
    for change in range(KEPT + 2):
        (small_tree / "acta" / "engine" / "x.py").write_text(f"NAME = {change}\n")
        newest = bundler.build("start")
    left = list((small_tree / "build" / "bundle").glob("start-*"))
    assert len(left) == KEPT
    assert newest in left


def test_a_bundle_that_is_found_again_stays_while_older_ones_go(small_tree: Path) -> None:
    bundler, module = Bundler(HOST, small_tree), small_tree / "acta/engine/x.py"
    module.write_text("X = 'used'\n")
    used = bundler.build("start")
    mark = used / "not-made-again"
    mark.touch()
    for change in range(KEPT + 2):
        module.write_text(f"X = {change}\n")
        bundler.build("start")
        module.write_text("X = 'used'\n")
        assert bundler.build("start") == used
    assert mark.exists()


def test_the_document_of_the_api_is_in_the_zip_of_who_serves_it_and_in_no_other() -> None:
    names = {"fallback": {f"{name}.gz" for name in (DOCUMENT, PAGE, *PARTS)}, "console": {"page.html.gz"}}
    for function in FUNCTIONS:
        found = {path.name for path in Bundler(HOST).build(function).rglob("*.gz")}
        assert found == names.get(function, set())
    made = Bundler(HOST).build("fallback") / "acta" / "functions" / "fallback" / "made"
    served = json.loads(gzip.decompress((made / f"{DOCUMENT}.gz").read_bytes()))
    assert served == document()


@pytest.mark.parametrize("function", ["fallback", "console"])
def test_what_strangers_reach_is_a_small_zip_all_the_same(function: str) -> None:
    assert zipped(Bundler(CLOUD).build(function)) <= LIMIT


def test_another_document_is_another_bundle(tmp_path: Path) -> None:
    def key(text: str) -> str:
        maker = tmp_path / "acta" / "infra" / "document"
        maker.mkdir(parents=True, exist_ok=True)
        for package in (
            "acta",
            "acta/infra",
            "acta/infra/document",
            "acta/functions",
            "acta/functions/fallback",
        ):
            (tmp_path / package).mkdir(parents=True, exist_ok=True)
            (tmp_path / package / "__init__.py").touch()
        (maker / "__main__.py").write_text(
            f"import pathlib, sys\n(pathlib.Path(sys.argv[1]) / 'x.gz').write_text({text!r})\n"
        )
        (tmp_path / LOCK_FOLDER).mkdir(parents=True, exist_ok=True)
        (tmp_path / LOCK_FOLDER / "functions.txt").write_text("# nothing\n")
        return Bundler(HOST, tmp_path).key("fallback")

    assert key("one") != key("two")
    assert key("one") == key("one")
    (tmp_path / "acta" / "infra" / "document" / "__main__.py").write_text("raise SystemExit('no such route')")
    with pytest.raises(NotMade, match="no such route"):
        Bundler(HOST, tmp_path).key("fallback")
