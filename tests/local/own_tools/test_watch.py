"""Folders of tools that change while a stack serves: what is built, put and said. The Lambda service is a list."""

import hashlib
import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from acta.infra.local.stack import LocalStack, StackFailed
from acta.infra.local.tool_watch import Build, DeployFailed, ToolWatch, seen
from acta.infra.packaging.install import InstallTarget
from acta.infra.packaging.tool_catalogue import BuiltFolder, build_folder
from acta.infra.tool_folders import BadFolder, ToolFolder, folders_in

TOOL = '''from acta import tool

STATE = "sent"


@tool(effect="read")
def lookup_order(number: str) -> str:
    """Looks an order up."""
    return STATE
'''


def built(folder: ToolFolder, target: InstallTarget) -> BuiltFolder:
    """Without libraries and without a process that says what the tools are."""
    text = (folder.path / "tools.py").read_text()
    if "nothing" in text:
        raise BadFolder(f"{folder.path}: tools.py line 3: NameError")
    found = re.findall(r'def (\w+)\((.*)\).*\n    """(.*)"""', text)
    specs = [{"name": name, "parameters": given, "description": said} for name, given, said in found]
    return BuiltFolder(folder, folder.path, hashlib.sha256(text.encode()).hexdigest(), specs)


class FakeStack:
    """`put`: what was put into Lambdas. `deployments`: how often all was deployed; `failure`: what it raises."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.put: list[tuple[str, str]] = []
        self.deployments = 0
        self.failure: DeployFailed | None = None

    @property
    def tools_dir(self) -> Path | None:
        return self.root if self.root.is_dir() else None

    def tool_folders(self) -> tuple[ToolFolder, ...]:
        return folders_in(self.tools_dir, "local")

    def lambdas(self) -> Any:
        return self

    def update_function_code(self, *, FunctionName: str, ZipFile: bytes) -> dict[str, Any]:  # noqa: N803
        with zipfile.ZipFile(io.BytesIO(ZipFile)) as archive:
            self.put.append((FunctionName, archive.read("tools.py").decode()))
        return {}

    def deploy_again(self) -> None:
        if self.failure is not None:
            raise self.failure
        self.deployments += 1


class Watched:
    def __init__(self, root: Path, build: Build = built) -> None:
        self.root = root
        self.build = build
        self.stack = FakeStack(root / "tools")
        self.said: list[str] = []
        self.restart()

    def restart(self) -> None:
        self.watch = ToolWatch(self.stack, self.root / "tools.json", self.said.append, self.build)
        self.watch.begin()

    def write(self, folder: str, text: str, file: str = "tools.py") -> None:
        path = self.root / "tools" / folder
        path.mkdir(parents=True, exist_ok=True)
        (path / "tool.toml").exists() or (path / "tool.toml").write_text('tenants = ["*"]\n')
        (path / file).write_text(text)

    def take(self) -> list[str]:
        """Two looks: a change is over when the second one sees what the first one saw."""
        self.said.clear()
        self.watch.look()
        self.watch.look()
        return self.said


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    made = Watched(tmp_path)
    made.write("orders", TOOL)
    made.restart()
    assert (made.stack.put, made.said) == ([], [])
    return made


def test_an_edit_is_put_into_the_folders_lambda_and_said_in_one_line(watched: Watched) -> None:
    watched.write("orders", TOOL.replace("sent", "paid"))
    assert watched.take() == ["tools: orders updated, the next call runs it"]
    ((function, code),) = watched.stack.put
    assert function == "acta-local-tool-orders"
    assert 'STATE = "paid"' in code
    assert watched.stack.deployments == 0
    assert watched.take() == []


@pytest.mark.parametrize(
    ("folder", "text", "file", "said"),
    [
        ("bills", TOOL.replace("lookup_order", "lookup_bill"), "tools.py", "tools: bills is new; deploying"),
        (
            "orders",
            TOOL.replace("number:", "order:"),
            "tools.py",
            "tools: orders has other tools or settings",
        ),
        (
            "orders",
            TOOL.replace("Looks an", "Finds an"),
            "tools.py",
            "tools: orders has other tools or settings",
        ),
        ("orders", 'tenants = ["acme"]\n', "tool.toml", "tools: orders has other tools or settings"),
    ],
)
def test_what_the_deployment_says_of_a_folder_is_deployed(
    folder: str, text: str, file: str, said: str, watched: Watched
) -> None:
    watched.write(folder, text, file)
    first, last = watched.take()
    assert first.startswith(said)
    assert last.startswith("tools: deployed; there are ")
    assert (watched.stack.deployments, watched.stack.put) == (1, [])
    assert watched.take() == []


def test_a_folder_that_goes_is_deployed_away(watched: Watched) -> None:
    for path in (watched.root / "tools" / "orders").iterdir():
        path.unlink()
    assert watched.take()[-1] == "tools: deployed; there are none"
    assert watched.stack.deployments == 1


def test_the_first_folder_may_come_while_the_stack_serves(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.write("orders", TOOL)
    assert watched.take()[-1] == "tools: deployed; there are lookup_order"


def test_an_error_is_said_once_and_what_ran_before_goes_on(watched: Watched) -> None:
    watched.write("orders", TOOL.replace('"sent"', "nothing"))
    place = watched.root / "tools" / "orders"
    said = f"tools: {place}: tools.py line 3: NameError\ntools: this change is not taken, what ran before still runs"
    assert watched.take() == [said]
    assert (watched.stack.put, watched.stack.deployments) == ([], 0)
    assert watched.take() == []
    watched.write("orders", TOOL)
    assert watched.take() == ["tools: mended, they are as they run"]

    watched.write("orders", TOOL.replace("sent", "mended"))
    assert watched.take() == ["tools: orders updated, the next call runs it"]


def test_a_real_folder_is_built_and_its_error_has_file_and_line(tmp_path: Path) -> None:
    watched = Watched(tmp_path, build_folder)
    watched.write("orders", TOOL)
    watched.restart()
    watched.write("orders", TOOL.replace('"sent"', "nothing"))
    assert "orders: tools.py line 3: NameError: name 'nothing' is not defined" in watched.take()[0]


def test_a_stack_does_not_begin_to_deploy_a_folder_that_cannot_be_built(tmp_path: Path) -> None:
    Watched(tmp_path).write("orders", TOOL.replace('"sent"', "nothing"))
    with pytest.raises(StackFailed, match=r"orders: tools\.py line 3: NameError"):
        stack_at(tmp_path).build_tools()


def test_names_that_clash_are_told_in_one_sentence_before_anything_is_deployed(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.write("bills", TOOL)
    watched.write("orders", TOOL)
    with pytest.raises(
        StackFailed, match=r"orders: there is a tool lookup_order in bills, too\. Rename one\.$"
    ):
        stack_at(tmp_path).build_tools()
    watched.write("orders", TOOL.replace("lookup_order", "read_file"))
    with pytest.raises(StackFailed, match="the tool read_file has the name of a built-in one"):
        stack_at(tmp_path).build_tools()


def test_an_environment_that_nobody_has_is_refused_at_the_start_and_while_the_stack_serves(
    tmp_path: Path,
) -> None:
    watched = Watched(tmp_path)
    watched.write("orders", TOOL)
    watched.write("orders", 'tenants = ["*"]\n[environments.prdo]\nmemory = 512\n', "tool.toml")
    with pytest.raises(StackFailed, match=r"there is no environment prdo\. Did you mean prod\?"):
        stack_at(tmp_path).reach_api()

    own = tmp_path / "environments.py"
    own.write_text(
        "from acta.infra.environments import DEV\n"
        "from dataclasses import replace\n"
        "ENVIRONMENTS = [replace(DEV, name='prdo')]\n"
    )
    (folder,) = stack_at(tmp_path, ACTA_ENVIRONMENTS=str(own)).tool_folders()
    assert folder.environments == ("prdo",)


def stack_at(root: Path, **variables: str) -> LocalStack:
    return LocalStack(root / "state", environ={"ACTA_TOOLS_DIR": str(root / "tools"), **variables})


def test_a_deployment_that_fails_is_said_and_tried_again_with_the_next_change(watched: Watched) -> None:
    watched.stack.failure = DeployFailed("cdk failed")
    watched.write("bills", TOOL.replace("lookup_order", "lookup_bill"))
    assert watched.take()[-1].startswith("tools: cdk failed\n")
    watched.stack.failure = None
    watched.write("bills", TOOL.replace("lookup_order", "find_bill"))
    assert watched.take()[-1] == "tools: deployed; there are find_bill, lookup_order"


def test_a_test_of_a_folder_is_no_change_of_its_tools(watched: Watched) -> None:
    watched.write("orders", "def test_it(): ...\n", "test_orders.py")
    assert watched.take() == []
    assert watched.stack.put == []


def test_what_was_put_and_taken_back_is_put_again_after_a_restart(watched: Watched) -> None:
    """The template knows the first code, and the Lambda has the second one."""
    watched.write("orders", TOOL.replace("sent", "paid"))
    watched.take()
    watched.write("orders", TOOL)
    watched.stack.put.clear()
    watched.restart()
    assert [code for _, code in watched.stack.put] == [TOOL]
    watched.restart()
    assert len(watched.stack.put) == 1


def test_caches_and_folders_without_tools_are_not_looked_at(tmp_path: Path) -> None:
    for name in (
        "a/tools.py",
        "a/__pycache__/tools.pyc",
        "a/.tools.py.swp",
        "a/.venv/b/x.py",
        ".git/x",
        "other/x.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    assert list(seen(tmp_path)) == ["a/tools.py"]
    assert seen(None) == {}
