"""Imports what it is told to and ends on the spot; run in a fresh interpreter, whose whole CPU the parent reads.

Standard library only. Arguments: the bundle, then module names; `--report` first prints what that left in
`sys.modules` (JSON: name -> file).
"""

import importlib
import os
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
        print(json.dumps(files), flush=True)
    os._exit(0)  # a Lambda never takes its interpreter down; that would be a fifth of the figure


if __name__ == "__main__":
    main()
