"""Whether a reply only says what the model is about to do (ADR 184), in words or with a call that stands in its text.
Such a text answers nothing: the run goes on.

No list of words knows every sentence. A wrong guess costs little: an announcement that is not seen counts as an answer,
of which the model was reminded before, and an answer that is taken for one is asked for once more.
"""

import re
from bisect import bisect_left
from collections.abc import Collection

from acta.engine.turn.final_answer import FENCE, without_code_block, without_marker
from acta.engine.untrusted.exact_json import InvalidJson, parse_value

MAX_ANNOUNCEMENT_CHARS = 300
"""A longer text says more than what comes next."""

_OPENER = re.compile(
    r"(?:okay|ok|sure(?: thing)?|alright|all right|right|great|got it|certainly|absolutely|of course|understood|yes|"
    r"no problem|perfect|thanks|thank you|hi|hello|gut|klar|gerne|verstanden|natürlich|in ordnung|alles klar|hallo|"
    r"bien sûr|d'accord|très bien|claro|vale|de acuerdo|va bene|certo|natuurlijk|goed|好的|好|はい|わかりました)"
    r"(?:[\s,!.。，！…–—-]+|$)",
)
"""What may stand before the announcement, as a sentence of its own or as its first word."""
_INTENT = re.compile(
    # English
    r"(?:(?:first|now|next|then|so|well|and|finally|to [^,.]{1,80}),?\s+)?"
    r"(?:(?:let me|let us|let's|i'll|i will|i(?:'m| am) (?:now )?(?:going to|about to)|i need to)\b"
    r"(?! (?:know|be|have|ask|say|tell|just be|always)\b)|"
    r"i(?:'m| am) (?:now )?(?:reading|checking|looking|listing|searching|opening|fetching|starting)\b|"
    r"(?:reading|checking|looking|listing|searching|opening|fetching|starting|working)\b.*…$)|"
    # German
    r"(?:(?:zuerst|zunächst|jetzt|nun|dann|als nächstes)\s+)?(?:ich\s+)?"
    r"(?:(?:sehe|schaue)(?: ich)? mir|(?:werde|lese|prüfe|überprüfe|suche|durchsuche|öffne|hole|beginne)\b)|"
    r"(?:lass|lassen sie) mich\b(?! wissen)|"
    # French
    r"(?:d'abord |maintenant )?(?:je (?:vais(?! (?:bien|mieux|très))|regarde|lis|cherche|vérifie|consulte)\b|"
    r"(?:laisse|laissez|permets|permettez)-moi\b(?! savoir))|"
    # Spanish, Portuguese and Italian
    r"(?:primero |ahora |agora |ora |adesso )?(?:(?:voy|vamos) a|déjame|déjeme|permíteme|permítame|vou|deixe-me|"
    r"deixa-me|fammi|lasciami|sto per|leggo|controllo|verifico|cerco)\b(?! (?:saber|sapere|bem))|"
    # Dutch
    r"(?:eerst |nu )?(?:ik (?:ga|zal|kijk|lees|zoek)|(?:ga|zal) ik|laat me|laat mij)\b(?! weten)|"
    # Chinese and Japanese
    r"(?:首先|现在|接下来)?[，,]?(?:让我|我来|我先|我将|我会)(?!.*(?:帮|如果))|"
    r".*(?:確認|検索|調査|調べ|見て|読み|読んで)(?:て)?(?:み)?(?:し|いたし)?ます",
)
_HELD_BACK = re.compile(
    r"\b(?:not|never|cannot|if you|when you|whenever|once you|as soon as|unless|anything|whatever|happy|glad|gladly|"
    r"nicht|nie|kein\w{0,3}|wenn|falls|sobald|gern|gerne|pas|jamais|lorsque|dès que|cuando|nunca|quando|niet|geen|"
    r"als je|als u)\b|n't\b|\bsi\b|[?？不]"
)
"""What makes a refusal, an offer or a question of it."""
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!。！…:;])\s+|(?<=[。！])|\n+")


def announces(text: str) -> bool:
    """Whether the text says what its author is about to do, and nothing more."""
    words = without_marker(text).lower().replace("’", "'").replace("...", "…")
    if len(words) > MAX_ANNOUNCEMENT_CHARS or _HELD_BACK.search(words):
        return False
    has_intent = False
    for sentence in filter(None, map(str.strip, _BETWEEN_SENTENCES.split(words))):
        while (opener := _OPENER.match(sentence)) is not None:
            sentence = sentence[opener.end() :]
        if sentence and _INTENT.match(sentence) is None:
            return False
        has_intent |= bool(sentence)
    return has_intent


_CALL = re.compile(
    r"^ {0,3}(?:[\w.:]{0,80}<[|｜](?:tool|python_tag|DSML)[^\s<>]{0,40}>|<(?:[a-z]{1,8}:)?(?:tool|function)_calls?>|"
    r"<function=|<invoke name=|\[TOOL_CALLS\]|<\|channel\|>commentary to=|```tool_code)(?! [^\W\d_]+ )",
    re.IGNORECASE | re.MULTILINE,
)
"""How the templates of open models begin a call. Where their server does not read it, it stands in the reply's text."""
_KEYS_OF_A_CALL = {"name", "arguments", "parameters", "type", "id"}


def words_before_call(text: str, tools: Collection[str]) -> str | None:
    """The words before a call that stands in a reply's text; empty: they say nothing more than that it comes. None: the
    text has no call, or explains one. `tools`: the names of those that the model may call.
    """
    words = without_marker(text)
    if _is_json_of_calls(without_code_block(words), tools):
        return ""
    fences = [fence.start() for fence in FENCE.finditer(words)]
    outside = (one for one in _CALL.finditer(words) if bisect_left(fences, one.start()) % 2 == 0)
    found = next(outside, None)
    if found is None:
        return None
    before = words[: found.start()].strip()
    if not before or announces(before):
        return ""
    return before if any(words.rfind(name) >= found.end() for name in tools) else None


def _is_json_of_calls(text: str, tools: Collection[str]) -> bool:
    try:
        value = parse_value(text) if text.startswith(("{", "[")) else None
    except (InvalidJson, RecursionError):
        return False
    calls = value if isinstance(value, list) else [value]
    return bool(calls) and all(
        isinstance(call, dict)
        and str(call.get("name")) in tools
        and call.keys() <= _KEYS_OF_A_CALL
        and not call.keys().isdisjoint(("arguments", "parameters"))
        for call in calls
    )
