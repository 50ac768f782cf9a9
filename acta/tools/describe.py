"""`python -m acta.tools.describe FOLDER`: prints what the tools of a folder are, as JSON: `{"tools": [spec, …]}`, or
`{"error": "…"}` where they cannot be read. Each folder is read by a process of its own, since it brings its libraries.
"""

import contextlib
import json
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

from acta.tools.define import MODULE, tools_in
from acta.tools.errors import BadTool


def describe(folder: Path) -> dict[str, Any]:
    """`folder`: has `tools.py`. What that prints goes to standard error."""
    if not (folder / f"{MODULE}.py").is_file():
        return {"error": f"there is no {MODULE}.py. It is where a folder's tools stand."}
    sys.path.insert(0, str(folder))
    try:
        with contextlib.redirect_stdout(sys.stderr):
            found = tools_in(import_module(MODULE))
    except BadTool as bad:
        return {"error": f"{_place(folder, bad)}: {bad}"}
    except Exception as error:
        return {"error": f"{_place(folder, error)}: {type(error).__name__}: {error}"}
    if not found:
        return {"error": f"{MODULE}.py has no tool. Write @tool(…) above a function, or import one there."}
    return {"tools": [found[name].to_spec() for name in sorted(found)]}


def _place(folder: Path, error: Exception) -> str:
    """The last line of the folder's own that was running."""
    own = [
        f"{Path(frame.filename).relative_to(folder)} line {frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(folder)
        and not Path(frame.filename).is_relative_to(Path(__file__).parent)
    ]
    return own[-1] if own else f"{MODULE}.py"


if __name__ == "__main__":
    print(json.dumps(describe(Path(sys.argv[1]).resolve())))
