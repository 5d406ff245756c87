// The panel of the reader with all marks of the book; on a phone a sheet. And the notes of all books, for the library.

import { button, el } from "../shared/dom.js";
import { placeOfCite } from "./mark_card.js";
import { NotesList } from "./notes_list.js";
import { placeOf, sectionAt } from "./text_store.js";

/**
 * @import { AllNotesData, BookMarks, MarkRecord } from "../protocol.js"
 * @import { Api } from "../shared/mount.js"
 * @import { Frame } from "./frame.js"
 * @import { Marks } from "./marks.js"
 * @import { ListedMark } from "./notes_list.js"
 * @import { Jump, Place, ReadingState, Send } from "./state.js"
 */

export class NotesPanel {
  /**
   * `toggled`: the panel was opened or closed; `closedWithFocus`: it was closed, and the focus was in it.
   * @param {{state: ReadingState, frame: Frame, marks: Marks, jump: Jump, edit: (id: string) => void, toggled: () => void,
   *   closedWithFocus: () => void, send: Send}} needs
   */
  constructor({ state, frame, marks, jump, edit, toggled, closedWithFocus, send }) {
    this.state = state;
    this.frame = frame;
    this.marks = marks;
    this.toggled = toggled;
    this.closedWithFocus = closedWithFocus;
    /** @param {Place | null} place */
    const goTo = (place) => {
      if (frame.isPhone) this.toggle(false);
      if (place) jump(place, { focus: true });
    };
    /** @param {ListedMark} listed */
    const go = ({ mark }) => goTo({ paragraph: mark.start[0], at: mark.start[1] });
    this.list = new NotesList({
      go,
      edit: (item) => {
        go(item);
        requestAnimationFrame(() => edit(item.mark.id));
      },
      remove: ({ mark }) => marks.remove(mark),
      cite: (cite) => goTo(placeOfCite(state, cite)),
    });
    this.closeButton = button("", () => this.toggle(false), { kind: "quiet icon slim", icon: "close", name: "Close notes" });
    this.export = button("Export", () => send({ do: "notes_export" }), {
      kind: "slim",
      icon: "drop",
      "aria-label": "Export or import notes",
    });
    this.study = button("Study", () => send({ do: "study" }), { kind: "slim", title: "Words, questions and marks as cards to learn with" });
    this.node = el(
      "aside",
      { class: "notespanel", hidden: true, "aria-label": "Notes" },
      el("div", { class: "ph" }, el("h2", {}, "Notes"), el("span", { class: "gap" }), this.study, this.export, this.closeButton),
      this.list.node,
    );
  }

  get opened() {
    return !this.node.hidden;
  }

  toggle(open = !this.opened) {
    if (open === this.opened) return false;
    this.node.hidden = !open;
    this.toggled();
    if (open) {
      this.byHand = this.frame.byHand;
      this.draw();
      (this.list.items.length ? this.list.list : this.closeButton).focus({ preventScroll: true }); // not the field: keys go on as keys
    } else if (this.byHand) this.frame.focusText();
    else if (this.node.contains(this.frame.active) || !this.frame.active) this.closedWithFocus();
    return true;
  }

  draw() {
    if (!this.opened || !this.state.book.known) return;
    const { book } = this.state;
    const { marks } = this;
    const { language, emphasis } = book.outline;
    const common = { language, emphasis };
    const placed = marks.all.map((mark) => ({
      mark,
      group: sectionAt(book, mark.start[0]),
      where: this.where(mark),
      lost: false,
      ...common,
    }));
    const lost = (marks.store?.lost ?? []).map((mark) => ({ mark, group: mark.section ?? "", where: "", lost: true, ...common }));
    this.list.update([...placed, ...lost]);
    this.follow();
  }

  /** @param {MarkRecord} mark */
  where(mark) {
    const { book } = this.state;
    const page = this.state.pageAt(mark.start[0], mark.start[1]);
    return placeOf(book, mark.start[0]) || (page ? `p. ${page}` : "Go there");
  }

  /** Marks what is in view. */
  follow() {
    if (!this.opened) return;
    const [first, last] = this.marks.view ?? [0, -1];
    this.list.follow(new Set(this.marks.all.filter((mark) => mark.end[0] >= first && mark.start[0] <= last).map((mark) => mark.id)));
  }
}

/** The notes of all books, in a dialog of the library. */
export class AllNotes {
  /** @param {HTMLElement} root @param {Api} api */
  constructor(root, { send }) {
    /** @param {ListedMark} listed @param {number | string} place a paragraph */
    const open = ({ book }, place) => send({ do: "open", of: book, text: String(place) });
    this.list = new NotesList({
      go: (item) => open(item, item.mark.start[0]),
      remove: ({ mark }) => send({ do: "remove", text: mark.id }),
      cite: (cite, item) => open(item, cite.start?.[0] ?? ""),
    });
    root.replaceChildren(this.list.node);
  }

  /** @param {AllNotesData} data */
  update({ books }) {
    const listed = books.flatMap(({ id, title, language, emphasis, marks }) =>
      marks.map((mark) => ({ mark, book: id, group: title, where: mark.page || "Open", lost: false, language, emphasis })),
    );
    this.list.update(listed, "All books");
  }
}
