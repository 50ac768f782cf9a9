"""`make house`: the largest rooms and files, circles of imports, and how many files one request passes."""

from tests.structure.modules import ROOT, circle, closure, graph, lines, modules, rooms
from tests.structure.request_path import files_passed

SHOWN = 8


def main() -> None:
    known = modules()
    edges = graph(known)
    print(f"{len(known)} modules, {sum(map(lines, known.values()))} lines")
    print("\nLargest rooms (modules side by side; aim: at most about 15)")
    for room, count in rooms(known).most_common(SHOWN):
        print(f"  {count:4}  {room}")
    print("\nLargest files (lines)")
    for path in sorted(known.values(), key=lines, reverse=True)[:SHOWN]:
        print(f"  {lines(path):4}  {path.relative_to(ROOT)}")
    found = circle(edges)
    print(f"\nCircles of imports: {' -> '.join(found) if found else 'none'}")
    start, step = (closure(edges, f"functions.{name}.handler") for name in ("start", "step"))
    print("\nOne request, from POST /v1/sessions to the first Think commit")
    print(f"  {len(start):4}  modules that `start` imports")
    print(f"  {len(step):4}  modules that `step` imports before it knows its model")
    print(f"  {len(start | step):4}  of them in all")
    passed = files_passed()
    print(f"  {len(passed):4}  files whose functions run on the way, {sum(map(lines, passed))} lines")


if __name__ == "__main__":
    main()
