"""Folders of Python tools: what their files may say, what is deployed of them, and who may do what."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, get_args

import pytest

from acta.engine.settings import Settings
from acta.engine.tools import tool as catalogue
from acta.infra.environments import ENVIRONMENTS, Environment
from acta.infra.lambdas.function import KNOW_TOOLS
from acta.infra.packaging.bundle import ROOT
from acta.infra.packaging.install import InstallTarget, kept_of
from acta.infra.packaging.tool_catalogue import CATALOGUE, build_folder, to_catalogue
from acta.infra.packaging.tool_lock import OWN_LOCK, locked, make_lock
from acta.infra.packaging.zip_contents import reach
from acta.infra.release import release_of
from acta.infra.sizing import FunctionName
from acta.infra.tool_folders import BadFolder, digest_of, folders_in, read_folder
from tests.infra.conftest import Synthesised, listed, synthesised, text_of

pytestmark = pytest.mark.thorough

TOOL = '''
import os
import boto3  # the runtime brings it
from acta import tool

SHOP = os.environ["SHOP"]

@tool(effect="once", timeout_seconds=40)
def pay_back(order: str) -> str:
    """Pays back."""
    return order
'''
SAID = """
tenants = ["*"]
memory = 512
secrets = ["key"]
variables = { SHOP = "pens", LEVEL = "1" }

