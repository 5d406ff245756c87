"""A hub of models on loopback, with one file: ``python -m tests.fakes.hub FILE [SECONDS]`` prints its address.

It answers as huggingface.co does: size and SHA-256 in headers of its own, the file itself at another address, and in
ranges. ``breaks``: bytes after which a connection is closed, one entry a connection. ``pause``: seconds between parts.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import time
from contextlib import suppress
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

REVISION = "0123456789abcdef0123456789abcdef01234567"
PART = 1 << 18


class Hub:
    def __init__(self, content: bytes, *, breaks: tuple[int, ...] = (), pause: float = 0.0) -> None:
        self.content = content
        self.stated: dict[str, str] = {}  # headers in place of the true ones
        self.breaks = list(breaks)
        self.pause = pause
        self.asked: list[tuple[str, str, str]] = []  # method, path and range
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                hub.asked.append(("HEAD", self.path, ""))
                self.send_response(302)
                headers = {
                    "X-Linked-Size": str(len(hub.content)), "X-Linked-ETag": f'"{hub.sha256}"',
                    "X-Repo-Commit": REVISION, "Location": f"{hub.url}/cdn/file", "Content-Length": "0",
                }  # fmt: skip
                for name, value in (headers | hub.stated).items():
                    self.send_header(name, value)
                self.end_headers()

            def do_GET(self) -> None:
                if "/resolve/" in self.path:
                    self.do_HEAD()
                    return
                asked = self.headers.get("Range", "")
                hub.asked.append(("GET", self.path, asked))
                first = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
                body = hub.content[first:]
                self.send_response(206 if asked else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                left = hub.breaks.pop(0) if hub.breaks else len(body)
                with suppress(OSError):  # the program was killed
                    for at in range(0, min(left, len(body)), PART):
                        self.wfile.write(body[at : min(at + PART, left)])
                        time.sleep(hub.pause)
                self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    def entry(self, name: str = "tiny") -> str:
        """The model's row of a list such as models.toml."""
        row = {
            "size": "Small", "title": "SmolLM2 135M", "says": "Writes words.", "languages": "English",
            "licence": "Apache-2.0", "repository": "someone/tiny-GGUF", "revision": REVISION, "file": "tiny.gguf",
            "bytes": len(self.content), "sha256": self.sha256, "source": "http://127.0.0.1",
        }  # fmt: skip
        return f"[{name}]\nparameters = 0.135\n" + "".join(
            f"{key} = {json.dumps(value)}\n" for key, value in row.items()
        )

    def __enter__(self) -> Hub:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


if __name__ == "__main__":
    with Hub(Path(sys.argv[1]).read_bytes(), pause=float((*sys.argv, "0")[2])) as hub:
        print(hub.url, flush=True)
        sys.stdin.read()
