"""`make bench`: what a turn costs, counted on the deployed local stack. Also written to build/bench.json.

`python -m tests.bench SECTION …` measures those sections only (`ONLY="…"` with make), and leaves the others' figures
in the file as they were.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from acta.cli.local.up import PlainProgress
from acta.infra.packaging.bundle import ROOT
from tests.bench import growth, report
from tests.bench.beside import comparison, first_goal, tokens
from tests.bench.beside.comparison import Runs
from tests.bench.figures import (
    bodies,
    cancels,
    cancels_of_writes,
    cold_workers,
    cpu,
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
from tests.bench.growth import Figures
from tests.bench.stand import script, work
from tests.bench.stand.stand import FUNCTIONS, RunFailed, Stand

OUT = ROOT / "build" / "bench.json"
SIZES = ("2KB", "40KB")
COUNTS = (5, 20, 100)
SOME = 20
AT_ONCE = 3
LEASED = 50
A_TENANTS_HOUR = 5_000_000
"""Tokens; the default of the settings."""
IN_PROCESS = ("prefix", "scenarios", "tenants", "recovery", "bodies")
DEPLOYED = (
    "turns",
    "beside",
    "tokens",
    "receipts",
    "memory",
    "long",
    "cancels",
    "latency",
    "zips",
    "imports",
)
"""`turns` with its CPU; `beside`: the others on the same work; `tokens`: what they and Acta ask a model."""
ASKED_FOR = ("load", "dev", "trees")
"""Only where it is named. `load` and `trees`: on stands of their own. `dev`: from an empty folder to the first goal."""

Results = dict[str, Any]


def main(wanted: Sequence[str]) -> int:
    sections = wanted or (*IN_PROCESS, *DEPLOYED)
    known_names = (*IN_PROCESS, *DEPLOYED, *ASKED_FOR)
    unknown = [name for name in sections if name not in known_names]
    if unknown:
        print(
            f"bench: no section {', '.join(unknown)}; there are {', '.join(known_names)}",
            file=sys.stderr,
        )
        return 2
    try:
        results, failures = measure(set(sections))
    except RunFailed as failed:
        print(f"bench: {failed}", file=sys.stderr)
        return 1
    known = json.loads(OUT.read_text()) if wanted and OUT.is_file() else {}
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(known | rounded(results), indent=2) + "\n")
    report.print_all(results)
    print(f"\nAll figures: {OUT.relative_to(ROOT)}")
    grown = growth.not_flat(results)
    if grown:
        print(f"bench: not flat: {', '.join(grown)}", file=sys.stderr)
    for failure in failures:
        print(f"bench: {failure}", file=sys.stderr)
    return 1 if grown or failures else 0


def measure(sections: set[str]) -> tuple[Results, list[str]]:
    """What was measured, and which sections could not be. Raises RunFailed where nothing after it could be either."""
    progress = PlainProgress(sys.stderr)
    results: Results = {}
    failures: list[str] = []

    @contextmanager
    def phase(title: str, *, others_need_it: bool = False) -> Iterator[None]:
        progress.begin(title)
        try:
            yield
        except RunFailed as failed:
            if others_need_it:
                raise
            failures.append(f"{title}: {failed}")
        progress.end(title)

    if "prefix" in sections:
        with phase("requests to the providers"):
            results["prefix"] = prefix.measure()
    if "tenants" in sections:
        results["tenants"] = tenants.measure()
    if "scenarios" in sections:
        results["scenarios"] = scenarios.measure()
    if "recovery" in sections:
        with phase(f"{mass_recovery.LOST:,} lost executions"):
            results["recovery"] = mass_recovery.measure()
    if "bodies" in sections:
        with phase("each route's worst request"):
            results["bodies"] = bodies.measure()
            failures += [f"bodies: {one}" for one in bodies.over(results["bodies"])]
    if "dev" in sections:
        with phase("from an empty folder to the first goal"):
            results["dev"] = first_goal.measure()
            failures += [f"dev: {one}" for one in results["dev"]["missed"]]
    if "load" in sections:
        results["load"] = load.measure(progress)
    if "trees" in sections:
        results["trees"] = trees.measure(progress)
    if sections.isdisjoint(DEPLOYED):
        return results, failures
    with Stand(progress, variables=tokens.VARIABLES) as stand:
        if not sections.isdisjoint(("turns", "beside")):
            with phase("put the files"):
                put_files(stand)
            with phase("walk the turns", others_need_it=True):
                runs = walked(stand)
        if "turns" in sections:
            with phase("count the turns", others_need_it=True):
                results["turns"] = turns(stand, runs[1])
                results["fused"] = fused.judged(figures_of(runs[fused.CAP]), results["turns"])
                results["other_turns"] = other_turns(stand)
                results["leases"] = leases(stand)
            with phase("requests over the API"):
                results["requests"] = requests.measure(stand)
            with phase("CPU of a turn"):
                results["coldstart"] = cpu_of_turns(stand, results["turns"])
        if "beside" in sections:
            with phase("the others on the same work"):
                results["beside"] = comparison.measure(stand, runs, SIZES, COUNTS)
        if "tokens" in sections:
            with phase("tokens of the same tasks"):
                results["tokens"] = tokens.measure(stand)
                failures += [f"tokens: {one}" for one in results["tokens"]["missed"]]
        if "receipts" in sections:
            with phase("receipts"):
                results["receipts"] = receipts.measure(stand)
                failures += [f"receipts: {one}" for one in receipts.off(results["receipts"])]
        if "memory" in sections:
            with phase("memory"):
                results["memory"] = memory.measure(stand)
        if "long" in sections:
            with phase(f"a session of {long_sessions.TURNS} turns"):
                results["long"] = long_sessions.measure(stand)
        if "cancels" in sections:
            with phase("cancels"):
                results["cancels"], results["cancels_of_writes"] = at_both_caps(stand)
        if "latency" in sections:
            with phase("from a commit to a client"):
                results["latency"] = latency.measure(stand)
        if "zips" in sections:
            with phase("zips"):
                results["zip"] = zips.sizes(stand, FUNCTIONS)
                results["zip_packages"] = zips.packages("step")
        variables = {name: stand.function(name) for name in FUNCTIONS}
    if "imports" in sections:
        with phase("cold imports"):
            add_imports(results, imports.measure(variables))
    return results, failures


def add_imports(results: Results, imported: dict[str, imports.Imported]) -> None:
    results["imports"] = {name: round(one.ratio, 3) for name, one in imported.items()}
    for name, one in imported.items():
        results.setdefault("coldstart", {}).setdefault(name, {}).update(
            import_ms=one.handler_ms,
            import_ms_do_nothing=one.libraries_ms,
            import_ms_fixed_floor=one.fixed_ms,
            ratio_to_fixed_floor=one.ratio_fixed,
            floor_to_fixed_floor=one.floor_fixed,
            import_ms_bare_python=one.bare_ms,
            ratio_to_bare_python=one.ratio_bare,
            llm_sdks_after_import=list(one.llm_sdks),
        )


def put_files(stand: Stand) -> None:
    for size in SIZES:
        stand.put_files(dict(script.note(size, turn) for turn in range(max(COUNTS))))
    places = [(turn, place) for turn in range(SOME) for place in range(AT_ONCE)]
    stand.put_files(dict(script.note("2KB", turn, place) for turn, place in places))


def at_both_caps(stand: Stand) -> tuple[dict[str, Any], dict[str, Any]]:
    """Cancels of calls that are states of their own, and of calls that are not; by `turns_per_step`."""
    effects, writes = {"1": cancels.measure(stand)}, {"1": cancels_of_writes.measure(stand, 1)}
    with stand.configured(("step",), ACTA_TURNS_PER_STEP=str(fused.CAP)):
        effects[str(fused.CAP)] = cancels.measure(stand)
        writes[str(fused.CAP)] = cancels_of_writes.measure(stand, fused.CAP)
    return effects, writes


def walked(stand: Stand) -> dict[int, Runs]:
    """A session of each size and length, by `turns_per_step`."""
    found = {1: _walked(stand)}
    with stand.configured(("step",), ACTA_TURNS_PER_STEP=str(fused.CAP)):
        found[fused.CAP] = _walked(stand)
    return found


def _walked(stand: Stand) -> Runs:
    work.run(stand, script.reading("2KB", 4))  # everything is warm from here on
    return {size: {count: work.run(stand, script.reading(size, count)) for count in COUNTS} for size in SIZES}


def figures_of(runs: Runs) -> dict[str, dict[str, Figures]]:
    return {
        size: {str(n): work.figures(run) for n, run in by_count.items()} for size, by_count in runs.items()
    }


def turns(stand: Stand, runs: Runs) -> dict[str, dict[str, Figures]]:
    return {
        size: {
            str(count): work.figures(run) | cold_workers.cold_read(stand, run.session_id)
            for count, run in by_count.items()
        }
        for size, by_count in runs.items()
    }


def other_turns(stand: Stand) -> dict[str, Figures]:
    """Beside the read: a call that writes, and several calls in one turn."""
    return {
        "write_2KB": work.figures(work.run(stand, script.writing("2KB", SOME))),
        f"{AT_ONCE}_reads_2KB": work.figures(work.run(stand, script.reading("2KB", SOME, AT_ONCE))),
    }


def leases(stand: Stand) -> Figures:
    """What a tenant's limited hour adds to a walk of `LEASED` turns: its commits and their units."""
    with stand.configured(("step",), ACTA_TENANT_TOKENS_PER_HOUR=str(A_TENANTS_HOUR)):
        run = work.run(stand, script.reading("2KB", LEASED))
    commits = [each for turn in run.turns for each in turn if each.is_write and "/lease-" in each.key]
    return {
        "turns": len(run.turns),
        "commits": len(commits),
        "wcu": sum(each.capacity.wcu for each in commits),
        "sts_requests": sum(each.service == "sts" for turn in run.turns for each in turn),
    }


def cpu_of_turns(stand: Stand, found: dict[str, dict[str, Figures]]) -> dict[str, dict[str, Any]]:
    """Adds to `found`; what a fresh process paid for its import and its first event, by function."""
    with cpu.LambdaCode(stand, "step") as step, cpu.LambdaCode(stand, "tool") as tool:
        first = cpu.walk(stand, step, tool, script.reading("2KB", 5)).first
        cpu.walk(stand, step, tool, script.reading("40KB", 3))  # the first large text brings the S3 client
        for size in SIZES:
            for count in COUNTS:
                spent = cpu.figures(cpu.walk(stand, step, tool, script.reading(size, count)))
                found[size][str(count)] = growth.judged(found[size][str(count)] | spent, count)
        return {
            name: {"first_event_ms": event.total, "llm_sdks_after_first_event": list(event.modules)}
            for name, event in zip(("step", "tool"), first, strict=True)
        }


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    if not isinstance(value, float):
        return value
    return round(value, 3) if abs(value) >= 1 else float(f"{value:.4g}")  # dollars of a turn are small


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
