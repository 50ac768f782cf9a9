"""Parses a person's message, in English and by rules, into a goal.

A clause is understood only where every word of it is known. One clause that is not makes the whole message
`Unsupported`, and nothing of it is done. So no condition, no exception and no `do not` is ever overlooked.
"""

import json
import re
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

Files = tuple[str, ...]
"""Paths. Empty: every file in the storage."""


@dataclass(frozen=True)
class ListFiles:
    pass


@dataclass(frozen=True)
class ShowFiles:
    files: Files


@dataclass(frozen=True)
class Summarise:
    files: Files


@dataclass(frozen=True)
class CountFiles:
    per_folder: bool


@dataclass(frozen=True)
class WriteFile:
    path: str
    text: str


@dataclass(frozen=True)
class Copy:
    source: str
    target: str


@dataclass(frozen=True)
class Delete:
    files: Files


@dataclass(frozen=True)
class WriteAnswers:
    """Writes into a file what the tasks before it found."""

    path: str


@dataclass(frozen=True)
class UseTool:
    """Calls the tool of that name with these arguments, and says what it returned."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Unsupported:
    """`clause`: the words that no rule knows."""

    clause: str


ReadingTask = ListFiles | ShowFiles | Summarise | CountFiles
WritingTask = WriteFile | Copy | Delete | WriteAnswers
Task = ReadingTask | WritingTask | UseTool | Unsupported


class Goal(NamedTuple):
    """`tasks`: in their order. `question`: what the user has to answer before anything can be done. `unwritten`: the
    file whose text the question asks for; empty: it asks for the goal itself.
    """

    text: str
    tasks: tuple[Task, ...] = ()
    question: str = ""
    unwritten: str = ""

    def answered(self, answer: str) -> "Goal":
        """The goal with the answer to its question."""
        if not self.unwritten:
            return read_goal(answer)
        return Goal(f"{self.text}: {answer}", (WriteFile(self.unwritten, answer),))

    def given_up(self) -> "Goal":
        """The goal after questions that have not made it clear."""
        return Goal(self.text, (Unsupported(self.text),))


WHAT_TO_DO = (
    "What exactly should I do? I can list, show, summarise, count or copy files, create a file with a text, delete "
    "files that you name, and use a tool with arguments that you give."
)
HOW_TO_USE = 'The arguments of {tool} are no JSON. Say it like this: use {tool} with {{"name": "value"}}'


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A file's name has an extension, or it would be a word.
_NAME = r"[\w@+~./-]{0,200}\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w/])"
_QUOTED_NAME = re.compile(r"[^\n\"]{1,200}\.[A-Za-z][A-Za-z0-9]{0,7}")
_TOKEN = re.compile(
    rf"\"(?P<plain>[^\"]*)\"|“(?P<curly>[^“”]*)”|`(?P<code>[^`]*)`|(?P<name>{_NAME})|(?P<word>[\w'’-]+)"
    r"|(?P<end>[;.!?\n]+)|(?P<other>\S)"
)
_VERBS = {
    **dict.fromkeys(("list", "ls"), "list"),
    **dict.fromkeys(("show", "display", "read", "open", "print"), "show"),
    **dict.fromkeys(("summarize", "summarise"), "summarise"),
    **dict.fromkeys(("create", "write", "make", "save", "store", "put"), "write"),
    **dict.fromkeys(("delete", "remove"), "delete"),
    **dict.fromkeys(("what", "which", "how"), "ask"),
    "count": "count",
    "copy": "copy",
}
_POLITE = _words("please can could you now also and then finally ok okay just")
_CLAUSE_BREAK = re.compile(
    rf"(?:[\s,]|(?:{'|'.join(_POLITE)})\b){{1,40}}(?=(?:{'|'.join(_VERBS)})\b)", re.IGNORECASE
)
"""What separates two clauses of a sentence."""
_TEXT_TO_THE_END = re.compile(
    rf"(?:[\s,]|(?:{'|'.join(_POLITE)})\b){{0,40}}(?:create|write|make|save)\s+"
    r"(?:(?:a|the|new|text|file|named|called)\s+){0,10}"
    rf"(?P<name>{_NAME})\s+(?:with|containing)\s+(?:the\s+)?(?:text|contents?|line|words)\b\s*:?\s*"
    r"(?P<text>[^\s\"“`:].*)",
    re.IGNORECASE | re.DOTALL,
)
"""A file with a text that is not quoted: the text goes on to the end of the message."""
_TOOL_USE = re.compile(
    rf"(?:[\s,]|(?:{'|'.join(_POLITE)})\b){{0,40}}(?:use|call)\s+(?:the\s+)?(?:tool\s+)?"
    r"(?P<tool>[A-Za-z][\w-]{0,63})\s+(?:with\s+)?(?=\{)",
    re.IGNORECASE,
)
"""A tool by its name, before its arguments as a JSON object, which may be empty."""

_FILLERS = _POLITE | _words(
    "the a an my our me all every each any everything of in this it them these those for to into as from "
    "file files document documents storage there new named called"
)
_STORAGE = _words("files documents storage")
_EVERYTHING = _STORAGE | _words("all every each everything")
_BACK_REFERENCES = _words("it them each these those")
"""They stand for the files of the task before."""
_SUMMARY = _words("summary summaries")
_RESULTS = _SUMMARY | _words("result results answer answers list listing count counts")
_TEXT = _words("with containing the text line content")
_NAMING = _words("the my file files document documents and named called")
_FOLDER = frozenset({"folder"})
_PER = _words("per by")
_ASKING = _words("do does i we have are is say many")
_VAGUE = _words(
    "do something anything stuff things help hello hi hey clean up tidy organise organize fix improve handle sort out "
    "go start work continue some your job"
)
_MAX_VAGUE_CHARS = 200


class _Clause(NamedTuple):
    """`words`: in lower case, from the verb on. `names`: of files. `target`: the name after `to`, `into` or `as`."""

    text: str
    words: tuple[str, ...]
    names: Files
    quotes: tuple[str, ...]
    target: str

    @property
    def verb(self) -> str:
        return _VERBS.get(self.words[0], "") if self.words else ""

    @property
    def sources(self) -> Files:
        return tuple(name for name in self.names if name != self.target)

    def has_only(self, *known: frozenset[str]) -> bool:
        """Whether every word after the verb is a filler or known."""
        return frozenset(self.words[1:]) <= _FILLERS.union(*known)

    def has_any(self, words: frozenset[str]) -> bool:
        return not words.isdisjoint(self.words)


def _without_files(text: str) -> str:
    """Without what the page for people adds to a goal: the paths of the files that were stored with it."""
    goal, mark, files = text.rpartition("\n\nFiles:\n")
    is_added = mark and all(line.startswith("- ") for line in files.strip().split("\n"))
    return goal if is_added else text


def read_goal(text: str) -> Goal:
    """The goal has tasks or a question."""
    goal, at = Goal(text), 0
    text = _without_files(text)
    while at < len(text) and not goal.question:
        if literal := _TEXT_TO_THE_END.match(text, at):
            write, at = WriteFile(literal["name"], literal["text"].strip()), len(text)
            further, clause = _with(goal, write), literal[0]
        elif use := _TOOL_USE.match(text, at):
            arguments, at = _arguments(text, use)
            if arguments is None:
                return Goal(text, question=HOW_TO_USE.format(tool=use["tool"]))
            further, clause = _with(goal, UseTool(use["tool"], arguments)), text[use.start() : at].strip()
        else:
            read, at = _next_clause(text, at)
            if not read.words and not read.names and not read.quotes:
                continue
            further, clause = _understood(goal, read), read.text
        if further is None:
            return _not_understood(text, clause)
        goal = further
    return goal if goal.tasks or goal.question else Goal(text, question=WHAT_TO_DO)


def _arguments(text: str, use: re.Match[str]) -> tuple[dict[str, Any] | None, int]:
    """The arguments and the offset after them. None: they are no JSON."""
    try:
        arguments, end = json.JSONDecoder().raw_decode(text, use.end())
    except (ValueError, RecursionError):
        return None, use.end()
    return arguments, end


def _next_clause(text: str, at: int) -> tuple[_Clause, int]:
    """The clause that begins at the offset `at`, and the offset of the next one."""
    words: list[str] = []
    names: list[str] = []
    quotes: list[str] = []
    target, is_target, end = "", False, at
    while (token := _TOKEN.search(text, end)) is not None:
        following = _CLAUSE_BREAK.match(text, token.start()) if words else None
        end = following.end() if following else token.end()
        if following or token["end"]:
            break
        quote = next((token[kind] for kind in ("plain", "curly", "code") if token[kind] is not None), None)
        name = quote if quote and _QUOTED_NAME.fullmatch(quote) else token["name"]
        word = (token["word"] or token["other"] or "").lower()
        if name:
            names.append(name)
            target, is_target = (name, False) if is_target else (target, is_target)
        elif quote is not None:
            quotes.append(quote)
        elif word != "," and (words or word not in _POLITE):
            words.append(word)
            is_target = is_target or word in ("to", "into", "as")
    else:
        end = len(text)
    return _Clause(text[at:end].strip(" ,\n"), tuple(words), tuple(names), tuple(quotes), target), end


def _understood(goal: Goal, clause: _Clause) -> Goal | None:
    """The goal with the clause's task. None: a word of the clause has no meaning here."""
    if clause.quotes and clause.verb != "write":
        return None
    match clause.verb:
        case "list" if clause.has_only() and not clause.sources:
            return _with(goal, ListFiles(), clause.target)
        case "show" if clause.has_only() and not clause.target:
            if clause.words[0] in ("show", "display") and not clause.names and clause.has_any(_STORAGE):
                return _with(goal, ListFiles())
            files = _files(goal, clause)
            return _with(goal, ShowFiles(files)) if files is not None else None
        case "summarise" if clause.has_only():
            files = _files(goal, clause)
            return _with(goal, Summarise(files), clause.target) if files is not None else None
        case "count" if clause.has_only(_FOLDER, _PER) and not clause.sources:
            return _counted(goal, clause)
        case "copy" if clause.has_only() and len(clause.names) == 2 and clause.target == clause.names[1]:
            return _with(goal, Copy(*clause.names))
        case "delete" if clause.names and _NAMING.issuperset(clause.words[1:]):
            return _with(goal, Delete(clause.names))
        case "write":
            return _to_write(goal, clause)
        case "ask" if clause.has_only(_ASKING, _FOLDER, _PER) and not clause.target:
            return _asked(goal, clause)
    return None


