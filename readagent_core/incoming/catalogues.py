"""The catalogues that a person reads from: two that are offered by name, and any that they named by its address.

A password is kept like a key: in the system's keyring where there is one, else in settings.json, and in no backup. It
is sent to the catalogue's own server alone. The home network is asked only for a catalogue that was there when a person
named it; on a server for several people never, because its network is not theirs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import httpx2

from readagent_core import keyrings
from readagent_core.cancel import CancelToken
from readagent_core.errors import (
    DocumentError,
    LinkError,
    LoginError,
    NotThereError,
    OfflineError,
    SettingsError,
    UnreachableLinkError,
)
from readagent_core.event_loop import run
from readagent_core.fetching.connecting import Named, is_home, origin_of, resolve
from readagent_core.fetching.fetch import PUBLIC, Fetched, fetch
from readagent_core.incoming.links import ENDINGS, OFF, document_of, file_name
from readagent_core.incoming.opds import (
    ACCEPT,
    CataloguePage,
    Entry,
    Offer,
    parse_page,
    search_address,
    search_template,
)
from readagent_core.incoming.opening import add_book
from readagent_core.library.records import Book
from readagent_core.secret import Secret
from readagent_core.settings.saved import read_saved_settings, save_settings
from readagent_core.workspace import Workspace

_WITHOUT_NAMES = ("text", "html", "pdf")  # formats whose files often do not say their title
_PAGE_SECONDS, _PAGE_BYTES, _COVER_BYTES = 20.0, 8 << 20, 4 << 20


@dataclass(frozen=True)
class Catalogue:
    """``about``: a few words for people about one that is offered. ``home``: it is in the home network. ``open``: it is
    known to ask for no password."""

    name: str
    address: str
    user: str = ""
    home: bool = False
    about: str = ""
    open: bool = False

    @property
    def host(self) -> str:
        return httpx2.URL(self.address).host


OFFERED = (
    Catalogue("Standard Ebooks", "https://standardebooks.org/feeds/opds", about="Classics, carefully edited and set"),
    Catalogue(
        "Project Gutenberg", "https://m.gutenberg.org/ebooks.opds/", about="75,000 books in 60 languages", open=True
    ),
)


def catalogues(workspace: Workspace) -> tuple[Catalogue, ...]:
    """Returns those that are offered, then the person's own."""
    kept = {
        address: Catalogue(name, address, user, home == "yes")
        for address, (name, user, home) in read_saved_settings(workspace.home).catalogues.items()
    }
    offered = [replace(one, user=kept.pop(one.address, one).user) for one in OFFERED]
    return (*offered, *kept.values())


def try_catalogue(
    workspace: Workspace, address: str, user: str = "", password: Secret | None = None, name: str = ""
) -> tuple[Catalogue, CataloguePage]:
    """Returns the catalogue at an address that a person typed, and its first page; keeps nothing. Raises LinkError."""
    typed = address.strip()
    home = workspace.settings.team is None and _leads_home(typed if "://" in typed else f"http://{typed}")
    typed = typed if "://" in typed else f"{'http' if home else 'https'}://{typed}"
    found = Catalogue(name.strip(), typed, user.strip(), home)
    page = open_page(workspace, found, password=password or Secret())
    return replace(found, name=found.name or page.title or found.host), page


def keep_catalogue(workspace: Workspace, catalogue: Catalogue, password: Secret | None = None) -> None:
    """Keep a catalogue with its password, in place of an earlier one. Raises SettingsError."""
    place: dict[str, str | None] = {catalogue.address: None}
    if password and workspace.settings.team is None and keyrings.usable():
        keyrings.put(workspace.home, _account(catalogue), password)
    elif password:
        place = {catalogue.address: password.reveal()}
    row = [catalogue.name, catalogue.user, "yes" if catalogue.home else ""]
    save_settings(workspace.home, {"catalogues": {catalogue.address: row}, "catalogue_passwords": place})


def forget_catalogue(workspace: Workspace, catalogue: Catalogue) -> None:
    """Forget a catalogue and its password. Its books stay. Raises SettingsError where a keyring keeps the password."""
    gone = {catalogue.address: None}
    save_settings(workspace.home, {"catalogues": gone, "catalogue_passwords": gone})
    if catalogue.user and workspace.settings.team is None and keyrings.usable():
        keyrings.remove(workspace.home, _account(catalogue))


def open_page(
    workspace: Workspace, catalogue: Catalogue, address: str = "", *, password: Secret | None = None
) -> CataloguePage:
    """Returns a page of the catalogue, the first one without ``address``.

    Raises LoginError where it asks for a user and password or refuses them, NoCatalogueError, or another LinkError.
    """
    found = _fetch(workspace, catalogue, address or catalogue.address, password=password)
    return parse_page(found.data, found.address)


def search(workspace: Workspace, catalogue: Catalogue, page: CataloguePage, words: str) -> CataloguePage:
    """Returns what the catalogue finds for ``words``. Raises LinkError, where it cannot be searched too."""
    template = page.search
    if page.described and template:
        found = _fetch(workspace, catalogue, template)
        template = search_template(found.data, found.address)
    if not template:
        raise LinkError("This catalogue cannot be searched. Look through its lists.")
    try:
        return open_page(workspace, catalogue, search_address(template, words))
    except NotThereError:  # what Calibre's server answers where it finds nothing
        return CataloguePage(page.title)


