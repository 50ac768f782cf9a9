"""The printed tables: every figure beside what it aims at."""

from collections.abc import Mapping
from typing import Any

from tests.bench import growth
from tests.bench.beside import first_goal, tokens
from tests.bench.beside import report as beside
from tests.bench.figures import (
    bodies,
    cancels,
    cancels_of_writes,
    fused,
    imports,
    latency,
    load,
    long_sessions,
    mass_recovery,
    memory,
    prefix,
    receipts,
    requests,
    scenarios,
    tenants,
    trees,
    zips,
)
from tests.bench.table import cell, columns, heading, number

TURN = (
    ("DynamoDB requests", "dynamodb_requests", ""),
    ("  writes, one a marker", "dynamodb_writes", "3"),
    ("  reads", "dynamodb_reads", "1 a Lambda"),
    ("write units", "wcu", "<= 8, flat"),
    ("  of it: reply / results", "", ""),
    ("  most in one turn", "wcu_most", ""),
    ("  first third of the turns", "wcu_first_third", ""),
    ("  last third", "wcu_last_third", ""),
    ("read units", "rru", ""),
    ("bytes Lambda -> AWS", "bytes_out", ""),
    ("bytes AWS -> Lambda", "bytes_in", ""),
    ("S3 requests", "s3_requests", ""),
    ("  the file itself", "s3_file_requests", ""),
    ("  large result put / got", "", ""),
    ("  segments put / bytes", "", "1 in 32 commits"),
    ("STS requests", "sts_requests", "0, warm"),
    ("transitions", "transitions", "<= 4"),
    ("history events", "history_events", ""),
    ("executions of the run", "executions", ""),
    ("payload bytes, largest state", "payload_bytes", "<= 1,024"),
    ("  all states of a turn", "payload_bytes_all_states", ""),
    ("  tasks, before Output", "task_bytes_before_output", ""),
    ("Lambda invokes", "lambda_invokes", "2"),
    ("CPU ms, ours", "cpu_ms", "<= 8"),
    ("  step / tool", "", ""),
    ("  first third of the turns", "cpu_ms_first_third", ""),
    ("  last third", "cpu_ms_last_third", ""),
    ("CPU ms in the SDK clients", "cpu_ms_sdk", ""),
    ("  first third of the turns", "cpu_ms_sdk_first_third", ""),
    ("  last third", "cpu_ms_sdk_last_third", ""),
    ("CPU ms, total", "cpu_ms_total", ""),
    ("  as deployed, runtime client too", "cpu_ms_deployed_processes", ""),
    ("  of a fixed piece of work, then", "cpu_ms_probe", ""),
)
PAIRS = {
    "  of it: reply / results": ("wcu_think", "wcu_calls"),
    "  large result put / got": ("s3_blob_puts", "s3_blob_gets"),
    "  segments put / bytes": ("s3_segment_puts", "segment_bytes_out"),
    "  step / tool": ("cpu_ms_step", "cpu_ms_tool"),
}
COLD = (
    ("DynamoDB requests", "cold_dynamodb_requests", ""),
    ("read units", "cold_rru", "<= 30"),
    ("S3 requests", "cold_s3_requests", ""),
    ("bytes AWS -> Lambda", "cold_bytes_in", "<= 500,000"),
    ("  from DynamoDB", "cold_dynamodb_bytes_in", ""),
    ("  from S3", "cold_s3_bytes_in", ""),
)
IMPORT_MS = ("import_ms", "import_ms_do_nothing", "import_ms_fixed_floor", "import_ms_bare_python")
OTHER = ("dynamodb_writes", "dynamodb_reads", "wcu", "rru", "s3_requests", "transitions", "history_events",
         "payload_bytes", "lambda_invokes")  # fmt: skip


def print_all(results: Mapping[str, Any]) -> None:
    """What was measured; sections that were not asked for are left out."""
    if "turns" in results:
        _turns(results["turns"])
        _other(results["other_turns"], results["turns"]["2KB"]["20"])
        fused.report(results["fused"])
        _leases(results["leases"])
        requests.report(results["requests"])
    if "receipts" in results:
        receipts.report(results["receipts"])
    if "memory" in results:
        memory.report(results["memory"])
    if "long" in results:
        long_sessions.report(results["long"])
    if "cancels" in results:
        cancels.report(results["cancels"])
        cancels_of_writes.report(results["cancels_of_writes"])
    if "latency" in results:
        latency.report(results["latency"])
    if "beside" in results:
        beside.report(results["beside"])
    if "tokens" in results:
        tokens.report(results["tokens"])
    if "dev" in results:
        first_goal.report(results["dev"])
    if "prefix" in results:
        prefix.report(results["prefix"])
    if "bodies" in results:
        bodies.report(results["bodies"])
    if "tenants" in results:
        tenants.report(results["tenants"])
    if "load" in results:
        load.report(results["load"])
    if "trees" in results:
        trees.report(results["trees"])
    if "recovery" in results:
        mass_recovery.report(results["recovery"])
    if "imports" in results:
        _imports(results["coldstart"], results["imports"], results.get("zip", {}))
    if results.get("zip_packages"):
        zips.report(results["zip_packages"])
    if "scenarios" in results:
        scenarios.report(results["scenarios"])


