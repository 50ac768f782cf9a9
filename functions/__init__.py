"""One folder per Lambda.

The garbage collector rests while a handler is imported: imports make hardly any garbage and looking for it again and
again is a tenth of a cold start. `Telemetry`, which every handler makes last, wakes it (`shared/telemetry.py`).
"""

import gc

gc.disable()
