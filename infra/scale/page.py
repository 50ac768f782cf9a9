"""The tables of docs/scale.md, as Markdown."""

from collections.abc import Sequence

from infra.scale.ceilings import Ceiling, ceilings, ceilings_before, restart_minutes
from infra.scale.quotas import QUOTAS
from infra.scale.workload import SESSIONS, Workload

BEGIN, END = "<!-- begin: make scale -->", "<!-- end: make scale -->"


def within(page: str, text: str) -> str:
    """The page with the text between the marks. Raises ValueError where it has no marks."""
    start, finish = page.index(BEGIN) + len(BEGIN), page.index(END)
    return f"{page[:start]}\n{text}\n{page[finish:]}"


def tables(of: Workload) -> str:
    now, before = ceilings(of), ceilings_before(of)
    return "\n".join(
        [*_assumptions(of), "", *_breaks(now, before), "", *_first(of, now, before), "", *_quotas(of)]
    )


def _assumptions(of: Workload) -> list[str]:
    values = ", ".join(f"{name} {value:,}" if not isinstance(value, str) else f"{name} {value}"
                       for name, value in of._asdict().items())  # fmt: skip
    return [f"Assumed: {values}."]


def _breaks(now: Sequence[Ceiling], before: Sequence[Ceiling]) -> list[str]:
    heads = " | ".join(f"at {short(sessions)}" for sessions in SESSIONS)
    earlier = {one.what: one for one in before}
    rows = [
        "| ceiling | whose | " + heads + " | breaks at, a day | before | raised by |",
        "|---|---|" + "---|" * len(SESSIONS) + "---|---|---|",
    ]
    for one in now:
        used = " | ".join(_share(one.used(sessions)) for sessions in SESSIONS)
        was = _was(one, earlier)
        rows.append(
            f"| {one.what}: {one.limit:,.0f} {one.unit} | {one.whose} | {used} | {short(one.sessions)} | {was} | "
            f"{one.raised_by} |"
        )
    for one in before:
        if not any(is_same(one, other) for other in now):
            used = " | ".join("" for _ in SESSIONS)
            rows.append(f"| {one.what}: {one.limit:,.1f} {one.unit} | {one.whose} | {used} | no more | "
                        f"{short(one.sessions)} | {one.raised_by} |")  # fmt: skip
    return rows


def is_same(one: Ceiling, other: Ceiling) -> bool:
    return one.what.partition(", ")[0] == other.what.partition(", ")[0]


def _was(one: Ceiling, earlier: dict[str, Ceiling]) -> str:
    found = next((other for other in earlier.values() if is_same(one, other)), None)
    return "" if found is None else short(found.sessions)


def _first(of: Workload, now: Sequence[Ceiling], before: Sequence[Ceiling]) -> list[str]:
    rows = [
        "| sessions a day | what is too small | before | when AWS has raised its quotas | all at work restart in |",
        "|---|---|---|---|---|",
    ]
    for sessions in SESSIONS:
        left = [one for one in now if one.whose != "AWS"]
        rows.append(
            f"| {short(sessions)} | {_named(now, sessions)} | {_named(before, sessions)} | {_named(left, sessions)} | "
            f"{_minutes(restart_minutes(of, sessions))} |"
        )
    return rows


def _named(found: Sequence[Ceiling], sessions: int) -> str:
    broken = [one for one in found if one.sessions < sessions]
    return "; ".join(f"{one.what.partition(', ')[0]} ({one.whose})" for one in broken) or "nothing"


def _quotas(of: Workload) -> list[str]:
    rows = ["| quota | large regions | others | unit | adjustable | read on |", "|---|---|---|---|---|---|"]
    for quota in QUOTAS.values():
        rows.append(
            f"| [{quota.what}]({quota.source}) | {quota.large:,.0f} | {quota.other:,.0f} | {quota.unit} | "
            f"{'yes' if quota.adjustable else 'no'} | {quota.read_on} |"
        )
    return rows


def _share(part: float) -> str:
    text = f"{part:.0%}" if part >= 0.01 else "<1%"
    return f"**{text}**" if part > 1 else text


def _minutes(minutes: float) -> str:
    whole = max(1, round(minutes))
    return "a minute" if whole == 1 else f"{whole} minutes"


def short(sessions: float) -> str:
    """Two digits: 10k, 1.2M, 440k."""
    for size, letter in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if sessions >= size:
            value = sessions / size
            return f"{value:.1f}{letter}".replace(".0", "") if value < 10 else f"{value:.0f}{letter}"
    return f"{sessions:.0f}"
