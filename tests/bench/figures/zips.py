"""How large the functions' zips are: as deployed here, and as they go to AWS."""

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

from infra.environments import DEV
from infra.packaging.bundle import Bundler
from infra.packaging.install import InstallFailed, Target
from tests.bench.stand.stand import Stand

AWS = Target(DEV.python, "aarch64-manylinux_2_28" if DEV.architecture == "arm64" else "x86_64-manylinux_2_28")


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


def _zipped(folder: Path) -> int:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return target.tell()
