"""What every model is to the rest of the program: a prompt goes in, a completion comes out.

Three kinds of ``ChatModel`` answer: an OpenAI-compatible server, the built-in reader, and a scripted one in tests.
Wrappers (cache, meter, retries) are models too, and delegate everything they do not change.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Self

from readagent_core.cancel import CancelToken
from readagent_core.errors import ModelError
from readagent_core.models.cost.prices import Price
from readagent_core.models.limiter import Limiter
from readagent_core.prompts import Prompt
from readagent_core.settings.saved import ModelOptions
from readagent_core.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class Completion:
    """A model's reply. ``finish``: 'stop', 'length' when it hit its limit, 'repeats' where it was ended for that.

    ``tokens_*``: as the server reported, None where it did not. ``tokens_reused``: of those sent, the ones that the
    server took from its own cache of prompt prefixes. ``reasoning``: a <think> block or a separate
    reasoning field, never part of ``text``. ``cached``: it comes from the cache and nothing was sent.
    ``seconds``: from call to reply; ``first_word``: to the first streamed part. ``tries``: calls it took.
    ``orders``: of the options in which its letter was weighed, 0 where it was not.
    """

    text: str
    model: str = ""
    finish: str = "stop"
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_reused: int = 0
    reasoning: str = ""
    cached: bool = False
    seconds: float = 0.0
    first_word: float | None = None
    tries: int = 1
    orders: int = 0


class ChatModel(ABC):
    """A model that answers prompts. What only models on a server have is here too, with its default."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The model's own name."""

    @property
    def where(self) -> str:
        """The server's address; '' for a model in this process."""
        return ""

    @property
    def window(self) -> int | None:
        """Context size in tokens, None where unknown. A server may have to be asked first: ``learn_window``."""
        return None

    @property
    def window_is_firm(self) -> bool:
        """False where the server has not loaded the model yet and may give it another window than it says now."""
        return True

    @property
    def is_language_model(self) -> bool:
        """False for the built-in reader."""
        return True

    @property
    def price(self) -> Price | None:
        """What a call costs, None where unknown."""
        return None

    @property
    def budget(self) -> float | None:
        """The most one run (a gisting, an ask) may cost, in dollars; None for no limit."""
        return None

    @property
    def options(self) -> ModelOptions:
        """The settings that were saved as suiting it."""
        return ModelOptions()

    @property
    def limiter(self) -> Limiter | None:
        """How many calls may be under way at the model's server; None for a model in this process."""
        return None

    @property
    def sampling(self) -> dict[str, Any]:
        """What besides the prompt decides a reply (the temperature): part of the cache's key."""
        return {}

    @property
    def cutting(self) -> str:
        """That the server was seen cutting prompts, and the remedy, for people; '' where it was not."""
        return ""

    @property
    def trouble(self) -> ModelError | None:
        """Why it could not be asked the last time: no connection, a key that was refused and the like."""
        return None

    @property
    def asks_again(self) -> bool:
        """Whether a gist with faults is asked for again; weak models repeat themselves."""
        return True

    @property
    def shares_text(self) -> bool:
        """Whether the prompts for a page's pause point and gist begin alike: a server with one slot computes its text
        once then.
        """
        return False

    @property
    def copies_pages(self) -> bool:
        """Whether it was seen copying a page that it should shorten."""
        return False

    @property
    def notices(self) -> list[str]:
        """What a person should know of this connection."""
        return []

    @abstractmethod
    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        """Return the whole reply. Raises ModelError (one of its subclasses) or CancelledError."""

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        """Give the parts of the reply as they arrive and, last, the Completion that holds them all. Raises as
        ``complete`` does.
        """
        completion = self.complete(prompt, cancel)
        yield from completion.text.splitlines(keepends=True)
        yield completion

    def learn_window(self, cancel: CancelToken) -> None:  # noqa: B027  only a server has to be asked
        """Ask the server for its window where it is not known yet, so that ``window`` need not wait for it."""

    def without_cache(self) -> ChatModel:
        """Return this model without the replies in the cache: each prompt is sent, and its reply stored."""
        return self

    def wrap_inner(self, wrap: Callable[[ChatModel], ChatModel]) -> ChatModel:
        """Return this model with ``wrap`` applied to what is asked where the cache holds no reply."""
        return wrap(self)


def _inner(name: str) -> Any:
    """Return a property with the value of the wrapped model's property ``name``."""
    return property(attrgetter(f"model.{name}"))


class ModelWrapper(ChatModel):
    """Delegates to another model: the base of every wrapper."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model

    name = _inner("name")
    where = _inner("where")
    window = _inner("window")
    window_is_firm = _inner("window_is_firm")
    is_language_model = _inner("is_language_model")
    price = _inner("price")
    budget = _inner("budget")
    limiter = _inner("limiter")
    options = _inner("options")
    sampling = _inner("sampling")
    cutting = _inner("cutting")
    trouble = _inner("trouble")
    asks_again = _inner("asks_again")
    shares_text = _inner("shares_text")
    copies_pages = _inner("copies_pages")
    notices = _inner("notices")

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        return self.model.complete(prompt, cancel)

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        return self.model.stream(prompt, cancel)

    def learn_window(self, cancel: CancelToken) -> None:
        self.model.learn_window(cancel)

    def without_cache(self) -> Self:
        return self._over(self.model.without_cache())

    def wrap_inner(self, wrap: Callable[[ChatModel], ChatModel]) -> Self:
        return self._over(self.model.wrap_inner(wrap))

    def _over(self, model: ChatModel) -> Self:
        """Return a copy of this wrapper around another model; what it counts or holds is shared."""
        other = copy.copy(self)
        other.model = model
        return other
