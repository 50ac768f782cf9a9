"""A sentence of a person, read as a goal. English, by rules; what they do not cover is `Unsupported`.

Quoted text is taken out first, so that no word of it is read as an order.
"""

import re

from shared.adapters.llm.offline import goals as g
from shared.adapters.llm.offline.clauses import DELETES, GREETING, NEGATED, NOT_TO_DELETE, clauses, spared_by
from shared.adapters.llm.offline.naming import Names
from shared.adapters.llm.offline.reading_tasks import task_in

_LITERAL = re.compile(
    r"\b(?:with|containing|that contains|that says|saying|holding|which says)\s+"
    r"(?:exactly\s+)?(?:only\s+)?(?:the\s+|this\s+)?"
    r"(?:following\s+)?(?:(?:text|content|contents|line|lines|words?|message|body)\b)?\s*:?\s*(?P<text>\S.*)$"
    r"|:\s*(?P<after>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_ALREADY = (
    r"(?:it|this|that|them|those|(?:the|a|your|all|each|every)?\s*(?:\w+\s+)?"
    r"(?:summar(?:y|ies)|results?|answers?|list(?:ing)?|reports?|findings|outputs?|overview|counts?|totals?|numbers?|matches|weather|digest))"
)
_OUTPUT = re.compile(
    rf"^(?:please\s+)?(?:write|save|store|put|record|export|report|add)\s+(?:down\s+)?{_ALREADY}(?:\s+of\s+.*?)?\s+"
    rf"(?:down\s+)?(?:in\s?to|to|in|as|under)\s+",
    re.IGNORECASE,
)
_MADE = re.compile(
    r"^(?:write|create|make|save|store|put|prepare|generate|produce)\s+(?:me\s+)?(?:an?\s+|the\s+|one\s+)?"
    r"(?:\w+\s+)?(?P<kind>summary|overview|report|digest|list|listing|inventory|count)\s+(?:of|for|about|on|from)\s+"
    r"(?P<of>.+?)\s+(?:in\s?to|to|in|as|under|called|named)\s+(?:an?\s+|the\s+)?(?:new\s+)?(?:file\s+)?"
    r"(?:called\s+|named\s+)?(?P<path>\S+)$",
    re.IGNORECASE,
)
_MAKING = {"list": "list", "listing": "list", "inventory": "list", "count": "count"}
_PRONOUN = re.compile(r"\b(?:its?|that file|this file|the file|them|those)\b", re.IGNORECASE)
_INTO = re.compile(
    r"\s+(?:and\s+)?(?:in\s?to|to|as)\s+(?:a\s+|the\s+)?(?:new\s+)?(?:file\s+)?"
    r"(?:named\s+|called\s+)?(?P<name>\S+)\s*\.?$",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"^(?:please\s+)?(?:can you\s+|could you\s+)?"
    r"(?:do (?:something|anything|stuff|it|that|your (?:thing|job|work))|help(?: me)?|"
    r"clean(?:\s*(?:it|this|things|everything))?\s*up.*|tidy.*|organi[sz]e.*|fix (?:it|this|things|everything)|"
    r"improve (?:it|this|things)|go|start|work|continue|delete|remove|delete (?:something|it|that|some files?|files)|"
    r"(?:handle|sort out|deal with) (?:it|this|that|things|my files)|read|write|create|summari[sz]e|find|search|"
    r"something|anything|hello|hi|hey|test)\b[\s.!?]*$",
    re.IGNORECASE,
)
_READ = 4_000
_NAME_THEM = "Name the files, or say it as a rule, for example: delete all .tmp files."

WHAT_TO_DO = (
    "What exactly should I do? For example: list the files, summarise them, read or write a file, search for a "
    "word, count words, delete files, or tell the weather in a place."
)


def read_goal(text: str) -> g.Goal:
    """Orders stand at a message's beginning: beyond `_READ` characters only a text to be written may go on."""
    names = Names(text)
    masked = names.masked
    if _VAGUE.match(masked.strip()[:300]):
        return g.Goal(text, question=_question(masked))
    goal = _literal_write(names, text)
    if goal is not None:
        return goal
    tasks: list[g.Task] = []
    output: str | None = None
    into: str | None
    unwanted: list[str] = []
    negated = bare = False
    for clause, begins in clauses(masked[:_READ]):
        clause = GREETING.sub("", clause.strip(" ,.\t")).strip()
        negated = bool(NEGATED.match(clause)) or (negated and (not begins or bare))
        bare = NEGATED.fullmatch(clause) is not None
        if not clause or negated:
            unwanted += [clause] if clause else []
            continue
        made = _MADE.match(clause)
        if made is not None and (found := names.paths(made["path"])):
            clause, into = f"{_MAKING.get(made['kind'].lower(), 'summarize')} {made['of']}", found[0]
        elif tasks and _OUTPUT.match(clause) and (found := names.paths(clause)):
            output = found[-1]
            if re.search(r"\b(?:summar(?:y|ies)|overview|digest)\b", clause, re.IGNORECASE):
                _read_for_a_summary(tasks)
            continue
        else:
            asked = _needs_an_answer(clause, names, text)
            if asked is not None:
                return asked
            clause, into = _split_output(_resolved(clause, names, tasks, unwanted), names)
        output = into or output
        _take(tasks, task_in(clause, names, follows=bool(tasks)))
    tasks = spared_by(tasks, [names.files(clause) for clause in unwanted if NOT_TO_DELETE.search(clause)])
    return g.Goal(text, tuple(tasks), output) if tasks else g.Goal(text, question=WHAT_TO_DO)


