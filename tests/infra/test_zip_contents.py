from pathlib import Path
from typing import get_args

import pytest

from acta.engine.api.operation import Operation
from acta.engine.api.operations import OPERATIONS
from acta.infra.packaging.bundle import OFFLINE, ROOT
from acta.infra.packaging.zip_contents import OURS, reach
from acta.infra.sizing import FunctionName

STORES = ("dynamodb.py", "s3.py", "repository.py")


def write(root: Path, **modules: str) -> None:
    for name, text in modules.items():
        module = name.replace("__", "/")
        path = root / f"{module}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(text)


def names(root: Path) -> list[str]:
    return [path.relative_to(root).as_posix() for path in reach(root, "acta.functions.start").files]


def test_a_function_reaches_what_it_imports_and_what_that_imports(tmp_path: Path) -> None:
    write(
        tmp_path,
        acta__functions__start__handler="from acta.engine.a import b\nimport boto3.session\n",
        acta__engine__a__b="def f():\n    import acta.engine.c\n",
        acta__engine__c="from pydantic import BaseModel\n",
        acta__engine__d="",
    )
    assert [name for name in names(tmp_path) if not name.endswith("__init__.py")] == [
        "acta/engine/a/b.py",
        "acta/engine/c.py",
        "acta/functions/start/handler.py",
    ]
    assert reach(tmp_path, "acta.functions.start").libraries == {"boto3", "pydantic"}


def test_a_package_comes_with_its_init_and_its_data(tmp_path: Path) -> None:
    write(tmp_path, acta__functions__start__handler="import acta.engine.a.b\n", acta__engine__a__b="")
    (tmp_path / "acta" / "engine" / "a" / "prompt.md").write_text("plan")
    assert {"acta/engine/a/__init__.py", "acta/engine/a/prompt.md"} <= set(names(tmp_path))


def test_a_package_that_imports_its_modules_by_name_brings_all_of_them(tmp_path: Path) -> None:
    write(
        tmp_path,
        acta__functions__start__handler="from acta.engine.a import b\n",
        acta__engine__a__tool="import acta.engine.c\n",
        acta__engine__c="",
        acta__engine__d="",
    )
    package = tmp_path / "acta" / "engine" / "a" / "__init__.py"
    package.write_text("from importlib import import_module\n")
    assert {"acta/engine/a/tool.py", "acta/engine/c.py"} <= set(names(tmp_path))
    assert "acta/engine/d.py" not in names(tmp_path)


def test_a_package_that_is_left_out_is_not_reached_nor_what_it_alone_imports(tmp_path: Path) -> None:
    write(
        tmp_path,
        acta__functions__start__handler="def f():\n    from acta.engine.a.b import c\n",
        acta__engine__a__b="import acta.engine.e\nimport httpx\n",
        acta__engine__c="",
        acta__engine__e="",
    )
    found = reach(tmp_path, "acta.functions.start", without=("acta.engine.a",))
    assert {path.name for path in found.files} == {"__init__.py", "handler.py"}
    assert found.libraries == set()


def test_nobody_but_who_chooses_a_model_imports_the_offline_stand_in() -> None:
    """That a handler imports without it is a test of the bundles."""
    module = ROOT / f"{OFFLINE.replace('.', '/')}.py"
    others = [path for top in OURS for path in (ROOT / top).rglob("*.py") if path != module]
    imports = [path.name for path in others if f"from {OFFLINE} import" in path.read_text()]
    assert imports == ["choose.py"]


def test_a_relative_import_is_refused_by_its_place(tmp_path: Path) -> None:
    write(tmp_path, acta__functions__start__handler="from . import x\n")
    with pytest.raises(ValueError, match=r"handler\.py:1: imports are absolute here"):
        reach(tmp_path, "acta.functions.start")


@pytest.mark.parametrize("function", sorted(set(get_args(FunctionName)) - {"step"}))
def test_no_function_but_step_reaches_an_llm_or_its_sdk(function: str) -> None:
    found = reach(ROOT, f"acta.functions.{function}")
    assert not found.libraries & {"anthropic", "openai"}
    assert not [path for path in found.files if "acta/engine/models/anthropic" in path.as_posix()]


@pytest.mark.parametrize("function", ["console", "fallback"])
def test_what_strangers_reach_has_no_store_and_no_service_in_it(function: str) -> None:
    found = reach(ROOT, f"acta.functions.{function}")
    assert not found.libraries & {"boto3", "botocore"}
    assert not [path for path in found.files if path.parent.name == "aws" or path.name in STORES]


@pytest.mark.parametrize("row", OPERATIONS, ids=str)
def test_a_function_has_the_handlers_of_its_operations_in_it(row: Operation) -> None:
    handler = ROOT / Path(*row.module.split(".")).with_suffix(".py")
    assert handler in reach(ROOT, f"acta.functions.{row.function}").files


@pytest.mark.parametrize("function", get_args(FunctionName))
def test_no_function_reaches_the_client_or_the_installer(function: str) -> None:
    found = reach(ROOT, f"acta.functions.{function}")
    assert "acta" not in found.libraries
    assert {path.relative_to(ROOT).parts[1] for path in found.files} == {"__init__.py", "functions", "engine"}


def test_what_admins_define_tools_with_does_not_bring_the_log_of_sessions_along() -> None:
    """It is cold whenever somebody comes; a trial's answer once brought 25 modules to it."""
    found = reach(ROOT, "acta.functions.admin")
    assert not [path for path in found.files if path.as_posix().endswith("acta/engine/log/repository.py")]
