"""The report of `acta verify`, in JSON for programs and in Markdown for people. It can be sent to anybody.

It has no content, no name of a person, a tenant, an environment or a resource, and no account: `checks.py` says how.
"""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from acta import __version__
from acta.cli.operations.verify.checks import CheckAnswer, Verified, word
from acta.infra.environments import Environment

JSON_FILE, MARKDOWN_FILE = "acta-verify.json", "acta-verify.md"
FORMAT = 1


class ReportHead(NamedTuple):
    """Where and when: everything in a report that is not a check's answer."""

    acta: str
    """The version of the command line."""
    at: str
    place: str
    """AWS, or the local AWS."""
    region: str
    posture: str
    options: tuple[str, ...]
    """Names of the environment's options that change what is deployed, without their values."""


OPTIONS = (
    "domain",
    "edge",
    "key",
    "tool_network",
    "sign_in_firewall",
    "permissions_boundary",
    "snap_start",
    "traces",
    "notifications",
)


def head_of(deployed: Verified) -> ReportHead:
    environment: Environment = deployed.environment
    return ReportHead(
        acta=__version__,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        place="the local AWS" if environment.is_local else "AWS",
        region=word(deployed.outputs["StateMachineArn"].split(":")[3]),
        posture=environment.posture,
        options=tuple(each for each in OPTIONS if deployed.has(each)),
    )


def as_json(head: ReportHead, answers: Sequence[CheckAnswer]) -> dict[str, Any]:
    counts = Counter(each.state for each in answers)
    return {
        "format": FORMAT,
        **head._asdict(),
        "passed": counts["passed"],
        "failed": counts["failed"],
        "not_answered": counts["not answered"],
        "checks": [
            {
                "check": each.check.name,
                "proves": each.check.proves,
                "needs": each.check.needs,
                "state": each.state,
                "said": each.said,
                "figures": dict(each.figures),
            }
            for each in answers
        ],
    }


def as_markdown(head: ReportHead, answers: Sequence[CheckAnswer]) -> str:
    counts = Counter(each.state for each in answers)
    lines = [
        "# What `acta verify` found",
        "",
        f"Acta {head.acta}, {head.at}, {head.place} in {head.region}, posture {head.posture}, "
        f"options: {', '.join(head.options) or 'none'}.",
        f"{counts['passed']} passed, {counts['failed']} failed, {counts['not answered']} not answered.",
        "",
        "| check | state | figures | what it proves, or what to do |",
        "|---|---|---|---|",
    ]
    for each in answers:
        figures = ", ".join(f"{name} {value}" for name, value in each.figures.items())
        lines.append(f"| {each.check.name} | {each.state} | {figures} | {each.said or each.check.proves} |")
    return "\n".join(lines) + "\n"


def write(head: ReportHead, answers: Sequence[CheckAnswer], folder: Path) -> None:
    """Replaces the report that is there. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / JSON_FILE).write_text(json.dumps(as_json(head, answers), indent=2) + "\n", encoding="utf-8")
    (folder / MARKDOWN_FILE).write_text(as_markdown(head, answers), encoding="utf-8")
