"""One folder per Lambda, and what comes before its import.

The garbage collector rests while a handler is imported: imports make hardly any garbage and looking for it again and
again is a tenth of a cold start. `Telemetry`, which every handler makes last, wakes it
(`shared/acta_engine/telemetry.py`).

Where Lambda starts workers from a snapshot (`Environment.snap_start`), all of them would draw the same random numbers,
by which the SDK spreads its repeats. Each seeds them anew. An import fixes nothing else: a test watches.
"""

import gc
import os

gc.disable()

if os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE") == "snap-start":
    import random

    from snapshot_restore_py import register_after_restore  # Lambda's runtime brings it

    register_after_restore(random.seed)