def _read_for_a_summary(tasks: list[g.Task]) -> None:
    """`list all files and write a summary`: a summary takes reading them."""
    if isinstance(tasks[-1], g.ListFiles | g.ShowFiles):
        tasks[-1] = g.Summarise(tasks[-1].files)


def _take(tasks: list[g.Task], task: g.Task | None) -> None:
    """Listing what is read anyway is no task of its own."""
    if task is None or task in tasks:
        return
    last = tasks[-1] if tasks else None
    if isinstance(task, g.Summarise) and isinstance(last, g.ListFiles) and not task.files.paths:
        tasks.pop()
        task = task if task.files != g.Files() else g.Summarise(last.files)
    tasks.append(task)


def _resolved(clause: str, names: Names, tasks: list[g.Task], unwanted: list[str]) -> str:
    """`summarize it`: the pronoun stands for the files named just before, be it in what is not wanted."""
    files = getattr(tasks[-1], "files", None) if tasks else None
    paths = files.paths if files is not None else tuple(names.paths(unwanted[-1])) if unwanted else ()
    if not paths or names.paths(clause) or (DELETES.match(clause) and not tasks):
        return clause
    named = " and ".join(names.written(path) for path in paths)
    return _PRONOUN.sub(lambda found: named, clause, count=1)


def _literal_write(names: Names, text: str) -> g.Goal | None:
    """`create x.txt with the text …`: unquoted text runs to the end, whatever it says."""
    head = re.match(
        r"^(?:please\s+)?(?:create|write|make|save|add|put|store)\s+(?:me\s+)?(?:a\s+|the\s+|an\s+)?(?:new\s+)?(?:text\s+)?(?:file\s*)?"
        r"(?:named\s+|called\s+)?(?P<rest>.*)$",
        names.masked.strip(),
        re.IGNORECASE | re.DOTALL,
    )
    if head is None:
        return None
    paths = names.paths(head["rest"].split("\n")[0])
    found = _LITERAL.search(head["rest"])
    if not paths or found is None or not head["rest"].lstrip().startswith(names.written(paths[0])):
        return None
    rest = (found["text"] or found["after"]).strip()
    quoted = names.leading_quote(rest)
    if quoted is None:
        return g.Goal(text, (g.WriteFile(paths[0], names.restored(rest)),))
    literal, remainder = quoted
    write = g.WriteFile(paths[0], literal)
    remainder = re.sub(r"^[\s,.]*(?:and\s+)?(?:then\s+)?", "", remainder)
    more = read_goal(names.restored(remainder)) if remainder.strip() else None
    return g.Goal(text, (write, *more.tasks), more.output) if more else g.Goal(text, (write,))


def _needs_an_answer(clause: str, names: Names, text: str) -> g.Goal | None:
    """A file to write and nothing to write into it; a file to delete and no name."""
    paths = names.paths(clause)
    if (
        re.match(
            r"(?:create|make|write)\s+(?:a\s+|the\s+)?(?:new\s+)?(?:text\s+)?(?:file\s*)?(?:named\s+|called\s+)?\S+$",
            clause,
            re.I,
        )
        and paths
    ):
        return g.Goal(
            text,
            question=f"What text should {paths[0]} hold?",
            template=f"create {paths[0]} with the text: {{}}",
        )
    if re.match(
        r"(?:create|make|write)\s+(?:a\s+|some\s+)?(?:new\s+)?(?:text\s+)?files?$", clause, re.IGNORECASE
    ):
        return g.Goal(text, question="What should the file be called, and what text should it hold?")
    return None


def _question(masked: str) -> str:
    lowered = masked.lower()
    if re.search(r"clean|tidy|organi|sort", lowered):
        return f"What should be cleaned up? {_NAME_THEM}"
    if re.search(r"delete|remove", lowered):
        return f"Which files should I delete? {_NAME_THEM}"
    return WHAT_TO_DO


def _split_output(clause: str, names: Names) -> tuple[str, str | None]:
    """`summarise everything into out.md`, but not `copy a.md to b.md`."""
    if re.match(r"(?:copy|duplicate|move|rename|append|add|write|put|save)\b", clause, re.IGNORECASE):
        return clause, None
    found = _INTO.search(clause)
    paths = names.paths(found["name"]) if found else []
    return (clause[: found.start()], paths[0]) if found and paths else (clause, None)
