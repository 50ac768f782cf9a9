"""The page for people, in a real browser: signed in by a link as a person is, and watched for what it must never do.

It may ask the deployment and nobody else, and its policy refuses nothing that it tries.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser as Driven
from playwright.sync_api import BrowserContext, Page, Route, ViewportSize, sync_playwright

from acta.infra.local.issuer import PageLinks
from acta.infra.packaging.bundle import ROOT
from tests.e2e.support.browser import OPTIONS, browser
from tests.e2e.support.person import Person

DESK = ViewportSize(width=1_200, height=800)
PHONE = ViewportSize(width=360, height=740)
OWN_PAGE = "ACTA_TEST_PAGE"
"""Set: the page is the one of these sources, built now, and not the deployed one. For work on the page."""
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
PICTURES = "ACTA_TEST_PICTURES"
"""A folder for pictures of what tests look at."""


@contextmanager
def driven() -> Iterator[Driven]:
    """Raises NoBrowser."""
    found = browser()
    environ: dict[str, str | float | bool] = {**os.environ}
    if found.libraries is not None:
        environ["LD_LIBRARY_PATH"] = str(found.libraries)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=found.executable, args=list(OPTIONS), env=environ
        )
        yield chromium
        chromium.close()


class Screen:
    """One browser of one person; `page` is its first tab. Made by the fixture `screen`."""

    def __init__(self, context: BrowserContext, url: str, links: PageLinks) -> None:
        self.context = context
        self.url = url
        self.wrong: list[str] = []
        """What must not be: requests to elsewhere, errors of scripts, refusals of the policy."""
        self._links = links
        context.on("page", self._watch)
        context.route(lambda address: not self._is_own(address), self._elsewhere)
        if os.environ.get(OWN_PAGE):
            context.route(f"{url}/console/**", _own_page())
        self.page = context.new_page()

    def sign_in(self, person: Person, *roles: str, place: str = "inbox") -> Page:
        """By a link, as `acta up` prints it. The page that asks to sign in has a heading, too, and no ways to pages."""
        self.page.goto(self.link(person, *roles, place=place))
        self.page.get_by_role("navigation", name="Pages", exact=True).wait_for()
        self.page.locator("main h1").wait_for()
        return self.page

    def link(self, person: Person, *roles: str, place: str = "inbox") -> str:
        person.at_the_page = True
        return self._links.make(self.url, person.tenant, person.name, roles or ("member",), place)

    def open(self, place: str) -> Page:
        """Another tab of the same browser."""
        page = self.context.new_page()
        page.goto(f"{self.url}/console/{place}")
        page.locator("main h1").wait_for()
        return page

    def accessible(self, page: Page | None = None) -> None:
        """No violation of WCAG 2.2 AA that axe can find, in what is shown now."""
        page = page or self.page
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate(
            "rules => axe.run(document, {runOnly: {type: 'tag', values: rules}, resultTypes: ['violations']})",
            RULES,
        )
        assert [describe(each) for each in found["violations"]] == []

    def picture(self, name: str, page: Page | None = None) -> None:
        """Where somebody wants to look at it."""
        folder = os.environ.get(PICTURES)
        if folder:
            (page or self.page).screenshot(path=Path(folder) / f"{name}.png", full_page=True)

    def _is_own(self, address: str) -> bool:
        parts = urlsplit(address)
        return parts.scheme in ("data", "blob", "about") or address.startswith(f"{self.url}/")

    def _elsewhere(self, route: Route) -> None:
        self.wrong.append(f"asks {urlsplit(route.request.url).netloc}")
        route.abort()

    def _watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("console", lambda said: self._said(said.type, said.text))

    def _said(self, kind: str, text: str) -> None:
        # The browser notes each answer that is a refusal; the page shows those.
        if kind == "error" and not text.startswith("Failed to load resource"):
            self.wrong.append(text)


def describe(violation: Any) -> str:
    places = [target for node in violation["nodes"] for target in node["target"]]
    return f"{violation['id']}: {violation['help']} at {', '.join(map(str, places[:5]))}"


def _own_page() -> Callable[[Route], None]:
    from acta.engine.console.routes import ConsolePage as Built
    from acta.infra.packaging.console_page import main

    made = ROOT / "build" / "console" / "made"
    made.mkdir(parents=True, exist_ok=True)
    main(made)
    built = Built(made, [])

    def answer(route: Route) -> None:
        if route.request.url.endswith("/console/sign-in.json"):
            route.continue_()
            return
        page = built.answer({})
        headers = {**page.headers, "Content-Type": page.content_type}
        route.fulfill(status=page.status, body=page.body, headers=headers)

    return answer
