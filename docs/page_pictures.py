"""Makes docs/page-inbox.png and docs/page-session.png: the page for people, showing sessions that really ran.

`make picture` starts a local stack for it, without any key, has the stand-in work two goals, and photographs what a
person sees in a real browser.
"""

import os
import tempfile
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, sync_playwright

from acta.cli.local.up import GOAL, SAMPLES
from acta.client.api import Client
from acta.client.deployment import Deployment
from acta.infra.local.issuer import PageLinks
from acta.infra.local.stack import LocalStack
from tests.e2e.support.browser import OPTIONS, browser

ROOT = Path(__file__).parents[1]
TENANT, USER = "acme", "ann@example.com"
WINDOW = ViewportSize(width=1_100, height=760)
DELETION = "Delete travel.md"


def photograph(stack: LocalStack) -> None:
    with Client(Deployment(stack.url, stack.issuer.issue_token(TENANT, USER, "member"))) as client:
        for sample in sorted(SAMPLES.iterdir()):
            if sample.is_file():
                client.files.write(sample.name, sample.read_bytes())
        client.files.write("travel.md", b"# Travel\n\nTrain to Vienna on the 3rd, back on the 5th.\n")
        worked = client.start(GOAL)
        client.wait(worked["session_id"])
        asked = client.start(DELETION)
        client.wait(asked["session_id"])
    found = browser()
    environ: dict[str, str | float | bool] = {**os.environ}
    if found.libraries is not None:
        environ["LD_LIBRARY_PATH"] = str(found.libraries)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=found.executable, args=list(OPTIONS), env=environ
        )
        context = chromium.new_context(viewport=WINDOW, locale="en-GB", color_scheme="light")
        page = context.new_page()
        page.goto(PageLinks(stack.state.path).make(stack.url, TENANT, USER, ("admin",)))
        page.get_by_role("link", name="May the agent delete a file?").click()
        page.get_by_role("button", name="Approve", exact=True).wait_for()
        take(page, "page-inbox")
        page.goto(f"{stack.url}/console/sessions/{worked['session_id']}")
        page.get_by_text("completed").first.wait_for()
        take(page, "page-session")
        chromium.close()


def take(page: Page, name: str) -> None:
    page.screenshot(path=ROOT / "docs" / f"{name}.png")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, LocalStack(Path(folder) / "state") as stack:
        photograph(stack)


if __name__ == "__main__":
    main()
