"""The error tree. ``str(error)`` can be shown to the reader: it says what happened and what to do next.

ReadAgentError
├── SettingsError                  a setting that cannot be used
│   ├── MissingError               something that a person has to write or choose first; the sentence says what
│   └── NetworkError               the home network cannot be answered
├── SignInError                    this account is not admitted
│   └── NotSignedInError           nobody is signed in
├── LimitError                     over what one person may store or run on a server for several
├── DocumentError                  a file that cannot be opened
│   ├── UnknownFormatError         no loader knows this kind of file
│   ├── WrongFormatError           not what its name says
│   ├── EmptyDocumentError         nothing in it
│   ├── NoTextError                pictures of pages, no text (scans)
│   ├── DamagedDocumentError       broken beyond reading
│   ├── PasswordError              needs a password, or another one
│   ├── ProtectedDocumentError     protected by DRM
│   ├── TooLargeError              over the limit
│   ├── UnsafeDocumentError        malicious: zip bombs, paths outside the archive
│   └── LinkError                  a web address that gives no document
│       ├── UnsafeLinkError        it leads to where nothing is fetched from
│       ├── UnreachableLinkError   no server answers there
│       ├── NotThereError          the server has nothing at this address
│       ├── LoginError             the server asks for a user and a password, or refuses those it got
│       └── NoCatalogueError       a web page, or something else that is no catalogue, answered
├── ModelError                     a model that did not answer
│   ├── UnreachableError           no connection, or it broke
│   ├── KeyRefusedError            the key is missing or not accepted
│   ├── UnknownModelError          no such model on this server
│   ├── NoCreditError              the account is out of credit, or a day's quota is used up
│   ├── RateLimitError             too many calls; carries ``retry_after``
│   ├── ServerFailedError          the server itself failed (5xx)
│   │   └── ModelLoadingError      the server is still loading the model
│   ├── ModelTimeoutError          no reply in time
│   ├── WindowError                the prompt is longer than the model's window
│   │   └── RequestTooLargeError   the request has more bytes than a proxy takes
│   ├── CutOffError                the reply broke off; carries what had arrived
│   │   └── EndlessReplyError      the reply did not end; it was stopped
│   ├── EmptyReplyError            a reply without words
│   ├── UnusableRepliesError       reply after reply without a word that could be used
│   ├── RefusedError               declined, or stopped by a content filter
│   ├── BadRequestError            the server does not accept the call as sent
│   ├── LocalModelError            a model on this computer that cannot be loaded
│   │   └── DownloadError          it, or a voice, cannot be fetched
│   └── BudgetError                the spending limit is reached
├── ReplyError                     a reply that does not have the requested form
├── LibraryError                   the library cannot be read or written
│   ├── NotInLibraryError          no such book, reading or conversation
│   │   └── WrongAddressError      an address that names a book which is not there
│   ├── LibraryBusyError           another process has locked it for too long
│   ├── DiskFullError              no room left to write
│   └── NewerLibraryError          written by a newer version of this program
├── DatasetError                   a dataset that cannot be read; names the line
└── CancelledError                 the reader cancelled it; saved results stay

``remedy`` says for code where that is. A message never contains a key, a prompt or any text of a book except its title.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

WORK_IS_SAVED = "What was done so far is saved."  # in the sentence of a model's error
OR_TEST = (
    ", or first press Test in Settings, which finds out what this one can do and suits the app to it"  # in one too
)


class Remedy(StrEnum):
    """Where a person corrects what an error says; stored beside its sentence."""

    NONE = ""
    SETTINGS = "settings"


class ReadAgentError(Exception):
    """The base class of all errors: screens and the command line catch this one and no wider one."""

    remedy: ClassVar[Remedy] = Remedy.NONE


class SettingsError(ReadAgentError):
    remedy = Remedy.SETTINGS


class MissingError(SettingsError):
    remedy = Remedy.NONE


class NetworkError(SettingsError):
    pass


class SignInError(ReadAgentError):
    pass


class NotSignedInError(SignInError):
    pass


class LimitError(ReadAgentError):
    pass


class DocumentError(ReadAgentError):
    pass


class UnknownFormatError(DocumentError):
    pass


class WrongFormatError(DocumentError):
    pass


class EmptyDocumentError(DocumentError):
    pass


class NoTextError(DocumentError):
    """No text, only pictures. ``pages``: source pages of a PDF, from 1, whose text may be recognised."""

    def __init__(self, message: str, pages: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.pages = pages


class DamagedDocumentError(DocumentError):
    pass


class PasswordError(DocumentError):
    pass


class ProtectedDocumentError(DocumentError):
    pass


class TooLargeError(DocumentError):
    pass


class UnsafeDocumentError(DocumentError):
    pass


class DamagedDictionaryError(ReadAgentError):
    pass


class LinkError(DocumentError):
    pass


class UnsafeLinkError(LinkError):
    pass


class UnreachableLinkError(LinkError):
    pass


class OfflineError(UnreachableLinkError):
    """An address that nobody typed, of a server that is always there."""


class NotThereError(LinkError):
    pass


class LoginError(LinkError):
    pass


class NoCatalogueError(LinkError):
    pass


class ModelError(ReadAgentError):
    pass


class UnreachableError(ModelError):
    remedy = Remedy.SETTINGS


class KeyRefusedError(ModelError):
    remedy = Remedy.SETTINGS


class UnknownModelError(ModelError):
    remedy = Remedy.SETTINGS


class NoCreditError(ModelError):
    pass


class RetryAfterError(ModelError):
    """``retry_after``: seconds the server asked to wait, or None."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class RateLimitError(RetryAfterError):
    """Too many calls."""


class ServerFailedError(RetryAfterError):
    """The server failed (5xx)."""


class ModelLoadingError(ServerFailedError):
    """The server is still loading the model."""


class ModelTimeoutError(ModelError):
    remedy = Remedy.SETTINGS


class WindowError(ModelError):
    """The prompt does not fit. ``window``: the model's window in tokens, when known."""

    def __init__(self, message: str, window: int | None = None) -> None:
        super().__init__(message)
        self.window = window


class RequestTooLargeError(WindowError):
    """A proxy or server takes no request with so many bytes. It says nothing of the model's window."""


class CutOffError(ModelError):
    """A reply that broke off. ``text``: what had arrived."""

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class EndlessReplyError(CutOffError):
    pass


class EmptyReplyError(ModelError):
    pass


class UnusableRepliesError(ModelError):
    pass


class RefusedError(ModelError):
    pass


class BadRequestError(ModelError):
    remedy = Remedy.SETTINGS


class LocalModelError(ModelError):
    remedy = Remedy.SETTINGS


class DownloadError(LocalModelError):
    pass


class BudgetError(ModelError):
    """A spending limit is reached. ``monthly``: the month's, of all books together."""

    remedy = Remedy.SETTINGS

    def __init__(self, message: str, *, monthly: bool = False) -> None:
        super().__init__(message)
        self.monthly = monthly


class ReplyError(ReadAgentError):
    pass


class LibraryError(ReadAgentError):
    """The library cannot be read or written. ``detail``: SQLite's own error for a bug report; else ''."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


class NotInLibraryError(LibraryError):
    pass


class WrongAddressError(NotInLibraryError):
    pass


class LibraryBusyError(LibraryError):
    pass


class DiskFullError(LibraryError):
    pass


class NewerLibraryError(LibraryError):
    pass


class DatasetError(ReadAgentError):
    pass


class CancelledError(ReadAgentError):
    pass
