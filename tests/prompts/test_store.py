"""Managed prompts: a seed for everyone, a tenant's own versions behind it, none of them ever lost."""

import pytest

from acta.engine.agents.applied import Applied
from acta.engine.agents.store import DefinitionChanged
from acta.engine.prompts import prompt as prompts
from acta.engine.prompts.prompt import AGENT_PLANNING_SYSTEM, Prompt
from tests.stores.backends import Stores

pytestmark = pytest.mark.contract

NAME = AGENT_PLANNING_SYSTEM


def edit(stores: Stores, tenant: str, content: str, comment: str | None = None) -> Prompt:
    old = stores.other_definitions.prompt(tenant, NAME)
    new = old.next_version(content, comment, "ann", stores.clock.now())
    stores.other_definitions.write_prompt(tenant, old, new)
    return new


def seed(stores: Stores, content: str = "Seed") -> Prompt:
    stored = prompts.seed(NAME, stores.clock.now()).model_copy(update={"content": content})
    stores.definitions.store_seed(stored)
    return stored


def listed(stores: Stores, tenant: str, limit: int) -> list[list[int]]:
    pages, cursor = [], None
    while True:
        page = stores.definitions.prompt_versions(tenant, NAME, limit=limit, cursor=cursor)
        pages.append([version.version for version in page.versions])
        cursor = page.cursor
        if cursor is None:
            return pages


def test_every_tenant_reads_the_seed_the_deployment_stored(stores: Stores, tenant: str) -> None:
    stored = seed(stores)
    for who in (tenant, f"{tenant}x"):
        assert stores.definitions.prompt(who, NAME) == stored
        assert stores.definitions.snapshot(who).prompt(NAME) == stored
        assert stores.definitions.prompt_version(who, NAME, 1) == stored
        assert listed(stores, who, 5) == [[1]]


def test_a_new_release_s_seed_takes_the_place_of_the_old(stores: Stores, tenant: str) -> None:
    seed(stores, "Old")
    new = seed(stores, "New")
    seed(stores, "New")
    assert stores.definitions.prompt(tenant, NAME) == new


def test_a_tenant_s_edit_is_its_own_and_no_seed_touches_it(stores: Stores, tenant: str) -> None:
    first = seed(stores, "First release")
    own = edit(stores, tenant, "Our words", "shorter")
    second = seed(stores, "Second release")

    assert own.version == 2
    assert stores.definitions.prompt(tenant, NAME) == own
    assert stores.definitions.prompt_version(tenant, NAME, 1) == first
    assert stores.definitions.prompt(f"{tenant}x", NAME) == second


def test_versions_are_kept_and_listed_newest_first_in_pages(stores: Stores, tenant: str) -> None:
    first = seed(stores)
    written = [first, *(edit(stores, tenant, f"Version {n}") for n in range(2, 7))]

    assert listed(stores, tenant, 10) == [[6, 5, 4, 3, 2, 1]]
    assert listed(stores, tenant, 4) == [[6, 5, 4, 3], [2, 1]]
    assert listed(stores, tenant, 3) == [[6, 5, 4], [3, 2, 1]]
    assert listed(stores, tenant, 1) == [[6], [5], [4], [3], [2], [1]]
    for version in written:
        assert stores.definitions.prompt_version(tenant, NAME, version.version) == version
    for number in (0, -1, 7, 10**12):
        assert stores.definitions.prompt_version(tenant, NAME, number) is None


def draft(stores: Stores, tenant: str, content: str) -> Prompt:
    old, number = stores.definitions.prompt(tenant, NAME), stores.definitions.newest_version(tenant, NAME)
    new = old.next_version(content, None, "ann", stores.clock.now(), newest=number, draft=True)
    stores.other_definitions.write_prompt(tenant, old, new)
    return new


def test_a_draft_is_listed_and_read_and_in_force_nowhere(stores: Stores, tenant: str) -> None:
    first = seed(stores)
    tried = draft(stores, tenant, "To be tried")
    assert tried.version == stores.definitions.newest_version(tenant, NAME) == 2
    for look in (stores.definitions, stores.other_definitions):
        assert look.prompt(tenant, NAME) == look.snapshot(tenant).prompt(NAME) == first
        assert look.prompt_version(tenant, NAME, 1) == first
        assert look.snapshot(tenant).prompt_version(NAME, 2) == tried
        assert look.snapshot(tenant).prompt_version(NAME, 3) is None
    for limit, pages in ((10, [[2, 1]]), (1, [[2], [1]])):
        assert listed(stores, tenant, limit) == pages
    newer = seed(stores, "Of the next release")
    assert stores.definitions.prompt_version(tenant, NAME, 1) == newer


