"""Tools and prompts as files: their order, what the API does not show, and what is never deleted."""

from typing import Any

import pytest

from acta.client.api import Client
from acta.client.errors import NotFoundError
from acta.engine.prompts.prompt import AGENT_PLANNING_SYSTEM, PLANNING
from tests.acta.cli.apply.conftest import Files, Run

PING = """\
    description: Looks whether the other side is there.
    kind: lambda
    config:
      function: acta-test-tool-ping
    input_schema:
      type: object
      properties:
        host:
          type: [string, 'null']
          default: null
    effect: read
    """
DESK = "name: Desk\ntools: [ping]\n"
PROMPT = f"prompts/{AGENT_PLANNING_SYSTEM}.yaml"


def test_tools_come_before_the_agents_that_name_them_and_go_after_them(
    run: Run, files: Files, api: Client
) -> None:
    files.write("agents/desk.yaml", DESK)
    files.write("tools/ping.yaml", PING)
    shown = run("apply", str(files), "--yes")
    assert shown.code == 0, shown.err
    assert run("apply", str(files), "--yes").out == "set support: 2 as the files say"
    assert api.tools.get("ping")["input_schema"]["properties"]["host"]["default"] is None
    files.remove("agents/desk.yaml")
    files.remove("tools/ping.yaml")
    assert run("apply", str(files), "--yes").code == 0
    with pytest.raises(NotFoundError):
        api.tools.get("ping")


def test_a_tool_that_an_agent_still_names_stays_and_says_so(run: Run, files: Files, api: Client) -> None:
    files.write("tools/ping.yaml", PING)
    run("apply", str(files), "--yes")
    api.agents.create({"agent_id": "hand", "name": "By hand", "tools": ["ping"]})
    files.remove("tools/ping.yaml")
    shown = run("apply", str(files), "--yes")
    assert shown.code == 0
    assert "tools/ping stays though the files no longer have it: in use by agents/hand" in shown.out
    assert api.tools.get("ping")["version"] == 1


def test_stakes_that_follow_from_the_rest_need_not_be_said(run: Run, files: Files) -> None:
    files.write("tools/ping.yaml", PING.replace("effect: read", "approver_role: boss"))
    run("apply", str(files), "--yes")
    assert run("apply", str(files), "--plan").code == 0
    files.write("tools/ping.yaml", PING.replace("effect: read", "effect: once\n    high_stakes: false"))
    assert run("apply", str(files), "--yes").code == 0
    assert run("apply", str(files), "--plan").code == 0


def test_a_prompt_that_is_unchanged_makes_no_new_version(run: Run, files: Files, api: Client) -> None:
    files.write(PROMPT, "content: |\n  Plan with update_plan.\ncomment: Shorter\n")
    assert run("apply", str(files), "--yes").code == 0
    prompt = api.prompts.get(AGENT_PLANNING_SYSTEM)
    assert (prompt["version"], prompt["content"], prompt["comment"]) == (
        2,
        "Plan with update_plan.\n",
        "Shorter",
    )
    files.write(PROMPT, "content: |\n  Plan with update_plan.\ncomment: Another comment\n")
    assert run("apply", str(files), "--yes").out == "set support: 1 as the files say"
    assert api.prompts.get(AGENT_PLANNING_SYSTEM)["version"] == 2


def test_a_prompt_that_was_edited_by_hand_is_refused(run: Run, files: Files, api: Client) -> None:
    files.write(PROMPT, "content: Plan.")
    run("apply", str(files), "--yes")
    api.prompts.write(AGENT_PLANNING_SYSTEM, "Plan well.")
    assert run("apply", str(files), "--yes").code == 2
    files.write(PROMPT, "content: Plan well.")
    assert run("apply", str(files), "--yes").code == 0
    assert run("apply", str(files), "--yes").out == "set support: 1 as the files say"
    assert api.prompts.get(AGENT_PLANNING_SYSTEM)["version"] == 3


def test_a_prompt_without_a_file_any_more_has_the_release_s_text_again(
    run: Run, files: Files, api: Client
) -> None:
    files.write(PROMPT, "content: Plan.")
    run("apply", str(files), "--yes")
    files.remove(PROMPT)
    assert run("apply", str(files), "--yes").code == 0
    prompt = api.prompts.get(AGENT_PLANNING_SYSTEM)
    assert (prompt["content"], prompt["version"], prompt["applied"]) == (PLANNING, 3, None)
    assert run("apply", str(files), "--yes").out == "set support: 0 as the files say"


def test_there_is_no_prompt_of_another_name(run: Run, files: Files) -> None:
    files.write("prompts/own.yaml", "content: Plan.")
    shown = run("apply", str(files), "--yes")
    assert shown.code == 2
    assert "! prompts/own: there is no prompt of this name, and prompts' names are fixed" in shown.out


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (
            "tools/ping.yaml",
            "kind: http\nconfig:\n  url: https://a.example\n  method: GET\n  headers:\n    Authorization: Bearer abc\n",
            "tools/ping.yaml:6: config.headers.Authorization: its value may be a credential",
        ),
        (
            "agents/desk.yaml",
            "name: Desk\nsystem_prompt: Use the key ghp_abcdefghijklmnop0123456789abcd for it.\n",
            "agents/desk.yaml:2: system_prompt: this looks like a credential",
        ),
        (
            "tools/ping.yaml",
            "kind: http\nconfig:\n  url: https://a.example\n  methods: GET\n",
            "tools/ping.yaml:4: config.methods: there is no key 'methods'. Did you mean 'method'?",
        ),
        (
            "tools/ping.yaml",
            "kind: lambda\nconfig:\n  url: x\n",
            "tools/ping.yaml:3: config.url: there is no key 'url'.",
        ),
    ],
)
def test_a_credential_in_a_file_is_refused_with_its_line_and_not_quoted(
    run: Run, files: Files, file: str, text: str, said: str
) -> None:
    files.write(file, text)
    shown = run("apply", str(files), "--yes")
    assert shown.code == 2
    assert said in shown.err
    assert "ghp_" not in shown.err
    assert "Bearer abc" not in shown.err


