"""How large the functions' zips are: as deployed here, and as they go to AWS; and what the largest is made of."""

import io
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from acta.infra.environments import DEV
from acta.infra.packaging.bundle import Bundler
from acta.infra.packaging.install import InstallFailed, InstallTarget
from tests.bench.stand.stand import Stand
from tests.bench.table import heading

SHOWN = 8
"""Packages that are named."""

AWS = InstallTarget(
    DEV.python, "aarch64-manylinux_2_28" if DEV.architecture == "arm64" else "x86_64-manylinux_2_28"
)


def sizes(stand: Stand, functions: Sequence[str]) -> dict[str, dict[str, int]]:
    """Function -> bytes: `local` as deployed now, with bytecode; `aws` for AWS's Python and architecture.

    Where the builder has another Python than AWS the latter has no bytecode; where its wheels cannot be had it is
    left out.
    """
    client = stand.client("lambda")
    found = {
        name: {
            "local": int(client.get_function(FunctionName=f"acta-local-{name}")["Configuration"]["CodeSize"])
        }
        for name in functions
    }
    try:
        for name, row in found.items():
            row["aws"] = _zipped(Bundler(AWS).build(name))
    except InstallFailed:
        pass
    return found


def packages(function: str) -> dict[str, int]:
    """Package, or `ours` -> bytes of the zip for AWS, the largest first. Empty where its wheels cannot be had."""
    try:
        folder = Bundler(AWS).build(function)
    except InstallFailed:
        return {}
    target = io.BytesIO(_zip(folder))
    found: Counter[str] = Counter()
    with zipfile.ZipFile(target) as archive:
        for entry in archive.infolist():
            top = entry.filename.partition("/")[0]
            found["ours" if top == "acta" else top] += entry.compress_size
    return dict(found.most_common())


def report(found: Mapping[str, int]) -> None:
    """`found`: of `packages`."""
    heading("What the zip of step is made of, in AWS")
    shown = [f"{name} {number / 1e6:.2f}" for name, number in list(found.items())[:SHOWN]]
    rest = sum(list(found.values())[SHOWN:])
    print(f"MB, compressed: {', '.join(shown)}; {len(found) - len(shown)} others {rest / 1e6:.2f}")


def _zipped(folder: Path) -> int:
    return len(_zip(folder))


def _zip(folder: Path) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return target.getvalue()
