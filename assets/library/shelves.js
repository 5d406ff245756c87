// The menu entries that make, rename and remove a shelf.

import { plural } from "../shared/dom.js";
import { openMenu } from "./menu.js";
import { store } from "./store.js";

/**
 * @import { Act, Book } from "../protocol.js"
 * @import { Toast } from "../shared/toast.js"
 *
 * @typedef {{send: (act: Act) => void, toast: Toast, books: () => Book[]}} LibraryScreen of the library
 */

/**
 * The entry of a menu that asks for a name and puts these books on a new shelf.
 * @param {LibraryScreen} screen
 * @param {string[]} ids
 */
export const newShelf = ({ send, toast }, ids) => ({
  ask: "Name of the new shelf",
  /** @param {string} name */
  enter: (name) => {
    send({ do: "add_shelf", text: name, of: ids.join(",") });
    const said = ids.length ? `Put ${plural(ids.length, "book")} on ${name}` : `Made the shelf ${name}`;
    toast.say(said, () => send({ do: "remove_shelf", text: name }));
  },
});

/** Opens the menu of the shelf that is shown. @param {LibraryScreen} screen @param {HTMLElement} opener */
export function editShelf({ send, toast, books }, opener) {
  const name = store.view.shelf ?? "";
  const on = books().filter((book) => book.shelves?.includes(name));
  const of = on.map((book) => book.id).join(",");
  /** @param {string} text */
  const rename = (text) => {
    send({ do: "rename_shelf", of: name, text });
    store.view.shelf = text;
  };
  const remove = () => {
    send({ do: "remove_shelf", text: name });
    toast.say(`Removed the shelf ${name}`, () => send({ do: "add_shelf", text: name, of }));
  };
  const items = [
    ...(of ? [{ label: "Make gists of this shelf", act: () => send({ do: "queue", of }) }] : []),
    { ask: "New name of this shelf", text: name, enter: rename },
    { label: "Remove the shelf, not its books", act: remove },
  ];
  openMenu(opener, items, `Shelf ${name}`);
}
