"""What a server says again of a secret, in the forms that answers have, is not there for the model."""

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest

from acta.engine.tools.tenant.credentials import MAX_PARTS, without_echoes

KEY = "sk+live/12&34<\"5'=%4167"
PAIR = "desk-team:S3cr3t+Pass=1"
BASIC = "Basic " + base64.b64encode(PAIR.encode()).decode()


def hidden(text: str, value: str = KEY) -> str:
    return without_echoes(text, {"desk": value})


def in_u(text: str, upper: bool) -> str:
    """As JSON may have it: each character that is neither letter nor digit as `\\u…`."""
    digits = "04X" if upper else "04x"
    return "".join(char if char.isalnum() else f"\\u{ord(char):{digits}}" for char in text)


FORMS = {
    "as it is": KEY,
    "JSON": json.dumps(KEY)[1:-1],
    "JSON with slashes escaped": json.dumps(KEY)[1:-1].replace("/", "\\/"),
    "JSON of .NET": in_u(KEY, upper=True),
    "JSON of Go": in_u(KEY, upper=False),
    "JSON, a part of it escaped": KEY.replace("+", "\\u002B").replace('"', '\\"').replace("&", "\\u0026"),
    "JavaScript": "".join(f"\\x{ord(char):02x}" for char in KEY),
    "a URL": quote(KEY),
    "a URL, all of it": quote(KEY, safe=""),
    "a URL, in small letters": "".join(char if char.isalnum() else f"%{ord(char):02x}" for char in KEY),
    "a form": quote_plus(KEY),
    "HTML": html.escape(KEY),
    "HTML by number": "".join(f"&#{ord(char)};" for char in KEY),
    "HTML by number, as hex": "".join(f"&#x{ord(char):X};" for char in KEY),
    "HTML by name": KEY.replace("&", "&amp;")
    .replace("+", "&plus;")
    .replace("/", "&sol;")
    .replace("<", "&lt;"),
    "HTML in JSON": json.dumps(html.escape(KEY)),
    "JSON in JSON": json.dumps(json.dumps(KEY)),
    "a URL in HTML in JSON": json.dumps(html.escape(quote(KEY))),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 for URLs": base64.urlsafe_b64encode(KEY.encode()).decode().rstrip("="),
    "base64 in a URL": quote(base64.b64encode(KEY.encode()).decode(), safe=""),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [KEY, f"Bearer {KEY}", f"token={KEY}", f'Token token="{KEY}", id=1'])
def test_a_secret_is_found_in_the_forms_that_answers_have(form: str, value: str) -> None:
    said = hidden(f'{{"a\\u00e9%20": 1, "said": "{FORMS[form]}", "b&amp;": 2}}', value)
    assert "[secret desk]" in said
    assert said.startswith('{"a\\u00e9%20": 1, "said": "')
    assert said.endswith('", "b&amp;": 2}')
    for gone in ("live", "4167", "34&", "c2sr", FORMS[form]):
        assert gone not in said


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "user:"])
@pytest.mark.parametrize("after", ["", "z", "yz"])
def test_a_secret_is_found_wherever_it_stands_in_base64(before: str, after: str) -> None:
    said = hidden(base64.b64encode(f"{before}{KEY}{after}".encode()).decode())
    rest = said.replace("[secret desk]", "")
    assert len(rest) < len(said)
    assert len(rest) <= len(base64.b64encode(f"{before}{after}".encode())) + 4


@pytest.mark.parametrize(
    "said", [BASIC, BASIC[6:], PAIR, "S3cr3t+Pass=1", "S3cr3t\\u002BPass\\u003d1", "desk-team"]
)
def test_what_basic_has_in_base64_is_found_decoded(said: str) -> None:
    assert hidden(json.dumps({"password": said}), BASIC) == '{"password": "[secret desk]"}'


@pytest.mark.parametrize(
    "value", ["sid=S3CR3T-99; lang=en", "lang=en; sid=S3CR3T-99", 'x; sid="S3CR3T-99",b']
)
def test_a_cookie_is_found_by_its_parts(value: str) -> None:
    assert hidden('{"sid": "S3CR3T-99", "lang": "en"}', value) == '{"sid": "[secret desk]", "lang": "en"}'


def test_words_of_a_passphrase_are_words() -> None:
    assert (
        hidden("the database has a password", "open database password now") == "the database has a password"
    )


def test_places_that_overlap_are_one() -> None:
    assert hidden("x Bearer abcdefgh-1 y", "Bearer abcdefgh-1") == "x [secret desk] y"
    assert without_echoes("abcdefghijkl", {"a": "abcdefgh", "b": "efghijkl"}) == "[secret a]"


def test_nothing_else_is_changed() -> None:
    text = '{"a": "\\u002B \\/ %2B &amp; &unknown; \\\\ %zz \\u12", "b": "Bearer sk+live"}'
    assert hidden(text) == text


def test_so_many_parts_of_a_secret_are_looked_for_the_longest_ones() -> None:
    value = "; ".join(f"n{number}={'v' * (40 - number)}-{number}" for number in range(MAX_PARTS))
    assert hidden(value, value) == "[secret desk]"
    assert hidden(f"n0={'v' * 40}-0", value) == "[secret desk]"
    assert hidden(f"{'v' * 25}-15", value) == f"{'v' * 25}-15"