[environments.prod]
tenants = ["shop"]
variables = { LEVEL = "2" }
"""
MOST_SDK_BYTES = 66_000
HERE = InstallTarget(ENVIRONMENTS["local"].python)

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def folder(name: str = "orders", tool: str = TOOL, said: str | None = SAID, **files: str) -> Path:
        path = tmp_path / name
        path.mkdir()
        (path / "tools.py").write_text(tool)
        if said is not None:
            (path / "tool.toml").write_text(said)
        for file, text in files.items():
            (path / file.replace("__", ".")).write_text(text)
        return path

    return folder


def test_a_folder_is_what_its_file_says_for_the_environment(write: Write) -> None:
    path = write()

    dev, prod = read_folder(path, "dev"), read_folder(path, "prod")

    assert (dev.tenants, dev.memory, dev.secrets) == (("*",), 512, ("key",))
    assert dev.variables == {"SHOP": "pens", "LEVEL": "1"}
    assert (prod.tenants, prod.variables) == (("shop",), {"SHOP": "pens", "LEVEL": "2"})


@pytest.mark.parametrize(
    ("name", "said", "says"),
    [
        ("Orders", SAID, "the Lambda is called after the folder"),
        ("a" * 21, SAID, "20 characters at most. Rename it"),
        ("orders", None, 'Make it with one line, tenants = ["*"]'),
        ("orders", "tenants = [", "this is no TOML"),
        ("orders", "memory = 256", "it does not say who has the tools"),
        (
            "orders",
            'tenants = ["*"]\nmemmory = 1',
            "there is no setting memmory; there are environments, memory",
        ),
        ("orders", 'tenants = ["*"]\nmemory = 64', "memory: Input should be greater than or equal to 128"),
        ("orders", 'tenants = ["*"]\n[environments.dev]\ntimeout = 1', "no setting environments.dev.timeout"),
        ("orders", 'tenants = ["*"]\nvariables = { ACTA_X = "1" }', "begin so: ACTA_X. Rename them"),
        ("orders", 'tenants = ["*"]\nsecrets = ["a/b"]', "secrets.0"),
    ],
)
def test_what_a_folder_cannot_say_is_refused_with_what_to_do(
    write: Write, name: str, said: str | None, says: str
) -> None:
    with pytest.raises(BadFolder) as refused:
        read_folder(write(name, said=said), "dev")

    assert says in str(refused.value)
    assert name in str(refused.value)


def test_folders_without_tools_are_something_else_and_no_directory_has_none(
    tmp_path: Path, write: Write
) -> None:
    write()
    (tmp_path / "notes").mkdir()

    assert [each.name for each in folders_in(tmp_path, "dev")] == ["orders"]
    assert folders_in(tmp_path / "none", "dev") == folders_in(None, "dev") == ()


def test_a_bundle_has_the_folder_the_sdk_and_pydantic_and_no_tests(write: Write) -> None:
    path = write(rates__json="[]", test_tools__py="raise SystemExit", requirements__txt="# none\n")

    built = build_folder(read_folder(path, "dev"), HERE)

    there = {each.name for each in built.path.iterdir()}
    assert {"tools.py", "rates.json", "acta", "pydantic", "pydantic_core"} <= there
    assert there.isdisjoint({"test_tools.py", "tool.toml", "requirements.txt", "boto3", "engine"})
    assert {each.name for each in (built.path / "acta").iterdir()} - {"__pycache__"} == {
        "__init__.py",
        "tools",
    }
    libraries = {each.name.split("-")[0] for each in built.path.glob("*.dist-info")}
    assert libraries == {
        "annotated_types",
        "pydantic",
        "pydantic_core",
        "typing_extensions",
        "typing_inspection",
    }
    sdk = [path.stat().st_size for path in (built.path / "acta").rglob("*.py")]
    assert sum(sdk) < MOST_SDK_BYTES
    assert [spec["name"] for spec in built.specs] == ["pay_back"]
    assert built.timeout_seconds == 45


def test_a_changed_folder_is_built_anew_and_says_whether_its_tools_changed(write: Write) -> None:
    path = write()
    first = build_folder(read_folder(path, "dev"), HERE)

    (path / "tools.py").write_text(TOOL.replace("return order", "return order.upper()"))
    second = build_folder(read_folder(path, "dev"), HERE)
    (path / "tools.py").write_text(TOOL.replace("order: str", "number: str").replace("return order", ""))
    third = build_folder(read_folder(path, "dev"), HERE)

    assert len({first.key, second.key, third.key}) == 3
    assert re.fullmatch("[0-9a-f]{20}", first.key)
    assert first.specs == second.specs != third.specs


@pytest.mark.parametrize(
    ("tool", "said", "says"),
    [
        (
            TOOL.replace("order: str", "order"),
            SAID,
            "tools.py line 8: pay_back: the parameter order has no type",
        ),
        ("import nothing_of_this_name", SAID, "tools.py line 1: ModuleNotFoundError"),
        ("import os\nos._exit(3)", SAID, "importing tools.py ended the process"),
        (TOOL, SAID + "timeout_seconds = 5", "timeout_seconds in tool.toml is 5, but a tool has 40"),
    ],
)
def test_tools_that_cannot_be_read_say_where_and_why(write: Write, tool: str, said: str, says: str) -> None:
    with pytest.raises(BadFolder) as refused:
        build_folder(read_folder(write(tool=tool, said=said), "prod"), HERE)

    assert says in str(refused.value)


def test_a_folder_is_built_with_the_libraries_of_its_lock_and_with_no_others(write: Write) -> None:
    path = write(requirements__txt="iniconfig>=2  # of pytest\n")
    folder = read_folder(path, "dev")
    with pytest.raises(
        BadFolder, match=rf"no requirements.lock .* Run: acta lock orders --dir {path.parent}"
    ):
        build_folder(folder, HERE)

    make_lock(folder)

    assert "://" not in folder.lock.read_text()
    built = build_folder(folder, HERE)
    (found,) = (each.name for each in built.path.glob("iniconfig-*.dist-info"))
    assert f"iniconfig=={found.split('-')[1].removesuffix('.dist')} \\" in folder.lock.read_text()
    assert not (built.path / "requirements.lock").exists()

    folder.lock.write_text(re.sub("sha256:[0-9a-f]{64}", f"sha256:{'0' * 64}", folder.lock.read_text()))
    with pytest.raises(BadFolder, match=r"(?is)its libraries cannot be installed.*hash"):
        build_folder(folder, HERE)


def test_a_lock_that_does_not_fit_any_more_is_refused(write: Write, tmp_path: Path) -> None:
    folder = read_folder(write(requirements__txt="iniconfig>=2\n"), "dev")
    make_lock(folder)
    text = folder.lock.read_text()
    assert locked(folder) == folder.lock

    (folder.path / "requirements.txt").write_text("# another comment\niniconfig>=2\n")
    assert locked(folder) == folder.lock
    (folder.path / "requirements.txt").write_text("iniconfig>=2.0\n")
    with pytest.raises(BadFolder, match=r"made from another requirements.txt.* acta lock orders"):
        locked(folder)
    (folder.path / "requirements.txt").write_text("iniconfig>=2\n")
    for line in ("-e ./mine", "--index-url https://example.com", "mine @ file:///tmp/mine", "./mine", "mine"):
        folder.lock.write_text(f"{text}{line}\n")
        with pytest.raises(BadFolder, match="is no version and no hash"):
            locked(folder)
    own = tmp_path / OWN_LOCK
    own.parent.mkdir(parents=True)
    own.write_text("pydantic==9.9.9 --hash=sha256:0\n")
    with pytest.raises(BadFolder, match="other versions of Acta's own libraries"):
        locked(folder, tmp_path)


def test_a_folder_without_libraries_needs_no_lock(write: Write) -> None:
    assert locked(read_folder(write(requirements__txt="# none\n\n"), "dev")) is None


def test_uv_gets_no_keys_of_who_builds() -> None:
    kept = kept_of({
        "PATH": "/bin", "HOME": "/home/ann", "https_proxy": "proxy", "UV_DEFAULT_INDEX": "index",
        "SSL_CERT_FILE": "ca.pem", "AWS_SECRET_ACCESS_KEY": "s", "ANTHROPIC_API_KEY": "s", "PYTHONPATH": "/x",
    })  # fmt: skip
    assert kept.keys() == {"PATH", "HOME", "https_proxy", "UV_DEFAULT_INDEX", "SSL_CERT_FILE"}


def catalogue_of(*folders: Path, seconds: int = 600) -> Any:
    built = [build_folder(read_folder(path, "dev"), HERE) for path in folders]
    return json.loads(to_catalogue(built, "dev", seconds))


def test_bundles_of_acta_s_own_functions_push_out_none_of_a_folder_s(write: Write) -> None:
    built = build_folder(read_folder(write(), "dev"), HERE)

    for function in get_args(FunctionName):
        assert not fnmatch(built.path.name, f"{function}-*"), "what Bundler forgets of the function"


def test_the_catalogue_has_each_tool_with_its_function_and_the_stakes_of_its_effect(write: Write) -> None:
    (tool,) = catalogue_of(write())["tools"]

    assert (tool["name"], tool["function"], tool["tenants"]) == ("pay_back", "acta-dev-tool-orders", ["*"])
    assert (tool["effect"], tool["high_stakes"], tool["risk"]) == ("once", True, "write")


def test_without_folders_there_is_no_catalogue() -> None:
    assert to_catalogue([], "dev", 600) == b""


@pytest.mark.parametrize(
    ("tool", "seconds", "says"),
    [
        (TOOL.replace("pay_back", "read_file"), 600, "has the name of a built-in one"),
        (TOOL, 30, "a call of a tool has at most 30 seconds in the environment dev, pay_back has 40"),
        (
            TOOL.replace(
                "order: str", 'order: Annotated[str, Field(json_schema_extra={"pattern": "(a"})]'
            ).replace("import os", "import os\nfrom typing import Annotated\nfrom pydantic import Field"),
            600,
            "Patterns are those of RE2",
        ),
    ],
)
def test_tools_that_acta_cannot_offer_are_refused(write: Write, tool: str, seconds: int, says: str) -> None:
    with pytest.raises(BadFolder) as refused:
        catalogue_of(write(tool=tool), seconds=seconds)

    assert says in str(refused.value)


def test_two_folders_with_a_tool_of_one_name_are_refused(write: Write) -> None:
    with pytest.raises(BadFolder, match="there is a tool pay_back in orders, too"):
        catalogue_of(write("orders"), write("refunds"))


def test_the_catalogue_is_where_the_functions_that_know_tools_look_for_it() -> None:
    """Those that have a registry, and `start`, which looks only for who decides on calls."""
    assert ROOT / CATALOGUE == catalogue.FILE
    having = {
        path.name
        for path in (ROOT / "acta" / "functions").iterdir()
        if path.is_dir()
        and path.name != "__pycache__"
        and ROOT / CATALOGUE.with_name("registry.py") in reach(ROOT, f"acta.functions.{path.name}").files
    }
    assert having | {"start"} == KNOW_TOOLS


def test_a_changed_tool_is_another_release_and_the_place_of_the_folder_is_none(write: Write) -> None:
    path = write()
    dev = ENVIRONMENTS["dev"]
    before = release_of(replace(dev, tools_dir=str(path.parent)))
    moved = path.parent / "elsewhere"
    moved.mkdir()
    path.rename(moved / "orders")

    assert release_of(replace(dev, tools_dir=str(moved))) == before != release_of(dev)
    (moved / "orders" / "tools.py").write_text(TOOL + "\n")
    assert release_of(replace(dev, tools_dir=str(moved))) != before
    assert digest_of(()) == ""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=() if name in ("local", "prod") else pytest.mark.thorough)
        for name in ENVIRONMENTS
    ],
)
def with_tools(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    tools = tmp_path_factory.mktemp("tools") / "orders"
    tools.mkdir()
    (tools / "tools.py").write_text(TOOL)
    (tools / "tool.toml").write_text(SAID)
    environment: Environment = replace(ENVIRONMENTS[request.param], tools_dir=str(tools.parent))
    return synthesised(environment, tmp_path_factory.mktemp("cdk"))


def function_of(each: Synthesised) -> Any:
    name = f"acta-{each.environment.name}-tool-orders"
    return next(
        one for one in each.stateless.properties("AWS::Lambda::Function") if one.get("FunctionName") == name
    )


def test_the_function_is_what_the_folder_says(with_tools: Synthesised) -> None:
    function = function_of(with_tools)

    assert (function["MemorySize"], function["Timeout"]) == (512, 45)
    assert function["Handler"] == "acta.tools.handler.handler"
    assert function["Runtime"] == "python{}.{}".format(*with_tools.environment.python)
    variables = function["Environment"]["Variables"]
    assert variables["SHOP"] == "pens"
    assert json.loads(variables["ACTA_TOOL_SECRETS"]) == {
        "key": f"acta/{with_tools.environment.name}/tool-orders/key"
    }
    assert function.get("TracingConfig", {}).get("Mode") is None


def test_an_execution_environment_serves_one_tenant_unless_the_environment_says_otherwise(
    with_tools: Synthesised, tmp_path: Path
) -> None:
    def variables(made: Synthesised, function: Any) -> tuple[Any, Any]:
        told = made.stateless.function("tool")["Environment"]["Variables"]["ACTA_TOOL_PROCESSES"]
        return told, function["Environment"]["Variables"].get("ACTA_TOOL_PROCESSES")

    isolated = function_of(with_tools)
    assert isolated["TenancyConfig"] == {"TenantIsolationMode": "PER_TENANT"}
    assert variables(with_tools, isolated) == ("per_tenant", None)
    if with_tools.environment.is_local:
        return

    made = synthesised(replace(with_tools.environment, tool_processes="shared"), tmp_path)
    shared = function_of(made)
    assert "TenancyConfig" not in shared
    assert variables(made, shared) == ("shared", "shared")


def test_a_region_without_tenant_isolation_asks_for_the_choice(write: Write) -> None:
    path = write()
    there = replace(
        ENVIRONMENTS["prod"], tools_dir=str(path.parent), account="123456789012", region="ap-southeast-6"
    )

    with pytest.raises(BadFolder, match="no tenant isolation in ap-southeast-6") as refused:
        _ = there.tool_folders
    assert 'Set tool_processes="shared"' in str(refused.value)
    assert len(replace(there, tool_processes="shared").tool_folders) == 1
    assert replace(there, tools_dir=str(path)).tool_folders == ()
    assert len(replace(there, region="ap-southeast-2").tool_folders) == 1


def test_its_role_writes_its_own_logs_and_reads_its_own_secrets_and_nothing_else(
    with_tools: Synthesised,
) -> None:
    granted = with_tools.stateless.granted("ToolsordersRole")

    logs = {thing for thing in granted if thing.startswith("ToolsordersLogs")}
    secrets = granted.keys() - logs
    name = with_tools.environment.name
    assert [granted[thing] for thing in logs] == [{"logs:CreateLogStream", "logs:PutLogEvents"}]
    assert [thing.rpartition(":secret:")[2] for thing in secrets] == [f"acta/{name}/tool-orders/key-??????"]
    assert [granted[thing] for thing in secrets] == [{"secretsmanager:GetSecretValue"}]


def test_a_folder_has_alarms_of_its_own_where_the_environment_has_any(with_tools: Synthesised) -> None:
    alarms = {
        each["AlarmName"].rpartition("-")[2]: each
        for each in with_tools.stateless.properties("AWS::CloudWatch::Alarm")
        if "OwnTool" in each.get("AlarmName", "")
    }
    if not with_tools.environment.alarms:
        assert alarms == {}
        return
    assert alarms.keys() == {"OrdersOwnToolErrors", "OrdersOwnToolThrottles"}
    assert (
        "Calls of Python tools in the folder orders raised"
        in alarms["OrdersOwnToolErrors"]["AlarmDescription"]
    )
    for alarm in alarms.values():
        (dimension,) = alarm["Dimensions"]
        assert (dimension["Name"], alarm["AlarmActions"] != []) == ("FunctionName", True)


def test_nobody_but_tool_may_invoke_it_and_nothing_else_leads_to_it(with_tools: Synthesised) -> None:
    stateless = with_tools.stateless
    logical = {
        name
        for name, each in stateless.resources("AWS::Lambda::Function").items()
        if each["Properties"].get("FunctionName") == f"acta-{with_tools.environment.name}-tool-orders"
    }

    def leads_to(value: Any) -> bool:
        text = json.dumps(value)
        return any(f'"{name}"' in text for name in logical)

    kinds = {each["Type"] for each in stateless.body["Resources"].values() if leads_to(each["Properties"])}
    assert kinds <= {"AWS::Lambda::Version", "AWS::CloudWatch::Alarm"}
    invoking = {
        name
        for name, each in stateless.body["Resources"].items()
        if each["Type"] in ("AWS::IAM::Role", "AWS::IAM::Policy")
        and any(
            "lambda:InvokeFunction" in listed(statement["Action"])
            and any(
                "-tool-" in text_of(thing) or text_of(thing) == "*" for thing in listed(statement["Resource"])
            )
            for statement in stateless.statements(name)
        )
    }
    assert {name.removesuffix(name[-8:]) for name in invoking} <= {"ToolRole", "ToolBaseRole"}
    assert invoking


def test_tool_calls_the_version_that_was_published_with_it_and_locally_the_newest_code(
    with_tools: Synthesised,
) -> None:
    variables = with_tools.stateless.function("tool")["Environment"]["Variables"]

    if with_tools.environment.is_local:
        assert "ACTA_TOOL_VERSIONS" not in variables
        return
    parts = variables["ACTA_TOOL_VERSIONS"]["Fn::Join"][1]
    version = next(part["Fn::GetAtt"][0] for part in parts if isinstance(part, dict))
    resource = with_tools.stateless.resources("AWS::Lambda::Version")[version]
    assert resource["UpdateReplacePolicy"] == "Retain"
    assert resource["DeletionPolicy"] == "RetainExceptOnCreate"
    plain = "".join(part if isinstance(part, str) else "12" for part in parts)
    assert Settings(env="e", table="t", bucket="b", tool_versions=json.loads(plain)).tool_versions == {
        "orders": "12"
    }
    assert not any(
        "ACTA_TOOL_VERSIONS" in with_tools.stateless.function(name)["Environment"]["Variables"]
        for name in ("step", "admin", "intervene")
    )


def test_cdk_nag_has_nothing_to_say_against_it(with_tools: Synthesised) -> None:
    # Tables of dev cannot be recovered, with and without folders of tools.
    assert [one for one in with_tools.findings if not one.startswith("AwsSolutions-DDB3: Acta-dev-")] == []
