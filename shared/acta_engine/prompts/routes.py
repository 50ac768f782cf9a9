"""Managed prompts and their versions: `/v1/admin/prompts` (docs/design/api.md)."""

from typing import Annotated, ClassVar

from pydantic import Field

from acta_engine.agents.applied import Applied
from acta_engine.api.app import Api
from acta_engine.api.envelope import Response, page, success
from acta_engine.api.idempotency import Json, idempotency_key, record_of
from acta_engine.api.json_body import RequestBody
from acta_engine.api.listing_cursor import MAX_PAGE, ListingCursor, listing_cursor
from acta_engine.api.resource import Applicable, Resource, applied_after, version_tag
from acta_engine.app import App
from acta_engine.errors import FieldsInvalid, NotFound
from acta_engine.prompts.answers import prompt_view
from acta_engine.prompts.prompt import (
    MAX_COMMENT_CHARS,
    MAX_CONTENT_CHARS,
    PLANNING,
    SEED_VERSION,
    SEEDS,
    Prompt,
)
from acta_engine.untrusted.texts import NOT_BLANK, READABLE


class PutPrompt(Applicable):
    """A new version."""

    EXAMPLES: ClassVar = {
        "version": {
            "content": PLANNING,
            "comment": "The text of the release",
            "expected_version": SEED_VERSION,
        },
    }

    content: Annotated[str, Field(max_length=MAX_CONTENT_CHARS), READABLE, NOT_BLANK]
    """The text."""
    comment: Annotated[str, Field(max_length=MAX_COMMENT_CHARS), READABLE] | None = None
    """Why, for those who read the versions."""
    expected_version: Annotated[int, Field(ge=1)] | None = None
    """The version that it follows; with another one in force: 409."""
    active: bool = True
    """Whether it is in force from now on. false: a draft, which `prompts` of a start or a fork tries."""


class RestorePrompt(RequestBody):
    """How it is restored."""

    EXAMPLES: ClassVar = {"restored": {"comment": "As it was"}}

    comment: Annotated[str, Field(max_length=MAX_COMMENT_CHARS), READABLE] | None = None
    """Why, for those who read the versions."""
    expected_version: Annotated[int, Field(ge=1)] | None = None
    """The version that it follows; with another one in force: 409."""


def add_prompts(api: Api, deps: App) -> None:
    """A text that is in force already makes no new version, so a write that is repeated changes nothing."""
    store, clock = deps.definitions, deps.clock
    prompts = Resource[Prompt](
        api,
        find=lambda tenant, name: store.prompt(tenant, name) if name in SEEDS else None,
        view=prompt_view,
        tag=version_tag,
        missing="There is no prompt of this name.",
        changed="Another version has been written meanwhile. Read the prompt again and decide anew.",
    )

    @api.on("listPrompts")
    def list_prompts() -> Response:
        return page([prompt_view(store.prompt(api.caller.tenant, name)) for name in sorted(SEEDS)], None)

    @api.on("readPrompt")
    def read_prompt(name: str) -> Response:
        """`seed_content`: the product's own text, to compare with or to go back to."""
        prompt = prompts.get(name)
        newest = store.prompt_versions(api.caller.tenant, name, limit=MAX_PAGE, cursor=None).versions
        authors = list(dict.fromkeys(each.created_by for each in newest))
        return prompts.answer(prompt, authors=authors, seed_content=store.seed(name).content)

    @api.on("writePrompt")
    def write_prompt(name: str, body: PutPrompt) -> Response:
        old = prompts.get_as_read(name, body.expected_version)
        if not body.active:
            return write_draft(old, body)
        applied = applied_after(body, old.applied)
        if body.content == old.content:
            return prompts.answer(mark(old, applied))
        by, now = api.caller.user, clock.now()
        new = old.next_version(body.content, body.comment, by, now, applied, newest=newest(name))
        return prompts.replaced(store.write_prompt, old, new)

    def write_draft(old: Prompt, body: PutPrompt) -> Response:
        """Sent again, it is the version that it was: the newest, or the one in force."""
        if body.applied is not None:
            raise FieldsInvalid(
                {"applied": ["Files own what is in force, and this is to be tried: leave it out."]}
            )
        number = newest(name := old.name)
        last = store.prompt_version(api.caller.tenant, name, number)
        for there in (old, last):
            if there is not None and there.content == body.content and (there.draft or there is old):
                return draft_answer(there, old)
        draft = old.next_version(
            body.content, body.comment, api.caller.user, clock.now(), newest=number, draft=True
        )
        with prompts.writing():
            store.write_prompt(api.caller.tenant, old, draft)
        return draft_answer(draft, old)

    def draft_answer(draft: Prompt, in_force: Prompt) -> Response:
        """With the tag of what is in force, which a write has to name."""
        return success(prompt_view(draft, in_force.version), headers={"ETag": version_tag(in_force)})

    def newest(name: str) -> int:
        return store.newest_version(api.caller.tenant, name)

    def mark(old: Prompt, applied: Applied | None) -> Prompt:
        """A release's text is nobody's."""
        if old.is_seed or applied == old.applied:
            return old
        marked = old.model_copy(update={"applied": applied})
        with prompts.writing():
            store.mark_prompt(api.caller.tenant, marked)
        return marked

    @api.on("listPromptVersions")
    def list_versions(
        name: str, limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 20, cursor: ListingCursor = None
    ) -> Response:
        if name not in SEEDS:
            raise prompts.not_found()
        with listing_cursor():
            found = store.prompt_versions(api.caller.tenant, name, limit=limit, cursor=cursor)
        in_force = store.prompt(api.caller.tenant, name).version
        return page([prompt_view(each, in_force) for each in found.versions], found.cursor)

    @api.on("restorePrompt")
    def restore_version(name: str, version: int, body: RestorePrompt) -> Response:
        tenant, now = api.caller.tenant, clock.now()
        key = idempotency_key(api.request, 200)

        def restore() -> Json:
            old = prompts.get_as_read(name, body.expected_version)
            wanted = store.prompt_version(tenant, name, version)
            if wanted is None:
                raise NotFound("There is no such version.")
            if wanted.content == old.content:
                return prompt_view(old)
            comment = body.comment or f"Restored from version {version}"
            new = old.next_version(
                wanted.content, comment, api.caller.user, now, old.applied, newest=newest(name)
            )
            view = prompt_view(new)
            with prompts.writing():
                store.write_prompt(tenant, old, new, record_of(key, view, now))
            return view

        return success(deps.idempotency.answer(key, restore))
