"""What a Lambda process runs first, in the runtime interpreter: AWS's runtime client on the function.

Run as a script with `-P`, so neither this folder nor the working directory is on `sys.path`. The function's
zip comes first, then the runtime's packages: the order of AWS's Python runtime. Argument: the emulator's
process id.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import sys
import threading

_PR_SET_PDEATHSIG = 1


def _die_with_parent(parent: int) -> None:
    """End when the emulator ends, even if it is killed and cannot clean up."""
    if platform.system() == "Linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before the call above
            os._exit(1)
        return
    threading.Thread(target=_watch_stdin, daemon=True).start()


def _watch_stdin() -> None:
    # Standard input is a pipe whose other end only the emulator holds.
    while os.read(0, 1):
        pass
    os._exit(1)


def main() -> None:
    _die_with_parent(int(sys.argv[1]))
    from awslambdaric.__main__ import main as run_runtime

    sys.path.insert(0, os.environ["LAMBDA_TASK_ROOT"])
    run_runtime(["bootstrap", os.environ["_HANDLER"]])


if __name__ == "__main__":
    main()
