"""The child process in which llama.cpp's server runs, and the only module that imports it.

It reads its options, one JSON object, from the first line of its input, and answers with a line: the address, or an
error. It ends when its input does, so it never outlives the app, however that ends.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import suppress
from typing import Any


def main() -> None:
    options = json.loads(sys.stdin.buffer.readline())
    _end_with_input()
    # the threads of a server that waits must not keep the cores busy
    os.environ.update(OMP_WAIT_POLICY="PASSIVE", GOMP_SPINCOUNT="0")
    try:
        if options.get("devices"):
            print(json.dumps({"devices": _devices()}), flush=True)
            return
        server = _serve(options)
        answer = {"address": server.listening_address}
    except Exception as error:  # noqa: BLE001  whatever it is, the parent process has to say it
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
    if "address" in answer:
        threading.Event().wait()


def _devices() -> list[str]:
    """The graphics cards that the engine can use."""
    import xllamacpp

    kinds = xllamacpp.ggml_backend_dev_type
    cards = (kinds.GGML_BACKEND_DEVICE_TYPE_GPU, getattr(kinds, "GGML_BACKEND_DEVICE_TYPE_IGPU", None))
    return [str(one["description"] or one["name"]) for one in xllamacpp.get_device_info() if one["type"] in cards]


def _serve(options: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = options["file"], {options["name"]}
    params.hostnames, params.port, params.api_keys = ["127.0.0.1"], 0, [options["key"]]
    params.n_ctx, params.n_parallel = options["window"], 1
    params.cpuparams.n_threads, params.cpuparams_batch.n_threads = options["writing"], options["reading"]
    params.n_threads_http = 2
    # mapped, the file would stay in memory beside the weights that are laid out anew for the processor
    params.load_mode = xllamacpp.llama_load_mode.LLAMA_LOAD_MODE_NONE
    params.slot_save_path = options["states"]
    params.cache_ram_mib = options["set_aside"]
    params.default_template_kwargs = {"enable_thinking": "false"}  # minutes of thinking before each gist
    if options["embeds"]:
        params.embedding, params.n_batch, params.n_ubatch = True, options["window"], options["window"]
        params.pooling_type = getattr(xllamacpp.llama_pooling_type, options["embeds"])
    params.use_jinja = params.endpoint_slots = params.offline = True
    params.ui = params.warmup = params.fit_params = False
    params.verbosity = 0
    return xllamacpp.Server(params)


def _end_with_input() -> None:
    """End this process at the end of its input. While a model is loaded no Python thread runs, so that on Linux the
    system is asked for the signal that ends it as well.
    """

    def watch() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
    with suppress(ImportError, OSError, AttributeError):
        import fcntl

        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)


if __name__ == "__main__":
    main()
