"""Managed prompts and their versions: `/v1/admin/prompts` (docs/design/api.md)."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from acta.engine.agents.applied import Applied
from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, page, success
from acta.engine.api.idempotency import Json, idempotency_key, record_of
from acta.engine.api.json_body import RequestBody
from acta.engine.api.listing_cursor import MAX_PAGE, ListingCursor, bounded_page, listing_cursor
from acta.engine.api.resource import Applicable, Resource, applied_after, version_tag
from acta.engine.errors import FieldsInvalid, NotFound
from acta.engine.prompts.answers import prompt_view
from acta.engine.prompts.prompt import (
    MAX_COMMENT_CHARS,
    MAX_CONTENT_CHARS,
    PLANNING,
    SEED_VERSION,
    SEEDS,
    Prompt,
)
from acta.engine.untrusted.texts import NOT_BLANK, READABLE


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
    """The version that it follows. If another version is in force, the answer is 409."""
    active: bool = True
    """Whether it is in force from now on. false: a draft, which `prompts` of a start or a fork tries."""


class RestorePrompt(RequestBody):
    """How it is restored."""

    EXAMPLES: ClassVar = {"restored": {"comment": "As it was"}}

    comment: Annotated[str, Field(max_length=MAX_COMMENT_CHARS), READABLE] | None = None
    """Why, for those who read the versions."""
    expected_version: Annotated[int, Field(ge=1)] | None = None
    """The version that it follows. If another version is in force, the answer is 409."""


def _prompts(api: Api) -> Resource[Prompt]:
    return Resource[Prompt](
        api,
        find=lambda tenant, name: api.app.definitions.prompt(tenant, name) if name in SEEDS else None,
        view=prompt_view,
        tag=version_tag,
        missing="There is no prompt of this name.",
        changed="Another version has been written meanwhile. Read the prompt again and decide again.",
    )


def list_prompts(api: Api) -> Response:
    found = [prompt_view(api.app.definitions.prompt(api.caller.tenant, name)) for name in sorted(SEEDS)]
    return page(found, None)._replace(recorded={"prompts": "all"})


def read_prompt(api: Api, name: str) -> Response:
    """`seed_content`: the product's own text, to compare with or to go back to."""
    prompts = _prompts(api)
    prompt = prompts.get(name)
    newest = api.app.definitions.prompt_versions(
        api.caller.tenant, name, limit=MAX_PAGE, cursor=None
    ).versions
    authors = list(dict.fromkeys(each.created_by for each in newest))
    return prompts.answer(prompt, authors=authors, seed_content=api.app.definitions.seed(name).content)


def write_prompt(api: Api, name: str, body: PutPrompt) -> Response:
    prompts = _prompts(api)
    old = prompts.get_as_read(name, body.expected_version)
    if not body.active:
        return _write_draft(api, old, body)
    applied = applied_after(body, old.applied)
    if body.content == old.content:
        return prompts.answer(_mark(api, old, applied))
    by, now = api.caller.user, api.app.clock.now()
    new = old.next_version(body.content, body.comment, by, now, applied, newest=_newest(api, name))
    return prompts.replaced(api.app.definitions.write_prompt, old, new)


def _write_draft(api: Api, old: Prompt, body: PutPrompt) -> Response:
    """If the request was sent again, the draft is there already, as the newest version or the one in force."""
    if body.applied is not None:
        raise FieldsInvalid(
            {"applied": ["Files own what is in force, and this is to be tried: leave it out."]}
        )
    number = _newest(api, name := old.name)
    last = api.app.definitions.prompt_version(api.caller.tenant, name, number)
    for there in (old, last):
        if there is not None and there.content == body.content and (there.draft or there is old):
            return _draft_answer(api, there, old)
    draft = old.next_version(
        body.content, body.comment, api.caller.user, api.app.clock.now(), newest=number, draft=True
    )
    with _prompts(api).writing():
        api.app.definitions.write_prompt(api.caller.tenant, old, draft)
    return _draft_answer(api, draft, old)


def _draft_answer(api: Api, draft: Prompt, in_force: Prompt) -> Response:
    """The draft, with the tag of the version in force, which a write has to name."""
    return success(prompt_view(draft, in_force.version), headers={"ETag": version_tag(in_force)})


def _newest(api: Api, name: str) -> int:
    return api.app.definitions.newest_version(api.caller.tenant, name)


def _mark(api: Api, old: Prompt, applied: Applied | None) -> Prompt:
    """Writes `applied`, unless the version is a seed: no files own a release's text."""
    if old.is_seed or applied == old.applied:
        return old
    marked = old.model_copy(update={"applied": applied})
    with _prompts(api).writing():
        api.app.definitions.mark_prompt(api.caller.tenant, marked)
    return marked


def list_prompt_versions(
    api: Api, name: str, limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 20, cursor: ListingCursor = None
) -> Response:
    if name not in SEEDS:
        raise _prompts(api).not_found()
    in_force = api.app.definitions.prompt(api.caller.tenant, name).version

    def read(most: int) -> tuple[list[Any], str | None]:
        with listing_cursor():
            found = api.app.definitions.prompt_versions(api.caller.tenant, name, limit=most, cursor=cursor)
        return [prompt_view(each, in_force) for each in found.versions], found.cursor

    return bounded_page(read, limit)


def restore_prompt(api: Api, name: str, version: int, body: RestorePrompt) -> Response:
    prompts = _prompts(api)
    tenant, now = api.caller.tenant, api.app.clock.now()
    key = idempotency_key(api.request, 200)

    def restore() -> Json:
        old = prompts.get_as_read(name, body.expected_version)
        wanted = api.app.definitions.prompt_version(tenant, name, version)
        if wanted is None:
            raise NotFound("There is no such version.")
        if wanted.content == old.content:
            return prompt_view(old)
        comment = body.comment or f"Restored from version {version}"
        new = old.next_version(
            wanted.content, comment, api.caller.user, now, old.applied, newest=_newest(api, name)
        )
        view = prompt_view(new)
        with prompts.writing():
            api.app.definitions.write_prompt(tenant, old, new, record_of(key, view, now))
        return view

    return success(api.app.idempotency.answer(key, restore))