def fetch_cover(workspace: Workspace, catalogue: Catalogue, address: str) -> bytes:
    """Returns the bytes of a cover, which may be anything. Raises DocumentError."""
    return _fetch(workspace, catalogue, address, accept="image/*", most=_COVER_BYTES).data


def source_name(catalogue: Catalogue, entry: Entry) -> str:
    """Returns what a book from a catalogue is found by again. It holds no address, because some hold a key."""
    return f"{catalogue.name} {hashlib.sha256(entry.address.encode()).hexdigest()[:16]}"


def add_from_catalogue(
    workspace: Workspace,
    catalogue: Catalogue,
    entry: Entry,
    cancel: CancelToken | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Book:
    """Returns the book of an entry, added to the library. Raises DocumentError or CancelledError.

    ``progress`` is called with the bytes that have arrived, and of how many; 0 where nobody knows.
    """
    name = source_name(catalogue, entry)
    if entry.offer is Offer.ON_ITS_PAGE:
        entry = _on_its_page(workspace, catalogue, entry)
    try:
        found = _fetch(workspace, catalogue, entry.address, cancel, accept="", most=PUBLIC.most, progress=progress)
    except NotThereError:
        raise NotThereError(
            f"{catalogue.name} lists this book, but its file is not there. Try another edition."
        ) from None
    if entry.ending not in ("", ".html") and ENDINGS.get(found.kind) == ".html":
        raise LinkError("A web page came in place of the book. The catalogue’s own page, in a browser, says why.")
    document = document_of(found, f"From the catalogue {catalogue.name}")
    if not document.author:
        named = document.title if document.format not in _WITHOUT_NAMES else entry.title
        document = replace(document, title=named, author=entry.author)
    return add_book(workspace, document, found.data, file_name(found), source_name=name)


def _on_its_page(workspace: Workspace, catalogue: Catalogue, entry: Entry) -> Entry:
    """Returns the book that the entry's own page offers. Raises LinkError where it has no file that opens here."""
    entries = open_page(workspace, catalogue, entry.address).entries
    for one in entries:
        if one.offer in (Offer.FREE, Offer.PDF):
            return replace(one, author=one.author or entry.author)
    raise LinkError("The catalogue has no free file of this book that opens here.")


def _fetch(
    workspace: Workspace,
    catalogue: Catalogue,
    address: str,
    cancel: CancelToken | None = None,
    *,
    password: Secret | None = None,
    accept: str = ACCEPT,
    most: int = _PAGE_BYTES,
    progress: Callable[[int, int], None] | None = None,
) -> Fetched:
    if not workspace.settings.links:
        raise LinkError(OFF)
    try:
        url = httpx2.URL(catalogue.address)
        origin = origin_of(url)
        if "%" in url.host:  # words, not a name
            raise ValueError(url.host)
    except (httpx2.InvalidURL, ValueError):
        raise LinkError("This is not a web address. Copy it from the catalogue’s own help page.") from None
    if password is None:
        password = _password(workspace, catalogue) if catalogue.user else Secret()
    home = catalogue.home and workspace.settings.team is None
    named = Named(origin, home, catalogue.user, password)
    seconds = PUBLIC.seconds if most == PUBLIC.most else _PAGE_SECONDS
    rules = replace(PUBLIC, named=named, accept=accept, most=most, seconds=seconds)
    try:
        return fetch(address, cancel, rules=rules, progress=progress)
    except LoginError:
        if catalogue.user:
            raise LoginError(f"It refused “{catalogue.user}” and this password. Nothing was kept.") from None
        raise LoginError("This catalogue asks for a user and password.") from None
    except UnreachableLinkError as error:
        if home:
            raise UnreachableLinkError(
                f"Nothing answers at {url.host}, port {origin.rpartition(':')[2]}. Check the address, and that the "
                "catalogue's server is running."
            ) from None
        if catalogue.about:  # nobody has typed its address
            said = f"{catalogue.name} cannot be reached. Connect this computer to the internet, then try again."
            raise OfflineError(f"{said} Books from your own files can be added meanwhile.") from None
        raise error


def _password(workspace: Workspace, catalogue: Catalogue) -> Secret:
    saved = read_saved_settings(workspace.home).catalogue_passwords.get(catalogue.address)
    if saved is None and workspace.settings.team is None and keyrings.usable():
        try:
            return keyrings.get(workspace.home, _account(catalogue))
        except SettingsError as error:
            if str(error) != keyrings.GONE:
                raise LoginError(str(error)) from None
    return saved or Secret()


def _account(catalogue: Catalogue) -> str:
    return f"catalogue {catalogue.address}"  # a model's server may have the same address


def _leads_home(address: str) -> bool:
    """Returns whether every address of the server is in the home network."""
    try:
        url = httpx2.URL(address)
        found = run(resolve(url.host, url.port or 80))
    except (httpx2.InvalidURL, ValueError, DocumentError):
        return False  # what is wrong is said when it is fetched
    return bool(found) and all(map(is_home, found))
