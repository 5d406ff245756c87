// What can be done with one book, in the menu of its card.

import { openMenu } from "./menu.js";
import { store } from "./store.js";

/**
 * @import { Act, Book } from "../protocol.js"
 * @import { Selection } from "./selection.js"
 */

/**
 * `model`: the one in use, "" for the built-in reader.
 * @param {Book} book
 * @param {HTMLElement} opener
 * @param {{send: (act: Act) => void, model: string, selection: Selection}} screen
 */
export function openBookMenu(book, opener, { send, model, selection }) {
  /** @param {string} label @param {string} what */
  const item = (label, what) => ({ label, act: () => send({ do: what, of: book.id }) });
  const gists = store.gists[book.id] ?? book.gists;
  const again = gists?.model && model ? `Make gists with ${model}` : "";
  const make = gists ? again : "Make gists";
  const items = [
    item("Title, author and tags", "name"),
    item("Series", "series"),
    item(book.finished ? "Finished: day, stars, remark" : "Mark as finished", "finish"),
    { label: "Put on a shelf", act: () => selection.shelves([book], opener) },
    null,
    ...(make ? [item(make, "make")] : []),
    item("Export the gists", "export"),
    ...(book.web_page ? [item("Act on its web page", "act")] : []),
    item("Import report", "report"),
    null,
    { label: "Remove", act: () => selection.remove([book]) },
  ];
  openMenu(opener, items, `More about ${book.title}`);
}
