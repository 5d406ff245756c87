"""A value worked out when it is first asked for, and kept with its object.

Up to Python 3.11 the standard library's ``cached_property`` holds one lock for all objects of a class while it works:
thirty threads that each count the words of a prompt of their own would wait for one another. Here two threads that
ask for the same value at the same moment both work it out, so it must come out the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class once(Generic[T]):
    """Decorates a method without arguments. The object needs a ``__dict__``; a frozen dataclass has one."""

    def __init__(self, work: Callable[[Any], T]) -> None:
        self._work, self._name, self.__doc__ = work, work.__name__, work.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> once[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> once[T] | T:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._work(instance)
        return value
