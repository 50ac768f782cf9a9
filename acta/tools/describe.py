"""`python -m acta.tools.describe FOLDER`: prints what the tools of a folder are, as JSON: `{"tools": [spec, …]}`, or
`{"error": "…"}` if they cannot be read. Each folder is read by a process of its own, because it brings its own
libraries. After IMPORT_SECONDS the process ends and says which line was running.
"""

import contextlib
import json
import os
import sys
import threading
import traceback
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from acta.tools.call import BadTool
from acta.tools.define import MODULE, tools_in

IMPORT_SECONDS = 20.0
"""Lambda itself gives a process 10 seconds to start before it starts the process again."""
ONLY_DEFINES = "A module of tools only defines them: do such work in the function"


def describe(folder: Path) -> dict[str, Any]:
    """`folder`: a folder with a `tools.py`. Whatever that module prints goes to standard error."""
    if not (folder / f"{MODULE}.py").is_file():
        return {"error": f"there is no {MODULE}.py. It is where a folder's tools stand."}
    sys.path.insert(0, str(folder))
    try:
        with contextlib.redirect_stdout(sys.stderr):
            found = tools_in(import_module(MODULE))
    except BadTool as bad:
        return {"error": f"{_place(folder, _frames(bad))}: {bad}"}
    except SystemExit as ended:
        return {
            "error": f"{_place(folder, _frames(ended))}: importing it ends the process (SystemExit). {ONLY_DEFINES}."
        }
    except Exception as error:
        return {"error": f"{_place(folder, _frames(error))}: {type(error).__name__}: {error}"}
    if not found:
        return {"error": f"{MODULE}.py has no tool. Write @tool(…) above a function, or import one there."}
    return {"tools": [found[name].to_spec() for name in sorted(found)]}


def _frames(error: BaseException) -> Iterable[traceback.FrameSummary]:
    return traceback.extract_tb(error.__traceback__)


def _place(folder: Path, frames: Iterable[traceback.FrameSummary]) -> str:
    """The innermost line of the folder's own code that was running."""
    own = [
        f"{Path(frame.filename).relative_to(folder)} line {frame.lineno}"
        for frame in frames
        if Path(frame.filename).is_relative_to(folder)
        and not Path(frame.filename).is_relative_to(Path(__file__).parent)
    ]
    return own[-1] if own else f"{MODULE}.py"


def _end(said: dict[str, Any]) -> None:
    """Ends the process, whatever threads the folder's modules have started."""
    out = sys.__stdout__
    assert out is not None
    print(json.dumps(said), file=out, flush=True)
    os._exit(0)


def _end_where_it_hangs(folder: Path, thread: int) -> None:
    frames = traceback.extract_stack(sys._current_frames()[thread])
    where = _place(folder, frames)
    _end({"error": f"{where}: importing it takes more than {IMPORT_SECONDS:.0f} seconds. {ONLY_DEFINES}."})


def main(folder: Path, seconds: float = IMPORT_SECONDS) -> None:
    late = threading.Timer(seconds, _end_where_it_hangs, (folder, threading.get_ident()))
    late.daemon = True
    late.start()
    _end(describe(folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