def _to_write(goal: Goal, clause: _Clause) -> Goal | None:
    """`write "x" to a.txt`, `write the summary to a.md`, `write a summary of b.md to a.md`, or a file and no text."""
    if not clause.names or not clause.has_only(_RESULTS, _TEXT):
        return None
    path = clause.target or clause.names[-1]
    if clause.quotes:
        is_plain = len(clause.quotes) == len(clause.names) == 1 and not clause.has_any(_RESULTS)
        return _with(goal, WriteFile(path, clause.quotes[0])) if is_plain else None
    if clause.has_any(_SUMMARY) and not any(isinstance(task, Summarise) for task in goal.tasks):
        files = clause.sources or (getattr(goal.tasks[-1], "files", ()) if goal.tasks else ())
        return _with(goal, Summarise(files), path)
    if goal.tasks and not clause.sources and (clause.has_any(_RESULTS) or clause.has_any(_BACK_REFERENCES)):
        return _with(goal, WriteAnswers(path))
    if goal.tasks or len(clause.names) > 1 or clause.has_any(_RESULTS) or clause.has_any(_BACK_REFERENCES):
        return None
    return Goal(goal.text, question=f"What text should {path} hold?", unwritten=path)


def _asked(goal: Goal, clause: _Clause) -> Goal | None:
    """`how many files are there`, `what does a.md say`, `which files do I have`."""
    how_many = clause.words[:2] == ("how", "many")
    if how_many and not clause.names:
        return _counted(goal, clause)
    if how_many or clause.has_any(_FOLDER | _PER) or clause.words[0] == "how":
        return None
    if clause.names:
        return _with(goal, ShowFiles(clause.names))
    return _with(goal, ListFiles()) if clause.has_any(_STORAGE) else None


