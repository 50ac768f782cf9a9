"""Imports what it is told to and ends; run in a fresh interpreter, whose whole CPU the parent reads at its end.

Standard library only. Arguments: the bundle, then module names; `--report` first prints what that left in
`sys.modules` (JSON: name -> file).
"""

import importlib
import sys


def main() -> None:
    bundle, *names = sys.argv[1:]
    report = names[:1] == ["--report"]
    sys.path.insert(0, bundle)
    for name in names[report:]:
        importlib.import_module(name)
    if report:
        import json

        files = {name: getattr(module, "__file__", None) for name, module in list(sys.modules.items())}
        print(json.dumps(files))


if __name__ == "__main__":
    main()
