"""Schedules: `/v1/schedules` (docs/design/schedules.md). Whoever wrote one and admins may change it."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from acta.engine.agents.agent import require_start_role
from acta.engine.agents.store import DefinitionChanged, DefinitionExists
from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, no_content, page, success
from acta.engine.api.idempotency import Json, idempotency_key, record_of
from acta.engine.api.json_body import RequestBody, optional
from acta.engine.api.listing_cursor import (
    MAX_LONG_PAGE,
    MAX_PAGE,
    ListingCursor,
    bounded_page,
    listing_cursor,
)
from acta.engine.api.resource import Applicable, Resource, applied_after, version_tag
from acta.engine.clock import SCHEDULE
from acta.engine.errors import Conflict, FieldsInvalid, Forbidden
from acta.engine.limits.caps import beyond
from acta.engine.log.head import MAX_ROLES
from acta.engine.schedules.answers import next_times, run_view, schedule_view
from acta.engine.schedules.schedule import (
    MAX_SCHEDULES,
    SCHEDULE_ID_PATTERN,
    Schedule,
    ScheduleRun,
    ScheduleSettings,
)
from acta.engine.store.keys import from_cursor, to_cursor

WRITES = 5
"""How often a change is tried: a round may move the schedule on meanwhile."""
EXAMPLE: Mapping[str, Any] = {
    "agent_id": "default",
    "goal": "Write reports/{{date}} {{time}}.md about the orders that came since {{last}}.",
    "cron": "0 8 * * 1-5",
    "timezone": "Europe/Berlin",
}


class ScheduleBody(ScheduleSettings, Applicable):
    """A whole schedule. Absent fields take their defaults."""


class CreateSchedule(ScheduleBody):
    """A whole schedule. Absent fields take their defaults."""

    EXAMPLES: ClassVar = {
        "weekdays": {"schedule_id": "morning-report", **EXAMPLE},
        "rate": {
            "agent_id": "default",
            "goal": "Look for new orders.",
            "every": "15 minutes",
            "overlap": "queue",
            "catch_up": "none",
            "limits": {"max_steps": 20},
        },
    }

    schedule_id: Annotated[str, Field(pattern=SCHEDULE_ID_PATTERN)] | None = None
    """Its id. Absent: Acta makes one."""


class PutSchedule(ScheduleBody):
    """A whole schedule. Absent fields take their defaults."""

    EXAMPLES: ClassVar = {"weekdays": EXAMPLE}

    version: Annotated[int, Field(ge=1)] | None = None
    """The version that it replaces. If another version is in force, the answer is 409."""


if TYPE_CHECKING:

    class _Named(ScheduleSettings, RequestBody):
        pass
else:
    _Named = optional(ScheduleSettings, RequestBody)


class ChangeSchedule(_Named):
    """What changes. Absent fields stay as they are, and null is a field's default."""

    EXAMPLES: ClassVar = {
        "another time": {"cron": "30 7 * * 1-5"},
        "a rate": {"cron": None, "every": "6 hours"},
    }


def _is_private(api: Api, schedule: Schedule) -> bool:
    return (schedule.visibility or api.settings.default_visibility) == "private"


def _is_hidden(api: Api, schedule: Schedule) -> bool:
    """Whether the caller, an admin, is shown it without what is private."""
    return _is_private(api, schedule) and schedule.created_by != api.caller.user


def _view(api: Api, schedule: Schedule) -> Json:
    return schedule_view(schedule, hidden=_is_hidden(api, schedule))


def _find(api: Api, tenant: str, schedule_id: str) -> Schedule | None:
    """None also for somebody else's private schedule. An admin finds it, to pause or to delete it."""
    found = api.app.schedules.get(tenant, schedule_id)
    if found is None or (_is_hidden(api, found) and "admin" not in api.caller.roles):
        return None
    return found


def schedules_of(api: Api) -> Resource[Schedule]:
    return Resource[Schedule](
        api,
        find=partial(_find, api),
        view=partial(_view, api),
        tag=version_tag,
        missing="There is no such schedule.",
        changed="The schedule was changed meanwhile. Read it again and decide again.",
    )