def _counted(goal: Goal, clause: _Clause) -> Goal | None:
    """Counts all files, or those of each folder. There is no rule for one folder alone."""
    per_folder = clause.has_any(_FOLDER)
    if per_folder != clause.has_any(_PER | {"each", "every"}):
        return None
    return _with(goal, CountFiles(per_folder), clause.target)


def _files(goal: Goal, clause: _Clause) -> Files | None:
    """The named files, the files of the task before (`summarise it`), or all. None: the clause says none of these."""
    if clause.sources:
        return clause.sources
    if clause.has_any(_BACK_REFERENCES) and goal.tasks and not isinstance(goal.tasks[-1], ListFiles):
        before: Files = getattr(goal.tasks[-1], "files", ())
        return before or None
    return () if clause.has_any(_EVERYTHING) or (goal.tasks and clause.has_any(_BACK_REFERENCES)) else None


def _with(goal: Goal, task: Task, output: str = "") -> Goal | None:
    """The goal with one more task. None: the task is there already, or it would read again what a task has changed
    since: each file is read only once. `output`: the file for what the task finds; empty: none.
    """
    tasks = goal.tasks
    if tasks and isinstance(tasks[-1], ListFiles) and task in (Summarise(()), ShowFiles(())):
        tasks = tasks[:-1]  # reading all files lists them anyway
    is_stale = any(
        isinstance(a, ReadingTask) and isinstance(b, WritingTask) for a, b in combinations(tasks, 2)
    )
    if task in tasks or (is_stale and isinstance(task, ReadingTask | Copy)):
        return None
    return goal._replace(tasks=(*tasks, task, *((WriteAnswers(output),) if output else ())))


def _not_understood(text: str, clause: str) -> Goal:
    """Asks what a message in general words means. A message that says more is `Unsupported`."""
    words = re.findall(r"[\w'’-]+", text.lower()) if len(text) <= _MAX_VAGUE_CHARS else [text]
    if _VAGUE.union(_FILLERS, _VERBS).issuperset(words):
        return Goal(text, question=WHAT_TO_DO)
    return Goal(text, (Unsupported(clause),))