def _turns(turns: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    heading(
        "A turn: one model call, one read-only tool call; means, warm, without the first and the last turn"
    )
    runs = [turns[size][count] for size in turns for count in turns[size]]
    names = [f"{size} x{count}" for size in turns for count in turns[size]]
    rows = []
    for text, name, aim in TURN:
        if text in PAIRS:
            cells = [" / ".join(cell(run, part) for part in PAIRS[text]) for run in runs]
        else:
            cells = [cell(run, name) for run in runs]
        rows.append((text, [*cells, aim]))
    moved = [growth.moved(run, int(count)) for size in turns for count, run in turns[size].items()]
    rows.append(("flat", [*("no" if found else "yes" for found in moved), "yes"]))
    columns([*names, "aim"], rows)
    for name, found, run in zip(names, moved, runs, strict=True):
        growth.report(name, found)
        growth.report_the_sdk(name, run, int(name.rpartition("x")[2]))
    print(
        "x5, x20, x100: turns in the run. CPU: the functions' bundles on the runtime's Python, all threads, median of\n"
        "the turns; `ours` is the whole process less botocore's calls and the LLM SDK's request and stream. AWS's\n"
        "runtime client has a part in the `as deployed` row only: those processes' CPU as the system counts it.\n"
        "The fixed work is the same in every run: where it takes longer, the machine was slower or busier.\n"
        "Flat: AWS's figures, the engine's and our own CPU are in the last third what they are in the first, CPU\n"
        f"within {growth.CPU_SHARE_TOLERANCE:.0%} and at most {growth.CPU_MOST_MS:.0f} ms; it is judged in runs of "
        f"{growth.CPU_LEAST_TURNS} turns and more. A run that is not flat fails the bench."
    )
    heading("A worker that starts in mid-session: the step function's first reading, once")
    columns([*names, "aim"], [(text, [*(cell(run, name) for run in runs), aim]) for text, name, aim in COLD])


def _other(others: Mapping[str, Mapping[str, float]], read: Mapping[str, float]) -> None:
    heading("Other turns, 20 of each")
    runs = {"read_2KB": read, **others}
    columns(
        list(runs), [(name.replace("_", " "), [cell(run, name) for run in runs.values()]) for name in OTHER]
    )


def _leases(found: Mapping[str, float]) -> None:
    heading("A tenant's limited hour")
    print(
        f"{number(found['turns'])} turns took {number(found['commits'])} commits of leases, "
        f"{number(found['wcu'])} write units, and asked STS {number(found['sts_requests'])} times."
    )


def _imports(
    cold: Mapping[str, Mapping[str, Any]],
    ratios: Mapping[str, float],
    sizes_of: Mapping[str, Mapping[str, float]],
) -> None:
    heading("Cold import: CPU of a whole interpreter, the least of several; zips")
    rows = []
    for name, ratio in ratios.items():
        row = cold[name]
        figures = [number(row[key]) for key in IMPORT_MS]
        to_fixed = [f"{row[key]:.2f}" for key in ("floor_to_fixed_floor", "ratio_to_fixed_floor")]
        sdks = ", ".join(row["llm_sdks_after_import"]) or "none"
        later = ", ".join(row.get("llm_sdks_after_first_event", ())) or ("none" if name == "tool" else "-")
        first = cell(row, "first_event_ms")
        sizes = [
            f"{sizes_of[name][key] / 1e6:.2f}" if key in sizes_of.get(name, {}) else "-"
            for key in ("local", "aws")
        ]
        rows.append(
            (
                name,
                [
                    *figures,
                    f"{ratio:.2f}",
                    *to_fixed,
                    f"{row['ratio_to_bare_python']:.1f}",
                    sdks,
                    first,
                    later,
                    *sizes,
                ],
            )
        )
    columns(
        ["ms", "do-nothing", "of old", "bare", "ratio (<= 1.2)", "do-nothing to old (<= 0.8)", "ratio to old",
         "to bare", "LLM SDKs", "first event ms", "LLM SDKs then", "zip MB", "zip MB in AWS (<= 5)"], rows,
    )  # fmt: skip
    print(
        "do-nothing: the same modules of the same libraries, and nothing of Acta's. of old: the libraries that every\n"
        f"handler imported at {imports.FIXED_FLOOR}, measured now."
    )
