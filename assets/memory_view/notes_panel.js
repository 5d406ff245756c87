// The panel of the reader with all marks of the book; on a phone a sheet. And the notes of all books, for the library.

import { button, el } from "../shared/dom.js";
import { sectionAt, placeOf } from "./text_store.js";
import { placeOfCite } from "./mark_card.js";
import { NotesList } from "./notes_list.js";

export class NotesPanel {
  constructor(reader) {
    this.reader = reader;
    const jump = (place) => {
      if (reader.isPhone) this.toggle(false);
      if (place) reader.position.jump(place, { focus: true });
    };
    const go = ({ mark }) => jump({ paragraph: mark.s[0], at: mark.s[1] });
    const remove = ({ mark }) => reader.marks.remove(mark);
    const edit = (item) => (go(item), requestAnimationFrame(() => reader.markCard.open(item.mark.id, { edit: true })));
    this.list = new NotesList({ go, edit, remove, cite: (cite) => jump(placeOfCite(reader, cite)) });
    this.shut = button("", () => this.toggle(false), { kind: "quiet icon slim", icon: "close", name: "Close notes" });
    this.export = button("Export", () => this.send("notes_export"), { kind: "slim", icon: "drop", "aria-label": "Export or import notes" });
    this.node = el(
      "aside",
      { class: "notespanel", hidden: true, "aria-label": "Notes" },
      el("div", { class: "ph" }, el("h2", {}, "Notes"), el("span", { class: "gap" }), this.export, this.shut),
      this.list.node,
    );
  }

  send(act) {
    this.reader.send({ do: act });
  }

  get opened() {
    return !this.node.hidden;
  }

  toggle(open = !this.opened) {
    const { reader } = this;
    if (open === this.opened) return false;
    this.node.hidden = !open;
    reader.flow.keepPlace(() => reader.drawClasses());
    reader.toolbar.marked();
    if (open) {
      this.draw();
      (this.list.items?.length ? this.list.input : this.shut).focus({ preventScroll: true });
    } else if (this.node.contains(reader.root.getRootNode().activeElement) || !reader.root.getRootNode().activeElement)
      reader.toolbar.notes.focus({ preventScroll: true });
    return true;
  }

  draw() {
    if (!this.opened || !this.reader.book?.outline) return;
    const { marks, book } = this.reader;
    const { language, emphasis } = book.outline;
    const common = { language, emphasis };
    const placed = marks.all.map((mark) => ({ mark, group: sectionAt(book, mark.s[0]), where: this.where(mark), lost: false, ...common }));
    const lost = (marks.store?.lost ?? []).map((mark) => ({ mark, group: mark.h ?? "", where: "", lost: true, ...common }));
    this.list.update([...placed, ...lost]);
    this.follow();
  }

  where(mark) {
    const { book, layer } = this.reader;
    const page = layer.pageAt(mark.s[0], mark.s[1]);
    return placeOf(book, mark.s[0]) || (page ? `p. ${page}` : "Go there");
  }

  /** Marks what is in view. */
  follow() {
    if (!this.opened) return;
    const [first, last] = this.reader.marks.view ?? [0, -1];
    this.list.follow(new Set(this.reader.marks.all.filter((mark) => mark.e[0] >= first && mark.s[0] <= last).map((mark) => mark.id)));
  }
}

/** The notes of all books, in a dialog of the library. */
export class AllNotes {
  constructor(root, { send }) {
    const go = ({ mark, book }) => send({ do: "open", of: book, text: String(mark.s[0]) });
    this.list = new NotesList({ go, cite: (cite) => send({ do: "open", of: cite.book, text: String(cite.s?.[0] ?? "") }) });
    root.replaceChildren(this.list.node);
  }

  /** @param {{books: import("./types.js").BookMarks[]}} data */
  update({ books }) {
    this.list.update(
      books.flatMap(({ id, title, language, emphasis, marks }) =>
        marks.map((mark) => ({
          mark: {
            ...mark,
            a: mark.a && {
              ...mark.a,
              pieces: mark.a.pieces.map((piece) => ({ ...piece, cites: piece.cites.map((cite) => ({ ...cite, book: id })) })),
            },
          },
          book: id,
          group: title,
          where: mark.p || "Open",
          lost: false,
          language,
          emphasis,
        })),
      ),
      "All books",
    );
  }
}
