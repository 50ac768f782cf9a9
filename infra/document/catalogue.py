"""The catalogue of errors as it stands in docs/api.md: `python -m infra.document.catalogue` writes it there."""

from pathlib import Path

from infra.document import errors

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"
BEGIN, END = "<!-- errors: made from their classes -->\n", "<!-- end of errors -->\n"


def catalogue() -> str:
    answered = [f"| `{each.code}` | {each.status} | {each.says} |" for each in errors.answered()]
    runs = [f"| `{code}` | {says} | {remedy} |" for code, says, remedy in errors.of_runs()]
    waits = [f"| `{code}` | {says} |" for code, says in errors.of_waits()]
    return "\n".join(
        [
            "### What is answered",
            "",
            "| code | status | what it means |",
            "|---|---|---|",
            *answered,
            "",
            "### Why a run has failed",
            "",
            "`error.code` of a session, beside `PLAN_FAILED` (the agent found no plan that could work),",
            "`STUCK` (it did the same again and again, whatever it was told) and `STEP_FAILED`",
            "(stored data is damaged).",
            "",
            "| code | what it means | what to do |",
            "|---|---|---|",
            *runs,
            "",
            "### What a session waits for",
            "",
            "`cause.code` of a session. It goes on by itself; `retry_at` says when it tries again, and",
            "`retrying` that it does now.",
            "",
            "| code | what it means |",
            "|---|---|",
            *waits,
            "",
        ]
    )


def with_catalogue(page: str) -> str:
    """The page, with the catalogue as it is now. Raises ValueError for a page without its place."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError("docs/api.md has no place for the catalogue of errors")
    return f"{before}{BEGIN}\n{catalogue()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_catalogue(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
