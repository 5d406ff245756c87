"""Lines over stdio that are no message: each is answered, and the next request too."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

if importlib.util.find_spec("mcp") is None:
    pytest.skip("requirements-mcp.txt is not installed", allow_module_level=True)

ROOT = Path(__file__).parents[2]
PARSE_ERROR, INVALID_REQUEST = -32700, -32600
SEARCH = '{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "search", "arguments": {"query": %s}}}'
UNREADABLE = [  # a line, the id and the code of its answer
    (SEARCH % ("9" * 5_000), 5, PARSE_ERROR),
    (SEARCH % r'"\ud800"', 5, PARSE_ERROR),
    (SEARCH % ("[" * 300 + "]" * 300), 5, PARSE_ERROR),
    (SEARCH % ("[" * 100_000 + "]" * 100_000), None, PARSE_ERROR),
    (SEARCH % '"\0"', None, PARSE_ERROR),
    (r'{"jsonrpc": "2.0", "id": "\ud800", "method": "ping"}', None, PARSE_ERROR),
    ('{"jsonrpc": "2.0", "id": ' + "9" * 5_000 + ', "method": "ping"}', None, PARSE_ERROR),
    ('{"jsonrpc": "2.0", "id": 5,', None, PARSE_ERROR),
    ("ping", None, PARSE_ERROR),
    ('[{"jsonrpc": "2.0", "id": 5, "method": "ping"}]', None, INVALID_REQUEST),
    ("null", None, INVALID_REQUEST),
    ('{"id": 5, "method": "ping"}', 5, INVALID_REQUEST),
    ('{"jsonrpc": "2.0", "id": "five"}', "five", INVALID_REQUEST),
    ('{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": [1]}', 5, INVALID_REQUEST),
    ('{"jsonrpc": "2.0", "id": 5, "error": "of an answer of the client"}', None, INVALID_REQUEST),
]


def test_every_line_that_is_no_message_is_answered(tmp_path):
    environment = {**os.environ, "READAGENT_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "readagent_core", "mcp"]
    ping = '{"jsonrpc": "2.0", "id": "last", "method": "ping"}'
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    }
    first = json.dumps({"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": hello})
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        print(first, file=server.stdin, flush=True)
        assert json.loads(server.stdout.readline())["id"] == "first"
        print("", *(line for line, _, _ in UNREADABLE), ping, sep="\n", file=server.stdin, flush=True)
        answers = [json.loads(server.stdout.readline()) for _ in (*UNREADABLE, ping)]
        server.stdin.close()
        assert server.wait() == 0
    assert answers.pop() == {"jsonrpc": "2.0", "id": "last", "result": {}}
    assert [(answer["id"], answer["error"]["code"]) for answer in answers] == [case[1:] for case in UNREADABLE]
    assert max(len(answer["error"]["message"]) for answer in answers) < 200
