"""`make scale`: where a deployment breaks, and what raises each ceiling. With other assumptions it only prints:

    make scale WITH="--peak 5 --model-calls 30 --region us-east-1"

As it is it writes the tables between the marks in docs/scale.md, and docs/scale.svg.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from infra.scale.chart import svg
from infra.scale.page import BEGIN, END, tables, within
from infra.scale.workload import Workload

ROOT = Path(__file__).parents[2]
PAGE, PICTURE = ROOT / "docs" / "scale.md", ROOT / "docs" / "scale.svg"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make scale", description="Where a deployment breaks.")
    for name, value in Workload()._asdict().items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    workload = Workload(**vars(parser.parse_args(arguments)))
    print(tables(workload))
    if workload == Workload():
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(within(text, tables(workload)), encoding="utf-8")
        PICTURE.write_text(svg(workload), encoding="utf-8")
        print(f"written: {PAGE.relative_to(ROOT)} between {BEGIN} and {END}, {PICTURE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
