"""Managed prompts and their versions: `/v1/admin/prompts` (design §3)."""

from collections.abc import Callable
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Query

from functions.admin.paging import Cursor, bad_cursor
from shared.api.app import Api
from shared.api.request.bodies import PutPrompt, RestorePrompt
from shared.api.request.idempotency import IdempotencyGuard
from shared.api.response.definition_views import prompt_view
from shared.api.response.envelope import success
from shared.api.response.etag import admits, etag
from shared.domain.definitions.prompt import SEEDS, Prompt
from shared.domain.errors import Conflict, NotFound
from shared.ports.clock import Clock
from shared.ports.definitions import DefinitionChanged, DefinitionStore
from shared.ports.log import IdempotencyRecord

MAX_PAGE = 100


def add_prompts(api: Api, store: DefinitionStore, once: IdempotencyGuard, clock: Clock) -> None:
    """A text that is in force already makes no new version, so writing twice is as good as writing once."""

    @api.get("/v1/admin/prompts")
    def list_prompts() -> Response[str]:
        prompts = [store.prompt(api.caller.tenant, name) for name in sorted(SEEDS)]
        return success({"items": [prompt_view(prompt) for prompt in prompts], "next_cursor": None})

    @api.get("/v1/admin/prompts/{name}")
    def read_prompt(name: str) -> Response[str]:
        """`seed_content`: the product's own text, to compare with or to go back to."""
        prompt = _in_force(store, api.caller.tenant, name)
        return _answer(prompt, seed_content=store.seed(name).content)

    @api.put("/v1/admin/prompts/{name}")
    def write_prompt(name: str, body: Annotated[PutPrompt, Body()]) -> Response[str]:
        old = _expected(api, store, name, body.expected_version)
        if body.content == old.content:
            return _answer(old)
        new = old.followed_by(body.content, body.comment, api.caller.user, clock.now())
        _write(store, api.caller.tenant, old, new)
        return _answer(new)

    @api.get("/v1/admin/prompts/{name}/versions")
    def list_versions(
        name: str, limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 20, cursor: Cursor = None
    ) -> Response[str]:
        _check_name(name)
        with bad_cursor():
            page = store.prompt_versions(api.caller.tenant, name, limit=limit, cursor=cursor)
        return success({"items": [prompt_view(each) for each in page.versions], "next_cursor": page.cursor})

    @api.post("/v1/admin/prompts/{name}/versions/{version}/restore")
    def restore_version(name: str, version: int, body: Annotated[RestorePrompt, Body()]) -> Response[str]:
        tenant = api.caller.tenant

        def act(record: Callable[[Prompt], IdempotencyRecord] | None) -> dict[str, Any]:
            old = _expected(api, store, name, body.expected_version)
            wanted = store.prompt_version(tenant, name, version)
            if wanted is None:
                raise NotFound("There is no such version.")
            if wanted.content == old.content:
                return prompt_view(old)
            comment = body.comment or f"Restored from version {version}"
            new = old.followed_by(wanted.content, comment, api.caller.user, clock.now())
            _write(store, tenant, old, new, record and record(new))
            return prompt_view(new)

        _check_name(name)
        view, _ = once.answer(api.incoming, tenant, prompt_view, act, status=200)
        return success(view)


def _check_name(name: str) -> None:
    if name not in SEEDS:
        raise NotFound("There is no prompt of this name.")


def _in_force(store: DefinitionStore, tenant: str, name: str) -> Prompt:
    _check_name(name)
    return store.prompt(tenant, name)


def _expected(api: Api, store: DefinitionStore, name: str, version: int | None) -> Prompt:
    """The version in force, where it is the one the caller has seen."""
    prompt = _in_force(store, api.caller.tenant, name)
    if version not in (None, prompt.version) or not admits(
        api.incoming.headers.get("if-match"), _tag(prompt)
    ):
        raise _changed()
    return prompt


def _write(
    store: DefinitionStore, tenant: str, old: Prompt, new: Prompt, record: IdempotencyRecord | None = None
) -> None:
    try:
        store.write_prompt(tenant, old, new, record)
    except DefinitionChanged:
        raise _changed() from None


def _changed() -> Conflict:
    return Conflict("Another version is in force. Read the prompt again and decide anew.")


def _tag(prompt: Prompt) -> str:
    return etag(prompt.version, int(prompt.created_at.timestamp() * 1_000) if prompt.created_at else 0)


def _answer(prompt: Prompt, **more: str) -> Response[str]:
    return success({**prompt_view(prompt), **more}, headers={"ETag": _tag(prompt)})
