"""CPU that whole Lambda processes have used, where the system tells it (Linux's /proc); elsewhere nothing."""

import os
from pathlib import Path

PROC = Path("/proc")


def lambda_cpu_ms(emulator_pid: int) -> dict[str, float]:
    """Function name -> milliseconds of CPU of its processes so far, user and system, all threads."""
    used: dict[str, float] = {}
    if not PROC.is_dir():
        return used
    tick = 1_000 / os.sysconf("SC_CLK_TCK")
    for folder in PROC.glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) != emulator_pid:
                continue
            environ = (folder / "environ").read_bytes()
        except OSError:
            continue  # it ended meanwhile
        name = environ.partition(b"AWS_LAMBDA_FUNCTION_NAME=")[2].partition(b"\0")[0].decode()
        if name:
            used[name] = used.get(name, 0) + (int(fields[11]) + int(fields[12])) * tick
    return used
