"""One folder per Lambda. This module runs before any handler is imported.

The garbage collector is off while a handler is imported: imports make hardly any garbage, and looking for it again and
again takes a tenth of a cold start. `Telemetry`, which every handler makes last, turns it on
(`acta/engine/telemetry.py`).

Workers that Lambda starts from one snapshot (`Environment.snap_start`) would draw the same random numbers, with which
the SDK spreads its retries. So each seeds its generator again. A test checks that an import fixes nothing else.
"""

import gc
import os

gc.disable()

if os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE") == "snap-start":
    import random

    from snapshot_restore_py import register_after_restore  # Lambda's runtime brings it

    register_after_restore(random.seed)