def test_what_comes_into_force_has_a_number_after_every_draft(stores: Stores, tenant: str) -> None:
    first = seed(stores)
    drafts = [draft(stores, tenant, f"Draft {n}") for n in range(2)]
    number = stores.definitions.newest_version(tenant, NAME)
    own = first.next_version("Ours", None, "ann", stores.clock.now(), newest=number)
    stores.definitions.write_prompt(tenant, first, own)
    drafts.append(draft(stores, tenant, "Draft 2"))
    assert [each.version for each in drafts] == [2, 3, 5]
    assert stores.definitions.prompt(tenant, NAME) == own
    assert own.version == 4
    assert listed(stores, tenant, 10) == [[5, 4, 3, 2, 1]]
    assert stores.definitions.prompt_version(tenant, NAME, 1) == first
    edited = own.next_version("Ours again", None, "ann", stores.clock.now(), newest=5)
    stores.definitions.write_prompt(tenant, own, edited)
    assert stores.definitions.prompt(tenant, NAME) == edited


def test_two_drafts_at_once_do_not_take_the_same_number(stores: Stores, tenant: str) -> None:
    old, now = seed(stores), stores.clock.now()
    stores.definitions.write_prompt(tenant, old, old.next_version("Ann's", None, "ann", now, draft=True))
    for is_draft in (True, False):
        with pytest.raises(DefinitionChanged):
            stores.other_definitions.write_prompt(
                tenant, old, old.next_version("Bob's", None, "bob", now, draft=is_draft)
            )
    assert stores.definitions.prompt(tenant, NAME) == old


def test_a_mark_is_written_into_the_version_in_force_and_no_other(stores: Stores, tenant: str) -> None:
    seed(stores)
    own = edit(stores, tenant, "Our words")
    marked = own.model_copy(update={"applied": Applied(set="desk", digest="a:b")})
    stores.definitions.mark_prompt(tenant, marked)
    assert stores.other_definitions.prompt(tenant, NAME) == marked
    assert stores.other_definitions.prompt_version(tenant, NAME, 2) == marked
    assert listed(stores, tenant, 10) == [[2, 1]]
    edit(stores, tenant, "Newer words")
    with pytest.raises(DefinitionChanged):
        stores.definitions.mark_prompt(tenant, own)


def test_two_editors_of_one_version_do_not_overwrite_each_other(stores: Stores, tenant: str) -> None:
    old = seed(stores)
    now = stores.clock.now()
    for following in ("Ann's", "Ann's second"):
        stores.definitions.write_prompt(tenant, old, old.next_version(following, None, "ann", now))
        with pytest.raises(DefinitionChanged):
            stores.other_definitions.write_prompt(tenant, old, old.next_version("Bob's", None, "bob", now))
        assert stores.definitions.prompt(tenant, NAME).content == following
        old = stores.definitions.prompt(tenant, NAME)


def test_a_warm_worker_sees_an_edit_at_its_next_look(stores: Stores, tenant: str) -> None:
    seed(stores)
    assert stores.definitions.snapshot(tenant).prompt(NAME).content == "Seed"
    for content in ("One", "Two"):
        edit(stores, tenant, content)
        assert stores.definitions.snapshot(tenant).prompt(NAME).content == content


def test_a_name_no_release_has_is_no_prompt(stores: Stores, tenant: str) -> None:
    for ask in (
        lambda: stores.definitions.prompt(tenant, "other"),
        lambda: stores.definitions.snapshot(tenant).prompt("other"),
        lambda: stores.definitions.prompt_version(tenant, "other", 1),
        lambda: stores.definitions.prompt_versions(tenant, "other", limit=1, cursor=None),
    ):
        with pytest.raises(KeyError):
            ask()


def test_a_cursor_of_another_listing_is_refused(stores: Stores, tenant: str) -> None:
    edit(stores, tenant, "Own")
    cursor = stores.definitions.prompt_versions(tenant, NAME, limit=1, cursor=None).cursor
    assert cursor is not None
    for other, used in ((f"{tenant}x", cursor), (tenant, "x"), (tenant, cursor[:-1])):
        with pytest.raises(ValueError, match="cursor"):
            stores.definitions.prompt_versions(other, NAME, limit=1, cursor=used)
