"""`make house`: the figures of the sources, beside those that are stored.

`python -m tests.structure check` prints only what is worse than stored and then fails; `store` stores the figures of
now, which a commit does that makes one of them worse for a good reason, or better.
"""

import json
import sys

from tests.structure.house import STORED, figures, lines_by_room, names_twice, stored, worse
from tests.structure.modules import modules


def main(wanted: str) -> int:
    now = figures()
    if wanted == "store":
        STORED.write_text(json.dumps(now, indent=2) + "\n", encoding="utf-8")
        return 0
    before = stored()
    if wanted == "check":
        found = worse(now, before)
        for each in found:
            print(f"house: {each}", file=sys.stderr)
        if found:
            print("house: make it better, or store it with `make house STORE=1` and say why", file=sys.stderr)
        return 1 if found else 0
    known = modules()
    print("Lines by room")
    for room, count in lines_by_room(known).most_common():
        print(f"  {count:6,}  {room}")
    print("\nPublic names that stand twice")
    for name, places in names_twice(known).items():
        print(f"  {name}: {', '.join(places)}")
    print(f"\n{'':60}{'now':>10}{'stored':>10}")
    for name, number in now.items():
        print(f"{name:60}{number:>10g}{before.get(name, 0):>10g}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if sys.argv[1:] else "show"))
