"""Tasks as work: the stages each needs, and its answer from what those found."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, assert_never

from shared.adapters.llm.offline import goals as g
from shared.adapters.llm.offline import jobs_on_texts as texts
from shared.adapters.llm.offline import jobs_that_change as changes
from shared.adapters.llm.offline.jobs_on_counts import counting, counts
from shared.adapters.llm.offline.jobs_on_sizes import sizes
from shared.adapters.llm.offline.stages import (
    Facts,
    Stage,
    Told,
    Wanted,
    first_line,
    listing_stage,
    plural,
    thinking_stage,
)

HOW_TO_GET_A_MODEL = (
    "I am Acta's offline stand-in: rules, no language model. I can list, read, summarise, search, count, create, "
    "copy, append to and delete files in the storage, and tell the weather. For anything else configure a model: "
    "set ANTHROPIC_API_KEY or OPENAI_API_KEY (or store the key as the deployment's secret) and start again; "
    "ACTA_PROVIDER and ACTA_MODEL choose among them."
)


class Job(NamedTuple):
    stages: Sequence[Stage]
    answer: Callable[[Facts], str]


def job_for(task: g.Task, output: str | None) -> Job:
    match task:
        case g.ListFiles(files):
            return Job([listing_stage(files.folder)], lambda facts: _list_answer(facts, files))
        case g.ShowFiles(files):
            return Job(texts.reading(files, output), lambda facts: texts.shown(facts, files, output))
        case g.Summarise(files):
            return Job(texts.summarising(files, output), lambda facts: texts.summaries(facts, files, output))
        case g.Count():
            return Job(counting(task, output), lambda facts: counts(facts, task, output))
        case g.Sizes(files=files):
            return Job([listing_stage(files.folder)], lambda facts: sizes(facts, task))
        case g.Search():
            return Job(texts.searching(task, output), lambda facts: texts.matches(facts, task, output))
        case g.WriteFile(path, text):
            return Job(
                [changes.writing(path, lambda facts: text)], lambda facts: changes.written(facts, path, text)
            )
        case g.AppendTo(path, text):
            return Job(changes.appending(path, text), lambda facts: changes.appended(facts, path, text))
        case g.Copy():
            return Job(changes.copying(task), lambda facts: changes.copied(facts, task))
        case g.Delete(files):
            return Job(changes.deleting(files), lambda facts: changes.deleted(facts, files))
        case g.Weather(places):
            return Job([_weather_stage(places)], lambda facts: _weather_answer(facts, places))
        case g.Unsupported(request):
            return Job([_explaining(request)], lambda facts: _explained(request))
    assert_never(task)


def _list_answer(facts: Facts, files: g.Files) -> str:
    stage = listing_stage(files.folder).told(facts)
    if stage.status == "failed":
        return stage.text
    found = [
        entry
        for entry in facts.entries(files.folder)
        if not entry.is_folder and files.fits(entry.path, entry.size)
    ]
    if not found:
        return f"There are no {files.described()}."
    lines = [
        f"- {entry.path}" + (f" ({entry.size:,} bytes)" if entry.size is not None else "") for entry in found
    ]
    return "\n".join([f"{plural(len(found), 'file')}:", *lines])


def _weather_stage(places: Sequence[str]) -> Stage:
    def calls(facts: Facts) -> list[Wanted]:
        return [Wanted("get_weather", {"location": place}) for place in places]

    def told(facts: Facts) -> Told:
        results = [made for call in calls(facts) if (made := facts.of(call)) is not None]
        status = "completed" if results and all(made.ok for made in results) else "failed"
        return Told(status, " ".join(first_line(made.text) for made in results)[:800])  # type: ignore[arg-type]

    return Stage(f"Look up the weather in {' and '.join(places)}", "get_weather", calls, told)


def _weather_answer(facts: Facts, places: Sequence[str]) -> str:
    lines = []
    for place in places:
        made = facts.of(Wanted("get_weather", {"location": place}))
        if made is not None:
            said = (
                made.text.strip()
                if made.ok
                else f"not available ({facts.problem(Wanted(made.name, made.input))})"
            )
            lines.append(f"Weather in {place}: {said}")
    return "\n".join(lines) or "No weather was looked up."


def _explaining(request: str) -> Stage:
    shown = request if len(request) <= 120 else request[:117] + "…"
    return thinking_stage(
        f"Explain that “{shown}” is outside what the rule-based stand-in can do",
        lambda facts: "This cannot be done by rules: it takes a language model. Nothing was done for it.",
        failed=lambda facts: True,
    )


def _explained(request: str) -> str:
    return f"I cannot do this: “{request}”. {HOW_TO_GET_A_MODEL}"
