"""A session of many turns under a window as models have it: what a turn costs late in it, compactions apart."""

from collections.abc import Mapping
from typing import Any

from tests.bench import growth
from tests.bench.stand import work
from tests.bench.stand.script import note, reading
from tests.bench.stand.stand import RunFailed, Stand
from tests.bench.table import cell, columns, heading

TURNS = 300
SIZE = "40KB"
WINDOW_TOKENS = 200_000


def measure(stand: Stand, count: int = TURNS) -> dict[str, Any]:
    stand.put_files(dict(note(SIZE, turn) for turn in range(count)))
    with stand.configured(("step",), ACTA_CONTEXT_TOKENS=str(WINDOW_TOKENS)):
        work.run(stand, reading(SIZE, 4))  # another setting is another process: warm from here on
        run = work.run(stand, reading(SIZE, count))
        summaries = stand.provider.summaries
    compacting = [turn for turn in run.turns if work.compacts(turn)]
    if not compacting:
        raise RunFailed("the long run did not compact: its window was never full")
    plain = run._replace(turns=[turn for turn in run.turns if not work.compacts(turn)])
    return {
        "turns": count,
        "window_tokens": WINDOW_TOKENS,
        "summaries": summaries,
        "plain": {"turns": len(plain.turns), **growth.judged(work.figures(plain), count)},
        "compacting": {"turns": len(compacting), **work.costs(compacting)},
    }


ROWS = (
    ("turns", "turns"),
    ("DynamoDB writes", "dynamodb_writes"),
    ("DynamoDB reads", "dynamodb_reads"),
    ("write units", "wcu"),
    ("  first third of the turns", "wcu_first_third"),
    ("  last third", "wcu_last_third"),
    ("read units", "rru"),
    ("  first third of the turns", "rru_first_third"),
    ("  last third", "rru_last_third"),
    ("bytes Lambda -> AWS", "bytes_out"),
    ("bytes AWS -> Lambda", "bytes_in"),
    ("S3 requests", "s3_requests"),
    ("transitions", "transitions"),
    ("history events", "history_events"),
    ("executions of the run", "executions"),
    ("CPU ms of the deployed processes", "cpu_ms_deployed_processes"),
    ("  first third of the turns", "cpu_ms_deployed_first_third"),
    ("  last third", "cpu_ms_deployed_last_third"),
)


def report(found: Mapping[str, Any]) -> None:
    heading(
        f"A turn of a long session: {found['turns']} turns, {SIZE} results, {found['window_tokens']:,} tokens of window"
    )
    rows = [(text, [cell(found[kind], name) for kind in ("plain", "compacting")]) for text, name in ROWS]
    moved = growth.moved(found["plain"], found["turns"])
    columns(["plain turns", "turns that compact"], [*rows, ("flat", ["no" if moved else "yes", "-"])])
    growth.report("plain turns", moved)
    growth.report_the_sdk("plain turns", found["plain"], found["turns"])
    print(
        f"{found['compacting']['turns']} of the turns compact the conversation first; {found['summaries']} times the "
        "model is asked for a summary.\nThe processes' CPU is over all turns, these included."
    )
