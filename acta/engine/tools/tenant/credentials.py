"""Headers of `http` tools that are credentials: how a definition refers to their values, how a call gets them, and how
they are kept out of what the model is given (docs/design/tools.md 27).

Servers repeat what they were told, in the form that their answers have. So a secret is looked for whole and in its
parts, as it is and in base64, in the answer and in the answer with its escapes undone once and twice. A server that
wants to tell the secret finds another form: it has the value.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from acta.engine.errors import AwsDenied, StoreThrottled, StoreUnavailable, ToolFailed, ToolNotRun
from acta.engine.tools.secret_reader import SecretUnusable
from acta.engine.tools.tenant.headers import FieldRefused
from acta.engine.tools.tool import MIN_VALUE_CHARS, NAME_RULE, HttpConfig, ToolSecret, is_secret_name

Secrets = Callable[[str, str, str], str | None]
"""From a tenant, a secret's name and when it was set last to its value; None: there is no such secret. A value that was
read before it was set is not used."""
Known = Callable[[str], Sequence[ToolSecret]]
"""From a tenant to what is known of its secrets."""


class Credentials(NamedTuple):
    """Of one call. `headers`: with their values. `values`: by the secrets' names."""

    headers: Mapping[str, str]
    values: Mapping[str, str]

    def hidden(self, text: str) -> str:
        """The text, in which each value is `[secret NAME]`. Linear in the text."""
        return without_echoes(text, self.values) if self.values else text