def test_what_fails_in_the_middle_is_told_and_done_by_the_next_apply(
    run: Run, files: Files, api: Client
) -> None:
    files.write("tools/ping.yaml", PING)
    files.write("agents/a.yaml", "name: A\ntools: [ping]\n")
    files.write("agents/b.yaml", "name: B\nlimits: {max_output_tokens: 128000}\n")
    files.write("agents/c.yaml", "name: C\n")
    shown = run("apply", str(files), "--yes")
    assert shown.code == 1
    assert "Not all was applied: 2 changes written, 2 not." in shown.out
    assert [line for line in shown.out.splitlines() if "not written" in line] == [
        "  not written: agents/b",
        "  not written: agents/c",
    ]
    assert shown.err.count("The most ") == 1
    files.write("agents/b.yaml", "name: B\n")
    shown = run("apply", str(files), "--yes", "--json")
    assert [one["name"] for one in shown.json["changes"]] == ["b", "c"]
    assert (shown.json["written"], shown.json["not_written"], shown.json["unchanged"]) == (2, [], 2)


def test_an_agent_with_sessions_that_run_stays(run: Run, files: Files, api: Client) -> None:
    files.write("agents/desk.yaml", "name: Desk\nhigh_stakes: [create_file]\n")
    run("apply", str(files), "--yes")
    session: Any = api.start("Write a file called a.md with the text hello", agent_id="desk")
    assert api.session(session["session_id"])["state"] == "waiting_for_user"
    files.remove("agents/desk.yaml")
    shown = run("apply", str(files), "--yes")
    assert (
        "agents/desk stays though the files no longer have it: it has sessions that are running" in shown.out
    )
    api.cancel(session["session_id"])
    assert run("apply", str(files), "--yes").code == 0
    with pytest.raises(NotFoundError):
        api.agents.get("desk")


STATUS = """\
    description: Where an order stands.
    kind: http
    config:
      url: https://orders.example.com/orders/{order}
      method: GET
      headers:
        X-Api-Version: '3'
        Authorization:
          secret: orders_key
      parameters:
        lang:
          in: query
          name: language
    input_schema:
      type: object
      properties:
        order:
          type: string
        lang:
          type: string
      required:
      - order
    effect: read
    """


def test_a_header_whose_value_nobody_is_shown_is_compared_with_what_was_applied(
    run: Run, files: Files, api: Client
) -> None:
    api.tool_secrets.write("orders_key", "Bearer 0123456789", ["orders.example.com"])
    files.write("tools/status.yaml", STATUS)
    assert run("apply", str(files), "--yes").code == 0
    assert run("apply", str(files), "--yes").out == "set support: 1 as the files say"
    files.write("tools/status.yaml", STATUS.replace("'3'", "'4'"))
    assert run("apply", str(files), "--yes").out.splitlines()[-1] == "Applied: 1 change written."
    assert api.tools.get("status")["version"] == 2
    assert run("apply", str(files), "--plan").code == 0


def test_a_header_s_value_is_no_part_of_an_export_which_says_so(run: Run, files: Files, api: Client) -> None:
    api.tool_secrets.write("orders_key", "Bearer 0123456789", ["orders.example.com"])
    files.write("tools/status.yaml", STATUS)
    run("apply", str(files), "--yes")
    assert run("export", str(files), "--overwrite").out == "0 files written, 1 said the same already"
    files.remove("tools/status.yaml")
    shown = run("export", str(files))
    assert "tools/status.yaml has values of headers that nobody is shown" in shown.err
    assert "X-Api-Version: '***'" in files.all()["tools/status.yaml"].decode()
    shown = run("apply", str(files), "--yes")
    assert (
        "tools/status.yaml:16: config.headers.X-Api-Version: *** stands for a value that is not shown"
        in shown.err
    )


def test_setting_a_secret_anew_is_no_edit_by_hand(run: Run, files: Files, api: Client) -> None:
    api.tool_secrets.write("orders_key", "Bearer 0123456789", ["orders.example.com"])
    files.write("tools/status.yaml", STATUS)
    run("apply", str(files), "--yes")
    api.tool_secrets.write("orders_key", "Bearer 9876543210", ["orders.example.com"])
    assert api.tools.get("status")["version"] > 1
    assert run("apply", str(files), "--yes").out == "set support: 1 as the files say"


def test_a_secret_that_was_never_set_is_told_with_the_command_that_sets_it(run: Run, files: Files) -> None:
    files.write("tools/status.yaml", STATUS)
    shown = run("apply", str(files), "--yes")
    assert shown.code == 2
    assert "there is no secret orders_key" in shown.out
    assert "`acta tools secrets set orders_key --host HOST` sets it" in shown.out


def test_a_file_cannot_be_a_tool_that_is_built_in(run: Run, files: Files) -> None:
    files.write("tools/read_file.yaml", STATUS)
    shown = run("apply", str(files), "--plan")
    assert (shown.code, "tools/read_file: a tool of this name is built in" in shown.out) == (2, True)


def test_an_argument_that_is_called_secret_is_no_secret(run: Run, files: Files) -> None:
    files.write(
        "tools/status.yaml",
        """\
        description: Reads an order
        kind: http
        config:
          url: https://orders.example.com/status
          method: GET
          parameters: {secret: {in: query}}
        input_schema: {type: object, properties: {secret: {type: string}}}
        effect: read
        """,
    )
    assert run("apply", str(files), "--yes").code == 0
