"""The tool `get_weather`: the current weather at a place, from Open-Meteo's geocoding and forecast APIs, without a key.

Fields and weather codes: https://open-meteo.com/en/docs and /en/docs/geocoding-api. Texts in their answers come from
outside, so each is cut to one short line.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from acta.engine.egress.address import HTTPS_PORT, Target, look_up
from acta.engine.errors import ToolFailed
from acta.engine.tools.port import BuiltinCall
from acta.engine.tools.tool import BuiltinTool, fields, text
from acta.engine.untrusted.quoting import OutsideText
from acta.engine.untrusted.visible import visible

MAX_SECONDS = 10.0
"""The most seconds that each of the two requests may take."""
MAX_NAME_CHARS = 80
MAX_BYTES = 262_144
"""The most bytes of an answer."""
HEADERS = {"Accept": "application/json", "User-Agent": "acta"}
CANDIDATES = 10
"""The most places that the geocoding API may return."""
CURRENT = (
    "temperature_2m", "apparent_temperature", "relative_humidity_2m", "precipitation", "weather_code",
    "wind_speed_10m",
)  # fmt: skip
UNITS = {
    "temperature_2m": "°C",
    "apparent_temperature": "°C",
    "relative_humidity_2m": "%",
    "precipitation": "mm",
    "wind_speed_10m": "km/h",
}
"""The units where the answer names none."""

SKY: Mapping[int, str] = {
    0: "clear sky", 1: "mainly clear", 2: "partly cloudy", 3: "overcast", 45: "fog", 48: "fog with rime",
    51: "light drizzle", 53: "drizzle", 55: "dense drizzle", 56: "light freezing drizzle",
    57: "freezing drizzle",
    61: "light rain", 63: "rain", 65: "heavy rain", 66: "light freezing rain", 67: "freezing rain",
    71: "light snow", 73: "snow", 75: "heavy snow", 77: "snow grains", 80: "light rain showers",
    81: "rain showers", 82: "violent rain showers", 85: "light snow showers", 86: "heavy snow showers",
    95: "thunderstorm", 96: "thunderstorm with hail", 99: "thunderstorm with heavy hail",
}  # fmt: skip


class Place(NamedTuple):
    """`name`: with region and country. `latitude`, `longitude`: in degrees."""

    name: str
    latitude: float
    longitude: float


class Weather(NamedTuple):
    """The addresses of both APIs."""

    geocoding: str = "https://geocoding-api.open-meteo.com"
    forecast: str = "https://api.open-meteo.com"

    def at(self, location: str, deadline_seconds: float) -> str:
        """The weather as a sentence with units. `deadline_seconds`: the time for both requests
        (`CallContext.deadline_seconds`).

        Raises ToolFailed where the place is unknown or no usable answer comes in time.
        """
        seconds = max(0.5, min(MAX_SECONDS, deadline_seconds / 2))
        place = self._place(location, seconds)
        query = {
            "latitude": str(place.latitude),
            "longitude": str(place.longitude),
            "current": ",".join(CURRENT),
            "timezone": "auto",
        }
        return _sentence(place, self._json(f"{self.forecast}/v1/forecast", query, seconds))

    def _place(self, location: str, seconds: float) -> Place:
        """Searches for the part before the first comma. The other parts choose among the places found."""
        town, *others = [part.strip() for part in location.split(",") if part.strip()] or [""]
        if not town:
            raise ToolFailed("the location is blank. Name a town, or a town and its country.")
        query = {"name": town, "count": str(CANDIDATES), "language": "en", "format": "json"}
        results = self._json(f"{self.geocoding}/v1/search", query, seconds).get("results")
        found = [one for one in results if isinstance(one, dict)] if isinstance(results, list) else []
        if not found:
            raise ToolFailed(
                f"no place called {_line(town)} was found. Try another spelling, or a town nearby."
            )
        fitting = [one for one in found if all(_is_in(one, other) for other in others)]
        if not fitting:
            known = "\n".join(dict.fromkeys(_name(one) for one in found[:5]))
            raise ToolFailed(
                f"no {_line(town)} in {_line(', '.join(others))} was found. These are known:",
                OutsideText("weather", town, known),
            )
        try:
            return Place(_name(fitting[0]), float(fitting[0]["latitude"]), float(fitting[0]["longitude"]))
        except (KeyError, TypeError, ValueError):
            raise _failed("answered without usable weather") from None

    def _json(self, url: str, query: Mapping[str, str], seconds: float) -> dict[str, Any]:
        """The JSON object at `url`, without redirects and retries. `seconds`: for everything together. Raises
        ToolFailed where there is none.
        """
        from acta.engine.egress.exchange import AnswerTooLarge, NoAnswer, NotSent, exchange

        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or HTTPS_PORT
        try:
            ip = look_up(host, port)[0]
            target = Target(parts.scheme, host, port, f"{parts.path}?{urlencode(query)}", ip)
            answer = exchange(target, "GET", HEADERS, None, seconds, most=MAX_BYTES)
        except (OSError, NotSent, NoAnswer):
            raise _failed("did not answer") from None
        except AnswerTooLarge:
            raise _failed("answered with too much") from None
        if answer.status != 200:
            raise _failed(f"answered with status {answer.status}")
        try:
            value = json.loads(answer.body)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise _failed("answered with something else than JSON")
        return value


def _failed(how: str) -> ToolFailed:
    return ToolFailed(f"the weather service {how}. Try again later, or go on without it.")


def _is_in(place: Mapping[str, Any], other: str) -> bool:
    names = (place.get(key) for key in ("country", "country_code", "admin1", "admin2", "admin3"))
    wanted = _ALIASES.get(other.casefold(), other.casefold())
    return any(isinstance(name, str) and name.casefold() in (wanted, other.casefold()) for name in names)


_ALIASES = {"usa": "united states", "u.s.": "united states", "uk": "united kingdom"}


def _name(place: Mapping[str, Any]) -> str:
    parts = [place.get(key) for key in ("name", "admin1", "country")]
    return ", ".join(dict.fromkeys(_line(part) for part in parts if isinstance(part, str) and part.strip()))


def _sentence(place: Place, answer: Mapping[str, Any]) -> str:
    current = answer.get("current")
    if not isinstance(current, dict) or not isinstance(current.get("temperature_2m"), int | float):
        raise _failed("answered without usable weather")
    given = answer.get("current_units")
    units = (
        {**UNITS, **{k: v for k, v in given.items() if isinstance(v, str)}}
        if isinstance(given, dict)
        else UNITS
    )

    def measured(field: str) -> str | None:
        value = current.get(field)
        return f"{value} {_line(units[field])}" if isinstance(value, int | float) else None

    code = current.get("weather_code")
    feels, humidity, rain, wind = (
        measured(name)
        for name in ("apparent_temperature", "relative_humidity_2m", "precipitation", "wind_speed_10m")
    )
    parts = [
        SKY.get(code) if isinstance(code, int) else None,
        f"{measured('temperature_2m')}{f' (feels like {feels})' if feels else ''}",
        humidity and f"humidity {humidity}",
        rain and f"precipitation {rain}",
        wind and f"wind {wind}",
    ]
    when = current.get("time")
    at = f" at {_line(when).replace('T', ' ')} local time" if isinstance(when, str) else ""
    return f"Weather in {place.name}{at}: {', '.join(part for part in parts if part)}. Source: Open-Meteo."


def _line(words: str) -> str:
    return visible(" ".join(words.split())[:MAX_NAME_CHARS], keep_newlines=False)


def get_weather(call: BuiltinCall) -> OutsideText:
    location = call.arguments["location"]
    return OutsideText("weather", location, Weather().at(location, call.context.deadline_seconds))


TOOLS = (
    BuiltinTool(
        name="get_weather",
        description="Current weather at a place.",
        input_schema=fields(("location",), location=text("Town, or town and country", maxLength=200)),
        risk="network",
        optional=True,
        run=get_weather,
    ),
)