def with_references(given: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of an `http` tool as it is stored: values `{"secret": "name"}` of `headers` are in
    `secret_headers`. Raises FieldRefused.
    """
    if "secret_headers" in given:
        raise FieldRefused(
            "config.secret_headers",
            'There is no such field. Write {"secret": "NAME"} as the value of a header.',
        )
    headers = given.get("headers")
    if not isinstance(headers, Mapping):
        return dict(given)
    references = {header: value for header, value in headers.items() if isinstance(value, Mapping)}
    for value in references.values():
        name = value.get("secret")
        if value.keys() != {"secret"} or not isinstance(name, str) or not is_secret_name(name):
            raise FieldRefused(
                "config.headers", f'A header refers to a secret as {{"secret": "NAME"}}. {NAME_RULE}'
            )
    return {
        **given,
        "headers": {header: value for header, value in headers.items() if header not in references},
        "secret_headers": {header: value["secret"] for header, value in references.items()},
    }


def credentials_of(tool: str, config: HttpConfig, secrets: Secrets, known: Known, tenant: str) -> Credentials:
    """What a call of the tool is sent with. Raises ToolNotRun where the store of the secrets is away or refuses, and
    ToolFailed where an admin has to do something. Neither says more of a secret than its name.
    """
    values: dict[str, str] = {}
    try:
        about = {each.name: each for each in known(tenant)} if config.secret_headers else {}
        for name in dict.fromkeys(config.secret_headers.values()):
            secret = about.get(name)
            if secret is None:
                raise _failed(tool, name, "is not set")
            if why := secret.refused_for(config.url):
                raise _failed(tool, name, why)
            try:
                value = secrets(tenant, name, secret.updated_at.isoformat())
            except SecretUnusable:
                raise _failed(tool, name, "holds no text that a header may have") from None
            if value is None:
                raise _failed(tool, name, "is not set")
            values[name] = value
    except (AwsDenied, StoreThrottled, StoreUnavailable) as away:
        raise ToolNotRun(away) from None
    return Credentials({header: values[name] for header, name in config.secret_headers.items()}, values)


def _failed(tool: str, name: str, what: str) -> ToolFailed:
    how = f"acta tools secrets set {name} --host HOST"
    return ToolFailed(
        f"{tool} did not run: its secret {name} {what}. An admin has to set it ({how}). Tell the user, or go on "
        "without it.",
        ran=False,
        remedy=f"Set it: {how}, with the host that it is to be sent to among them.",
    )


MAX_PARTS = 16
"""The most parts of one secret, the longest ones, that are looked for. This bounds the work; more cookies are rare."""
UNDONE = 2
"""How many nested levels of escapes are undone, such as HTML inside a JSON text."""
_ESCAPE = re.compile(
    r"\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\[\"'/\\]|%[0-9A-Fa-f]{2}|&#?[0-9A-Za-z]{2,8};", re.ASCII
)
"""Of JSON and JavaScript, of URLs, of HTML."""
_HEX_AT = {"\\u": 2, "\\x": 2, "%": 1}


def without_echoes(text: str, secrets: Mapping[str, str]) -> str:
    """The text, in which each value of `secrets` (by name) is `[secret NAME]`.

    Linear in the text: it is searched for each form of a secret at each level of escapes, at most
    `MAX_PARTS` x 8 x (1 + `UNDONE`) times.
    """
    forms = {form: name for name, value in secrets.items() for form in _forms(value)}
    found: list[tuple[int, int, str]] = []
    levels: list[_Escapes] = []
    searched = text
    while forms:
        for start, end, name in _places(searched, forms):
            for level in reversed(levels):
                start, end = level.before(start), level.before(end)
            found.append((start, end, name))
        if len(levels) == UNDONE:
            break
        searched, level = _undone(searched)
        if not level.at:
            break
        levels.append(level)
    return _replaced(text, found)


class _Escapes(NamedTuple):
    """Where a text had escapes. `at`: the place of each in the text without escapes. `after`: where the text goes on
    after each, in the text without escapes and in the one with them.
    """

    at: list[int]
    after: list[tuple[int, int]]

    def before(self, place: int) -> int:
        """The place in the text with the escapes."""
        last = bisect_left(self.at, place) - 1
        if last < 0:
            return place
        undone, original = self.after[last]
        return original + max(0, place - undone)


def _undone(text: str) -> tuple[str, _Escapes]:
    pieces, at, after = [], [], []
    done = length = 0
    for match in _ESCAPE.finditer(text):
        char = _char(match[0])
        if char == match[0]:
            continue
        pieces += [text[done : match.start()], char]
        length += match.start() - done
        at.append(length)
        length += len(char)
        done = match.end()
        after.append((length, done))
    return "".join([*pieces, text[done:]]), _Escapes(at, after)


def _char(escape: str) -> str:
    if escape[0] == "&":
        from html import unescape

        return unescape(escape)
    digits = _HEX_AT.get(escape[: 2 if escape[0] == "\\" else 1])
    return escape[1] if digits is None else chr(int(escape[digits:], 16))


def _places(text: str, forms: Mapping[str, str]) -> Iterable[tuple[int, int, str]]:
    for form, name in forms.items():
        start = text.find(form)
        while start >= 0:
            yield start, start + len(form), name
            start = text.find(form, start + len(form))


def _replaced(text: str, found: list[tuple[int, int, str]]) -> str:
    """The text with secrets' names in place of the finds. Of overlapping finds, the first one's name stands for all."""
    pieces: list[str] = []
    done = 0
    for start, end, name in sorted(found, key=lambda place: (place[0], -place[1])):
        if start >= done:
            pieces += [text[done:start], f"[secret {name}]"]
        done = max(done, end)
    return "".join([*pieces, text[done:]])


def _forms(value: str) -> set[str]:
    forms = set()
    for part in _parts(value):
        once = _undone(part)[0]
        forms |= {part, once, _undone(once)[0], *_in_base64(part)}
    return {form for form in forms if len(form) >= MIN_VALUE_CHARS}


def _parts(value: str) -> list[str]:
    """The parts that a server may repeat by themselves: all of it, what comes after its scheme (`Bearer …`), what
    `Basic` has in base64, the things that it lists and their values (`sid=…; lang=en`).
    """
    scheme, space, rest = value.partition(" ")
    if not space or not scheme.replace("-", "").isalnum():
        scheme, rest = "", value
    parts = {value, value.replace(" ", "+"), rest.strip(), rest.strip().rstrip("=")}
    if scheme.lower() == "basic":
        decoded = _from_base64(rest.strip())
        parts |= {decoded, *decoded.split(":", 1)}
    for listed in re.split("[;,]", rest):
        _, is_named, given = listed.partition("=")
        parts.add(listed.strip(" \"'"))
        if is_named:
            parts |= {given.strip(" \"'"), given.strip(" \"'=")}
    long = (part for part in parts if len(part) >= MIN_VALUE_CHARS)
    return sorted(long, key=lambda part: (-len(part), part))[:MAX_PARTS]


def _from_base64(text: str) -> str:
    import base64

    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "replace")
    except ValueError:
        return ""


def _in_base64(part: str) -> Iterable[str]:
    """The characters of the part's base64 that do not depend on what stands before and after it: three forms, for its
    place in a group of three bytes, in each of two alphabets.
    """
    import base64

    for shift in range(3):
        content = b"\0" * shift + part.encode("utf-8", "replace")
        start, end = (shift * 8 + 5) // 6, len(content) * 8 // 6
        yield base64.b64encode(content)[start:end].decode()
        yield base64.urlsafe_b64encode(content)[start:end].decode()
