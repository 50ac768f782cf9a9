# mypy: disable-error-code="import-not-found"
"""Phoenix, Arize's server for traces of agents, on the loopback address. Run by the interpreter of `.venv-otlp`.

Its gRPC server would listen on every address, so it is left out: nothing here speaks gRPC.
"""

import sys
from typing import Any

from phoenix.server import app
from phoenix.server.main import main


def without_grpc(made: Any) -> Any:
    return lambda *positional, **named: made(*positional, **{**named, "disabled": True})


if __name__ == "__main__":
    app.GrpcServer = without_grpc(app.GrpcServer)
    sys.argv = [sys.argv[0], "serve"]
    main()
