"""People decide what a session asks them (docs/design/people.md)."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, success
from acta.engine.api.idempotency import requester_of
from acta.engine.errors import SessionNotFound
from acta.engine.log.commit import IdempotencyRecord
from acta.engine.people.answers import intervention_view
from acta.engine.people.resolve import Resolution, resolve
from acta.engine.recovery.recover import align, wake_again
from acta.engine.sessions.bodies import Resolve

Json = Mapping[str, Any]


def resolve_intervention(api: Api, session_id: str, intervention_id: str, body: Resolve) -> Response:
    requester = requester_of(api.request, status=200)

    def act() -> Json:
        chosen = Resolution(body.option, body.input, body.comment)
        _, decided = resolve(api.app, requester, session_id, intervention_id, chosen)
        return intervention_view(decided)

    def repeat(_: IdempotencyRecord) -> Json:
        decided = api.app.session_index.intervention(requester.tenant, intervention_id)
        if decided is None or not wake_again(
            api.app.repository, api.app.workflow, api.caller.tenant, session_id
        ):
            return {"session_id": session_id, "intervention_id": intervention_id}
        with suppress(SessionNotFound):  # deleted meanwhile
            align(api.app.repository.newest(api.caller.tenant, session_id), lambda: api.app.family)
        return intervention_view(decided)

    return success(api.app.idempotency.answer(requester.key, act, repeat))
