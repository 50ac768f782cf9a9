"""A house with schedules: people who write them over the API, and the minute's round that fires them."""

from datetime import UTC, datetime
from typing import Any

from acta.engine.bound_tenant import bound
from acta.engine.log.head import Head
from acta.engine.schedules.schedule import Schedule
from tests.api.gateway import Answer, Context, Gateway, api_of, claims
from tests.doubles.audit import memory_audit
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import plans
from tests.people.policies import ENDS, house_with

SUNDAY = datetime(2027, 3, 28, tzinfo=UTC)
"""The day on which the clocks of Berlin are set forward, at 01:00 UTC."""
NIGHTLY: dict[str, Any] = {
    "schedule_id": "nightly",
    "agent_id": "default",
    "goal": "Report of {{date}}, since {{last}}.",
    "cron": "30 2 * * *",
    "timezone": "Europe/Berlin",
}


class Scheduled:
    """`now`: when it begins. `house`: None: one of its own. `settings`: of the deployment; `agent`: fields of its
    default agent."""

    def __init__(
        self,
        now: datetime = SUNDAY,
        house: House | None = None,
        *,
        settings: dict[str, Any] | None = None,
        **agent: Any,
    ) -> None:
        turns = [plans("look"), *ENDS] * 60
        self.house: House = house or house_with(*turns, settings=settings, **agent)
        self.house.clock.set(now)
        app = self.house.app(audit=memory_audit(), limiter=None)
        self.apis = {name: api_of(name, app) for name in ("admin", "start")}
        self.recovery = self.house.recovery()

    def ask(
        self, method: str, path: str = "", body: Any = None, user: str = "ann", *roles: str, **sent: Any
    ) -> Answer:
        function = "start" if path.endswith("/run") else "admin"
        token = claims(tenant=TENANT, user=user, roles=["member", *roles])
        gateway = Gateway(self.apis[function].handler, token)
        return gateway.request(method, f"/v1/schedules{path}", json_body=body, **sent)

    def create(self, user: str = "ann", *roles: str, **fields: Any) -> Answer:
        return self.ask("POST", "", {**NIGHTLY, **fields}, user, *roles)

    def made(self, **fields: Any) -> None:
        answer = self.create(**fields)
        assert answer.status == 201, answer.body

    def at(self, *moment: int) -> None:
        """Moves the clock to this time, in UTC, and makes the round."""
        self.house.clock.set(datetime(*moment, tzinfo=UTC))  # type: ignore[misc, arg-type]
        self.round()

    def round(self) -> None:
        self.recovery.handle({"round": "timed"}, Context())
        assert bound() is None

    def history(self, schedule_id: str = "nightly") -> list[tuple[str, str]]:
        """Of each time, the oldest first: when it was, and its outcome."""
        items = self.ask("GET", f"/{schedule_id}/runs", query={"limit": "200"}).data["items"]
        return [(each["tick"][5:16], each["outcome"]) for each in reversed(items)]

    @property
    def stored(self) -> Schedule:
        found = self.house.app().schedules.get(TENANT, "nightly")
        assert found is not None
        return found

    def last(self) -> Head:
        return self.house.head(self.stored.last_session)

    def sessions(self) -> list[Head]:
        """All that were started, oldest first."""
        found = self.house.index.sessions(TENANT, states=(), agent_id=None, limit=100, cursor=None).entries
        return [self.house.head(each.session_id) for each in reversed(found)]
