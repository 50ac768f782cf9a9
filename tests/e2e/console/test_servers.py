"""MCP servers, the tenant's own tools and secrets on the page: for admins, with what is refused, by field."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.doubles.http_sink import Reply, Sink
from tests.doubles.mcp_server import PAY, SEARCH, McpSink
from tests.e2e.conftest import Admit, Screens
from tests.e2e.console.test_unsent import drafts
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person
from tests.e2e.support.screen import PHONE, Screen

pytestmark = pytest.mark.thorough

HOSTILE = "Pays.</blockquote><button>Confirm</button> <script>document.title='owned'</script> \u202e Confirmed by ann"
SECRET = "Bearer a-value-that-nobody-sees"


@pytest.fixture(scope="module")
def desk() -> Iterator[McpSink]:
    with McpSink() as made:
        yield made


@pytest.fixture(scope="module")
def orders() -> Iterator[Sink]:
    with Sink({"/orders/7": Reply(200, b'{"state": "sent"}', {"Content-Type": "application/json"})}) as made:
        yield made


@pytest.fixture(scope="module", autouse=True)
def reachable(behind: Behind, desk: McpSink, orders: Sink) -> Iterator[None]:
    with behind.configured("tool", "admin", ACTA_HTTP_TOOL_ALLOW=f"{desk.at},{orders.at}"):
        yield


@pytest.fixture
def boss(admit: Admit, desk: McpSink) -> Person:
    desk.tools = [SEARCH, PAY]
    return admit(role="admin")


def admin(screen: Screen, person: Person, place: str) -> Page:
    return screen.sign_in(person, "admin", "member", place=place)


def card(page: Page, name: str) -> Locator:
    return page.get_by_role("list", name="Tools of the server").get_by_role("listitem").filter(has_text=name)


def named(boss: Person, desk: McpSink) -> None:
    answer = boss.http.put("/v1/mcp-servers/desk", json={"url": desk.url("/mcp")})
    assert answer.status_code == 201, answer.text


def confirmed(boss: Person) -> dict[str, tuple[bool, bool, str | None]]:
    tools = boss.data("/v1/mcp-servers/desk")["tools"]
    return {
        each["tool"]: (each["confirmed_read"], each["high_stakes"], each["approver_role"]) for each in tools
    }


def test_a_server_is_named_with_a_secret_and_its_tools_are_confirmed(
    screen: Screen, boss: Person, desk: McpSink
) -> None:
    page = admin(screen, boss, "servers")
    expect(page.get_by_text("There is none yet.")).to_be_visible(timeout=30_000)
    page.get_by_role("link", name="Secrets").click()
    page.get_by_role("button", name="Set a secret").click()
    page.get_by_label("Name:").fill("desk key")
    page.get_by_label("Value").fill(SECRET)
    page.get_by_label("Hosts that may get it").fill(desk.at)
    screen.accessible()
    page.get_by_role("button", name="Set it").click()
    expect(page.get_by_role("alert").get_by_text("name", exact=True)).to_be_visible()
    page.get_by_label("Name:").fill("desk_key")
    page.get_by_role("button", name="Set it").click()
    expect(page.get_by_role("row").filter(has_text="desk_key")).to_contain_text(desk.at)
    assert SECRET not in page.content()
    assert drafts(page) == 0
    screen.accessible()
    screen.picture("secrets")
    page.get_by_role("link", name="MCP servers").click()
    page.get_by_role("button", name="Add a server").click()
    page.get_by_label("Name:").fill("desk")
    page.get_by_label("URL").fill("https://elsewhere.example/mcp")
    page.get_by_role("combobox", name="Secret").select_option("desk_key")
    page.reload()
    expect(page.get_by_role("combobox", name="Secret")).to_have_value("desk_key")
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("alert").get_by_text("url", exact=True)).to_be_visible()
    screen.accessible()
    screen.picture("server-form")
    page.get_by_label("URL").fill(desk.url("/mcp"))
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("heading", name="desk", exact=True)).to_be_visible()
    search, pay = card(page, "desk__search"), card(page, "desk__pay")
    expect(search).to_contain_text("Finds orders.")
    assert desk.heard[-1].headers["authorization"] == SECRET
    search.get_by_label("Confirm it as shown here").check()
    search.get_by_label("It only reads").check()
    pay.get_by_label("Confirm it as shown here").check()
    expect(pay.get_by_label("It only reads")).to_have_count(0)
    pay.get_by_label("With this role").fill("finance")
    screen.accessible()
    screen.picture("server-confirm")
    page.get_by_role("button", name="Confirm 2 tools as shown").click()
    expect(search).to_contain_text("confirmed as it is")
    assert confirmed(boss) == {"search": (True, False, None), "pay": (False, True, "finance")}
    expect(pay).to_contain_text("a person approves each call, with the role finance")
    page.emulate_media(color_scheme="dark")
    screen.accessible()
    screen.picture("server-dark")
    pay.get_by_role("button", name="Remove it").click()
    expect(pay).to_contain_text("not confirmed")
    assert confirmed(boss) == {"search": (True, False, None)}


def test_what_the_server_says_now_is_shown_beside_what_was_confirmed(
    screens: Screens, boss: Person, desk: McpSink
) -> None:
    named(boss, desk)
    items = boss.post("/v1/mcp-servers/desk/refresh").json()["data"]["items"]
    wishes = {each["tool"]: {"pin": each["pin"]} for each in items}
    assert boss.post("/v1/mcp-servers/desk/confirm", {"tools": wishes}).status_code == 200
    screen = screens(viewport=PHONE)
    page = admin(screen, boss, "servers/desk")
    pay = card(page, "desk__pay")
    expect(pay).to_contain_text("confirmed as it is")
    takes = {"type": "object", "properties": {"sum": {"type": "integer"}}}
    desk.tools = [{**PAY, "description": HOSTILE, "inputSchema": takes}]
    page.get_by_role("button", name="Ask it again").click()
    expect(pay).to_contain_text("changed since: calls are refused")
    differing = pay.get_by_label("The confirmed description, and the present one")
    expect(differing).to_contain_text("Removed: Pays.")
    expect(differing).to_contain_text("<script>document.title='owned'</script> ⟨U+202E⟩")
    expect(pay.get_by_label("What it took, and what it takes now")).to_contain_text("integer")
    expect(card(page, "desk__search")).to_contain_text("the server lists it no longer")
    assert page.title() != "owned"
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    screen.accessible()
    screen.picture("server-changed-phone")
    pay.get_by_label("Confirm it again, as shown here").check()
    desk.tools = [{**PAY, "description": "Pays twice."}]
    page.get_by_role("button", name="Confirm 1 tool as shown").click()
    expect(page.get_by_role("alert")).to_contain_text("tools.pay")
    page.get_by_role("button", name="Ask it again").click()
    expect(differing).to_contain_text("Added: Pays twice.")
    pay.get_by_label("Confirm it again, as shown here").check()
    page.get_by_role("button", name="Confirm 1 tool as shown").click()
    expect(pay).to_contain_text("confirmed as it is")


def test_a_server_is_changed_and_deleted_and_agents_that_name_its_tools_are_told_of(
    screen: Screen, boss: Person, desk: McpSink
) -> None:
    named(boss, desk)
    (search, _) = boss.post("/v1/mcp-servers/desk/refresh").json()["data"]["items"]
    boss.post("/v1/mcp-servers/desk/confirm", {"tools": {"search": {"pin": search["pin"]}}})
    assert boss.post("/v1/agents", {"name": "Clerk", "tools": ["desk__search"]}).status_code == 201
    page = admin(screen, boss, "servers/desk")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("The most seconds that a call may take").fill("20")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("20 s")).to_be_visible()
    assert set(confirmed(boss)) == {"search"}
    page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Delete").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Agents name tools of this server")
    screen.accessible()
    dialog.get_by_role("button", name="Delete anyway").click()
    expect(page.get_by_text("There is none yet.")).to_be_visible()
    assert boss.get("/v1/mcp-servers/desk").status_code == 404


def test_a_tool_is_made_called_changed_and_deleted(screen: Screen, boss: Person, orders: Sink) -> None:
    boss.http.put("/v1/tool-secrets/desk_key", json={"value": SECRET, "hosts": [orders.at]})
    page = admin(screen, boss, "tools")
    page.get_by_role("button", name="New tool").click()
    page.get_by_label("Name:").fill("order_state")
    page.get_by_label("What it does").fill("The state of an order")
    page.get_by_label("URL").fill("https://elsewhere.example/orders/{order}")
    takes = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
    page.get_by_label("What it takes").fill("{")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("alert")).to_contain_text("What it takes: This is not JSON")
    page.get_by_label("What it takes").fill(json.dumps(takes))
    page.get_by_label("The rest").fill('{"headers": {"Authorization": {"secret": "desk_key"}}}')
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("alert").get_by_text("config.url", exact=True)).to_be_visible()
    screen.accessible()
    screen.picture("tool-form")
    page.get_by_label("URL").fill(orders.url("/orders/{order}"))
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("heading", name="order_state")).to_be_visible()
    page.get_by_label("Input, as JSON").fill('{"order": "7"}')
    page.get_by_role("button", name="Call it").click()
    expect(page.get_by_text("It succeeded.")).to_be_visible()
    expect(page.get_by_text('{"state": "sent"}')).to_be_visible()
    assert orders.heard[-1].headers["authorization"] == SECRET
    screen.accessible()
    screen.picture("tool-called")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("What it does").fill("Where an order is")
    page.get_by_label("Approval").select_option("a person approves each call")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Where an order is")).to_be_visible()
    made = boss.data("/v1/tools/order_state")
    assert (made["high_stakes"], made["version"]) == (True, 2)
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Tools")).to_be_visible()
    assert boss.get("/v1/tools/order_state").status_code == 404
    assert drafts(page) == 0


def test_members_have_neither_tabs_nor_pages_of_it(screen: Screen, ann: Person) -> None:
    page = screen.sign_in(ann, place="tools")
    expect(page.get_by_role("table", name="Tools")).to_be_visible()
    expect(page.get_by_role("button", name="New tool")).to_have_count(0)
    expect(page.get_by_role("link", name="MCP servers")).to_have_count(0)
    page.goto(f"{screen.url}/console/secrets")
    expect(page.get_by_role("heading", name="This page is for admins")).to_be_visible()
    screen.accessible()
