"""`make bench`: what a turn costs, counted on the deployed local stack. Also written to build/bench.json."""

import json
import sys
from typing import Any

from infra.bundle import ROOT
from infra.cli.phases import PlainPhases
from tests.bench import cold, cpu, imports, report, scenarios, script, work, yardsticks, zips
from tests.bench.stand import FUNCTIONS, RunFailed, Stand

OUT = ROOT / "build" / "bench.json"
SIZES = ("2KB", "40KB")
COUNTS = (5, 20, 100)
SOME = 20
AT_ONCE = 3


def main() -> int:
    progress = PlainPhases(sys.stderr)
    results: dict[str, Any] = {}
    try:
        with Stand(progress) as stand:
            progress.begin("put the files")
            put_files(stand)
            progress.end("put the files")
            progress.begin("count the turns")
            results["turns"] = turns(stand)
            results["other_turns"] = other_turns(stand)
            progress.end("count the turns")
            progress.begin("CPU of a turn")
            results["coldstart"] = cpu_of_turns(stand, results["turns"])
            progress.end("CPU of a turn")
            progress.begin("yardsticks")
            results["yardsticks"] = others(stand)
            progress.end("yardsticks")
            progress.begin("zips")
            results["zip"] = zips.sizes(stand, FUNCTIONS)
            progress.end("zips")
            variables = {name: stand.function(name) for name in FUNCTIONS}
        progress.begin("cold imports")
        imported = imports.measure(variables)
        progress.end("cold imports")
    except RunFailed as failed:
        print(f"bench: {failed}", file=sys.stderr)
        return 1
    results["scenarios"] = scenarios.measure()
    results["imports"] = {name: round(one.ratio, 3) for name, one in imported.items()}
    for name, one in imported.items():
        results["coldstart"].setdefault(name, {}).update(
            import_ms=one.handler_ms,
            import_ms_do_nothing=one.libraries_ms,
            import_ms_top_level_only=one.top_level_ms,
            import_ms_bare_python=one.bare_ms,
            ratio_to_bare_python=one.ratio_bare,
            llm_sdks_after_import=list(one.llm_sdks),
        )
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(rounded(results), indent=2) + "\n")
    report.print_all(results)
    print(f"\nAll figures: {OUT.relative_to(ROOT)}")
    return 0


def put_files(stand: Stand) -> None:
    for size in SIZES:
        stand.put_files(dict(script.note(size, turn) for turn in range(max(COUNTS))))
    places = [(turn, place) for turn in range(SOME) for place in range(AT_ONCE)]
    stand.put_files(dict(script.note("2KB", turn, place) for turn, place in places))


def turns(stand: Stand) -> dict[str, dict[str, work.Figures]]:
    work.run(stand, script.reading("2KB", 4))  # everything is warm from here on
    found: dict[str, dict[str, work.Figures]] = {}
    for size in SIZES:
        for count in COUNTS:
            run = work.run(stand, script.reading(size, count))
            row = work.figures(run) | cold.cold_read(stand, run.session_id)
            found.setdefault(size, {})[str(count)] = row
    return found


def other_turns(stand: Stand) -> dict[str, work.Figures]:
    """Beside the read: a call that writes, and several calls in one turn."""
    return {
        "write_2KB": work.figures(work.run(stand, script.writing("2KB", SOME))),
        f"{AT_ONCE}_reads_2KB": work.figures(work.run(stand, script.reading("2KB", SOME, AT_ONCE))),
    }


def cpu_of_turns(stand: Stand, found: dict[str, dict[str, work.Figures]]) -> dict[str, dict[str, Any]]:
    """Adds to `found`; what a fresh process paid for its import and its first event, by function."""
    with cpu.LambdaCode(stand, "step") as step, cpu.LambdaCode(stand, "tool") as tool:
        first = cpu.walk(stand, step, tool, script.reading("2KB", 5)).first
        cpu.walk(stand, step, tool, script.reading("40KB", 3))  # the first large text brings the S3 client
        for size in SIZES:
            for count in COUNTS:
                found[size][str(count)] |= cpu.figures(
                    cpu.walk(stand, step, tool, script.reading(size, count))
                )
        return {
            name: {"first_event_ms": spent.total, "llm_sdks_after_first_event": list(spent.modules)}
            for name, spent in zip(("step", "tool"), first, strict=True)
        }


def others(stand: Stand) -> dict[str, Any]:
    try:
        measured: Any = yardsticks.langgraph(stand, COUNTS)
    except yardsticks.Unavailable as why:
        measured = {"not_measured": str(why)}
    return {"given": yardsticks.GIVEN, "langgraph_measured": measured}


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    return round(value, 3) if isinstance(value, float) else value


if __name__ == "__main__":
    sys.exit(main())
