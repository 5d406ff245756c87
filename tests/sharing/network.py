"""A home network with somebody else in it: another network namespace of this machine, with a cable of its own to it.

Where no namespace may be made (no root, no Linux) the requests come from this computer itself, to its own address in a
network, or to a second address of its loopback where it is in none. ``told`` says which of them it was.
"""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from readagent_core.fetching.connecting import is_home

_NETWORK = 0x40000000  # CLONE_NEWNET
_TRIES = 20


@dataclass(frozen=True)
class Network:
    """``host``: this computer's address there. ``phone``, ``guesser``: addresses that requests come from."""

    host: str
    phone: str
    guesser: str
    told: str
    namespace: str = ""

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What this thread connects to meanwhile is seen from there."""
        if not self.namespace:
            yield
            return
        with open("/proc/thread-self/ns/net") as own, open(f"/run/netns/{self.namespace}") as there:
            _enter(there.fileno())
            try:
                yield
            finally:
                _enter(own.fileno())

    def program(self, path: str, folder: Path) -> str:
        """The program that runs the one at ``path`` there."""
        if not self.namespace:
            return path
        made = folder / "there.sh"
        made.write_text(f'#!/bin/sh\nexec ip netns exec {self.namespace} "{path}" "$@"\n')
        made.chmod(0o755)
        return str(made)


@contextmanager
def home_network() -> Iterator[Network]:
    if sys.platform == "darwin":
        pytest.skip("only 127.0.0.1 is there")
    for number in range(os.getpid() % 200, os.getpid() % 200 + _TRIES):
        name, first = f"readagent{number}", f"10.213.{number}."
        if _ip(f"netns add {name}"):
            break
    else:
        yield _own_network()
        return
    cable = f"ra{number}"
    steps = (
        f"link add {cable} type veth peer name eth0 netns {name}", f"addr add {first}1/24 dev {cable}",
        f"link set {cable} up", f"-n {name} link set lo up", f"-n {name} addr add {first}2/24 dev eth0",
        f"-n {name} addr add {first}3/24 dev eth0", f"-n {name} link set eth0 up",
    )  # fmt: skip
    try:
        if all(map(_ip, steps)):
            told = "from another network namespace"
            yield Network(f"{first}1", f"{first}2", f"{first}3", told, name)
        else:
            yield _own_network()
    finally:
        _ip(f"link del {cable}")
        _ip(f"netns del {name}")


def _own_network() -> Network:
    found = [one.address for all_ in psutil.net_if_addrs().values() for one in all_ if one.family == socket.AF_INET]
    own = next((one for one in found if is_home(one) and not one.startswith(("127.", "100."))), "")
    told = f"no network namespace may be made: from {own or 'a second address of the loopback'} of this computer itself"
    return Network(own or "127.0.0.2", own or "127.0.0.1", "127.0.0.9", told)


def _ip(command: str) -> bool:
    try:
        return subprocess.run(["ip", *command.split()], capture_output=True, timeout=10, check=False).returncode == 0
    except OSError:
        return False


def _enter(namespace: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(namespace, _NETWORK):
        raise OSError(ctypes.get_errno(), "setns")
