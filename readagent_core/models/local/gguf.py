"""The head of a GGUF file: which model it is, and how much memory it needs.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. Nothing of the file is executed.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from readagent_core.errors import LocalModelError

_MAGIC = b"GGUF"
_NUMBERS = {0: "B", 1: "b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
_LONGEST = 1 << 20  # bytes of a string, and entries of an array; those of the vocabulary come after what is read here
_MOST_KEYS = 4_096
_POOLING = [f"LLAMA_POOLING_TYPE_{name}" for name in ("NONE", "MEAN", "CLS", "LAST", "RANK")]
_STATE_BYTES = 2  # of a number in the model's state (16 bits)


@dataclass(frozen=True)
class Head:
    """``window``: tokens that the model was made for. ``state``: bytes of its state for a token. ``dense``: whether
    every layer sees all tokens before it, so that a saved state can be used again (sliding windows and recurrent
    layers cannot be cut back to a shared beginning). ``pooling``: how a vector is made of its tokens.
    """

    name: str
    window: int
    state: int
    dense: bool
    pooling: str = _POOLING[1]


def read_head(file: Path) -> Head:
    """Return the head of a GGUF file. Raises LocalModelError for a file that is none or holds no language model."""
    try:
        with file.open("rb") as stream:
            values = _values(stream)
    except OSError as error:
        raise LocalModelError(f"{file} cannot be read ({error.strerror}). Choose another file.") from None
    except (struct.error, ValueError, UnicodeDecodeError, OverflowError):
        raise LocalModelError(
            f"{file.name} is not a GGUF file, or is damaged. Fetch it anew, or choose another file."
        ) from None
    kind = str(values.get("general.architecture", ""))

    def number(name: str, default: int = 0) -> int:
        value = values.get(f"{kind}.{name}", default)
        value = max(value, default=0) if isinstance(value, list) else value
        return int(value) if isinstance(value, int | float) else default

    layers, heads = number("block_count"), number("attention.head_count")
    if not layers or not heads or not number("context_length"):
        raise LocalModelError(f"{file.name} holds no language model ({kind or 'of no kind'}). Choose another file.")
    width = number("embedding_length") // heads
    key, value = number("attention.key_length", width), number("attention.value_length", width)
    state = layers * number("attention.head_count_kv", heads) * (key + value) * _STATE_BYTES
    dense = not any(name.startswith((f"{kind}.ssm.", f"{kind}.attention.sliding_window")) for name in values)
    type_ = number("pooling_type", 1)
    pooling = _POOLING[type_ if 0 < type_ < len(_POOLING) else 1]
    return Head(str(values.get("general.name") or file.stem), number("context_length"), state, dense, pooling)


def _values(stream: IO[bytes]) -> dict[str, Any]:
    """The values by key, up to those of the vocabulary."""
    if stream.read(4) != _MAGIC:
        raise ValueError("no GGUF file")
    version, _, keys = _unpack(stream, "<IQQ")
    if version < 2 or keys > _MOST_KEYS:
        raise ValueError("an unknown version")
    values: dict[str, Any] = {}
    for _ in range(keys):
        key = _string(stream)
        if key.startswith("tokenizer."):
            break
        values[key] = _value(stream, _unpack(stream, "<I")[0])
    return values


def _value(stream: IO[bytes], kind: int) -> Any:
    if kind == _STRING:
        return _string(stream)
    if kind == _ARRAY:
        inner, count = _unpack(stream, "<IQ")
        if count > _LONGEST or inner == _ARRAY:
            raise ValueError("too long")
        return [_value(stream, inner) for _ in range(count)]
    if kind not in _NUMBERS:
        raise ValueError("an unknown kind of value")
    return _unpack(stream, _NUMBERS[kind])[0]


def _string(stream: IO[bytes]) -> str:
    (length,) = _unpack(stream, "<Q")
    if length > _LONGEST:
        raise ValueError("too long")
    return stream.read(length).decode()


def _unpack(stream: IO[bytes], form: str) -> tuple[Any, ...]:
    return struct.unpack(form, stream.read(struct.calcsize(form)))