def list_schedules(
    api: Api, limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 50, cursor: ListingCursor = None
) -> Response:
    tenant, is_admin = api.caller.tenant, "admin" in api.caller.roles
    with listing_cursor():
        after = "" if cursor is None else from_cursor(f"schedules of {tenant}", cursor)
    known = [each for each in api.app.schedules.all(tenant) if is_admin or not _is_hidden(api, each)]
    left = [each for each in known if each.schedule_id > after]

    def read(most: int) -> tuple[list[Json], str | None]:
        last = left[most - 1].schedule_id if most < len(left) else None
        following = None if last is None else to_cursor(f"schedules of {tenant}", last)
        return [_view(api, each) for each in left[:most]], following

    return bounded_page(read, limit)


def create_schedule(api: Api, body: CreateSchedule) -> Response:
    tenant, now = api.caller.tenant, api.app.clock.now()
    schedule = Schedule(
        **_settings_of(body),
        schedule_id=body.schedule_id or api.app.clock.new_id(SCHEDULE),
        created_by=api.caller.user,
        roles=_roles(api),
        applied=applied_after(body, None),
        created_at=now,
        updated_at=now,
    )
    _check(api, schedule)
    schedule = schedule.model_copy(update={"next_at": next(schedule.times.after(now), None)})
    key = idempotency_key(api.request, 201)

    def create() -> Json:
        view = _view(api, schedule)
        if len(api.app.schedules.all(tenant)) >= MAX_SCHEDULES:
            raise Conflict(f"Your tenant has {MAX_SCHEDULES} schedules, as many as it may have. Delete some.")
        try:
            api.app.schedules.create(tenant, schedule, record_of(key, view, now))
        except DefinitionExists:
            message = "There is a schedule of this id already; PUT replaces it."
            raise Conflict(message, {"schedule_id": [message]}) from None
        return view

    view = api.app.idempotency.answer(key, create)
    return success(view, 201, {"Location": f"/v1/schedules/{view['schedule_id']}"})


def read_schedule(api: Api, schedule_id: str) -> Response:
    schedules = schedules_of(api)
    schedule = schedules.get(schedule_id)
    return success(
        {**_view(api, schedule), "next": next_times(schedule, api.app.clock.now())},
        headers={"ETag": version_tag(schedule)},
    )


def replace_schedule(api: Api, schedule_id: str, body: PutSchedule) -> Response:
    def rewritten(old: Schedule) -> Schedule:
        return _rewritten(api, old, _settings_of(body), applied=applied_after(body, old.applied))

    return _written(api, schedule_id, rewritten, body.version)


def change_schedule(api: Api, schedule_id: str, body: ChangeSchedule) -> Response:
    def rewritten(old: Schedule) -> Schedule:
        named = {name: getattr(body, name) for name in body.model_fields_set}
        fields = ScheduleSettings.model_fields
        nothing = [name for name, value in named.items() if value is None and fields[name].is_required()]
        if nothing:
            raise FieldsInvalid({name: ["A schedule needs it, so it cannot be null."] for name in nothing})
        defaults = {name: field.get_default(call_default_factory=True) for name, field in fields.items()}
        return _rewritten(
            api, old, {name: defaults[name] if value is None else value for name, value in named.items()}
        )

    return _written(api, schedule_id, rewritten)


def delete_schedule(
    api: Api, schedule_id: str, version: Annotated[int | None, Field(ge=1)] = None
) -> Response:
    """Its sessions stay."""
    schedules = schedules_of(api)
    for _ in range(WRITES):
        old = schedules.get_as_read(schedule_id, version)
        require_writer(api, old)
        with suppress(DefinitionChanged):
            api.app.schedules.delete(api.caller.tenant, old)
            return no_content()
    raise schedules.refusal()


def pause_schedule(api: Api, schedule_id: str) -> Response:
    return _written(api, schedule_id, lambda old: _paused(api, old, paused=True), is_content=False)


def resume_schedule(api: Api, schedule_id: str) -> Response:
    return _written(api, schedule_id, lambda old: _paused(api, old, paused=False), is_content=False)


