"""The tool `wait_until`: the agent sleeps, and its session has no execution meanwhile (docs/design/tools.md)."""

from datetime import datetime, timedelta

from acta.engine.errors import ToolFailed, ToolLater
from acta.engine.log.head import Later
from acta.engine.tools.port import BuiltinCall
from acta.engine.tools.tool import BuiltinTool, fields

LONGEST = timedelta(days=366)


def wait_until(call: BuiltinCall) -> str:
    """Raises ToolLater, and ToolFailed for a time that cannot be waited for."""
    now, arguments = call.reach.clock.now(), call.arguments
    if ("time" in arguments) == ("seconds" in arguments):
        raise ToolFailed("give either `time` or `seconds`.")
    if "seconds" in arguments:
        until = now + timedelta(seconds=min(float(arguments["seconds"]), 2 * LONGEST.total_seconds()))
    else:
        try:
            until = datetime.fromisoformat(arguments["time"])
        except ValueError:
            raise ToolFailed("`time` is no time. Write it as 2027-01-31T08:00:00+01:00.") from None
        if until.tzinfo is None:
            raise ToolFailed(
                "`time` has no time zone. Write it as 2027-01-31T08:00:00+01:00, or with Z for UTC."
            )
    if until <= now:
        return f"That time is over already. It is now {now:%Y-%m-%d %H:%M:%S} UTC."
    if until - now > LONGEST:
        raise ToolFailed(f"the wait is longer than {LONGEST.days} days.")
    raise ToolLater(Later(kind="time", began=now, until=until.astimezone(now.tzinfo)))


TOOLS = (
    BuiltinTool(
        name="wait_until",
        description="Sleeps until a time, or for some seconds.",
        input_schema=fields(
            time={"type": "string", "description": "RFC 3339"},
            seconds={"type": "number", "minimum": 0},
        ),
        bounded=True,
        repeatable=True,
        run=wait_until,
    ),
)
