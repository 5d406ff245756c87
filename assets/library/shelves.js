// The menu entries that make, rename and remove a shelf.

import { plural } from "../shared/dom.js";
import { openMenu } from "./menu.js";
import { store } from "./store.js";

/** The entry of a menu that asks for a name and puts these books on a new shelf. @param {any} library the screen */
export const newShelf = ({ send, toast }, ids) => ({
  ask: "Name of the new shelf",
  enter: (name) => {
    send({ do: "add_shelf", text: name, of: ids.join(",") });
    toast.say(ids.length ? `Put ${plural(ids.length, "book")} on ${name}` : `Made the shelf ${name}`, () =>
      send({ do: "remove_shelf", text: name }),
    );
  },
});

/** Opens the menu of the shelf that is shown. */
export function editShelf({ send, toast, books }, opener) {
  const name = store.view.shelf;
  const ids = books.filter((book) => book.shelves?.includes(name)).map((book) => book.id);
  openMenu(
    opener,
    [
      {
        ask: "New name of this shelf",
        text: name,
        enter: (text) => {
          send({ do: "rename_shelf", of: name, text });
          store.view.shelf = text;
        },
      },
      {
        label: "Remove the shelf, not its books",
        act: () => {
          send({ do: "remove_shelf", text: name });
          toast.say(`Removed the shelf ${name}`, () => send({ do: "add_shelf", text: name, of: ids.join(",") }));
        },
      },
    ],
    `Shelf ${name}`,
  );
}