def list_schedule_runs(
    api: Api,
    schedule_id: str,
    limit: Annotated[int, Field(ge=1, le=MAX_LONG_PAGE)] = 50,
    cursor: ListingCursor = None,
) -> Response:
    schedule = schedules_of(api).get(schedule_id)
    with listing_cursor():
        found = api.app.schedules.runs(api.caller.tenant, schedule, limit=limit, cursor=cursor)
    return page([run_view(run) for run in found.runs], found.cursor)


def _written(
    api: Api,
    schedule_id: str,
    change: Callable[[Schedule], Schedule],
    version: int | None = None,
    *,
    is_content: bool = True,
) -> Response:
    """`change`: makes what is written of the schedule as it is. `version`: which it has to be. `is_content`: more than
    whether it is paused changes.
    """
    schedules = schedules_of(api)
    for _ in range(WRITES):
        old = schedules.get_as_read(schedule_id, version)
        require_writer(api, old, is_content=is_content)
        new = change(old)
        if new == old:
            return schedules.answer(old)
        with suppress(DefinitionChanged):
            written = api.app.schedules.replace(api.caller.tenant, old, new, _dropped(api, old, new))
            return schedules.answer(written)
    raise schedules.refusal()


def require_writer(api: Api, schedule: Schedule, *, is_content: bool = False) -> None:
    """Raises Forbidden. `is_content`: the request shows or changes what may be private."""
    if schedule.created_by == api.caller.user:
        return
    if "admin" not in api.caller.roles:
        raise Forbidden(
            "Only whoever wrote the schedule last, or an admin, may do this.", {"role": ["admin"]}
        )
    if is_content and _is_private(api, schedule):
        raise Forbidden("The schedule is private to whoever wrote it. You may pause or delete it.")


def _rewritten(api: Api, old: Schedule, settings: Mapping[str, Any], **more: Any) -> Schedule:
    """The schedule is the caller's from now on."""
    now = api.app.clock.now()
    changed = {**settings, **more, "created_by": api.caller.user, "roles": _roles(api)}
    new = old.model_copy(update={**changed, "version": old.version + 1, "updated_at": now})
    _check(api, new)
    return _at_next(old, new, api)


def _paused(api: Api, old: Schedule, *, paused: bool) -> Schedule:
    if old.paused == paused:
        return old
    changed = {"paused": paused, "version": old.version + 1, "updated_at": api.app.clock.now()}
    if not paused and old.created_by == api.caller.user:  # a restored one has none
        changed["roles"] = _roles(api)
    return _at_next(old, old.model_copy(update=changed), api)


def _at_next(old: Schedule, new: Schedule, api: Api) -> Schedule:
    """With the time that comes next. Times that came while it was paused are not made up for."""
    if new.times == old.times and not old.paused and not new.paused:
        return new
    following = next(new.times.after(api.app.clock.now()), None)
    return new.model_copy(update={"next_at": following, "queued": () if new.paused else new.queued})


def _dropped(api: Api, old: Schedule, new: Schedule) -> list[ScheduleRun]:
    """What becomes of the times that waited when the schedule is paused."""
    now, why = api.app.clock.now(), "The schedule was paused while this time waited."
    left_out = old.queued if not new.queued else ()
    return [ScheduleRun(tick=each, at=now, outcome="skipped", reason=why) for each in left_out]


def _settings_of(body: ScheduleSettings) -> dict[str, Any]:
    return {name: getattr(body, name) for name in ScheduleSettings.model_fields}


def _roles(api: Api) -> tuple[str, ...]:
    return tuple(sorted(api.caller.roles)[:MAX_ROLES])


def _check(api: Api, schedule: Schedule) -> None:
    """Raises FieldsInvalid, and StartRoleMissing where the caller may not start the agent's sessions."""
    agent = api.app.definitions.agent(api.caller.tenant, schedule.agent_id)
    if agent is None:
        raise FieldsInvalid({"agent_id": ["There is no agent of that id."]})
    require_start_role(agent, api.caller.roles)
    wrong = schedule.wrong()
    # Its sessions are started as a member's are, also those of an admin's schedule.
    limits = beyond(schedule.limit_values, agent.caps, api.settings.caps, is_admin=False)
    wrong |= {f"limits.{field}": [sentence] for field, sentence in limits.items()}
    if wrong:
        raise FieldsInvalid(wrong)
