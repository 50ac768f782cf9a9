"""CPU and memory of whole Lambda processes, where the system tells it (Linux's /proc); elsewhere nothing."""

import os
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")


def lambda_cpu_ms(emulator_pid: int) -> dict[str, float]:
    """Function name -> milliseconds of CPU of its processes so far, user and system, all threads."""
    used: dict[str, float] = {}
    tick = 1_000 / os.sysconf("SC_CLK_TCK")
    for name, _, fields in _lambdas(emulator_pid):
        used[name] = used.get(name, 0) + (int(fields[11]) + int(fields[12])) * tick
    return used


def lambda_peak_mb(emulator_pid: int) -> dict[str, float]:
    """Function name -> the most memory (VmHWM, 1 MB = 1,048,576 bytes) that one of its living processes ever had."""
    peaks: dict[str, float] = {}
    for name, folder, _ in _lambdas(emulator_pid):
        try:
            lines = (folder / "status").read_text().splitlines()
        except OSError:
            continue  # it ended meanwhile
        for line in lines:
            if line.startswith("VmHWM:"):
                peaks[name] = max(peaks.get(name, 0), int(line.split()[1]) / 1_024)
    return peaks


def _lambdas(emulator_pid: int) -> Iterator[tuple[str, Path, list[str]]]:
    """The emulator's processes that are Lambdas: the function's name, the folder, the fields of `stat` from the third
    on.
    """
    if not PROC.is_dir():
        return
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
            yield name, folder, fields
