// The parts of the reader for what a person does with words: marks, notes, questions about a passage, listening.

import { Toast } from "../shared/toast.js";
import { KeyboardSelection } from "./keyboard_selection.js";
import { Listen } from "./listen.js";
import { MarkCard } from "./mark_card.js";
import { Marks } from "./marks.js";
import { keepPending } from "./marks_store.js";
import { NotesPanel } from "./notes_panel.js";
import { PassageCard } from "./passage_card.js";
import { References } from "./references.js";
import { SelectionMenu } from "./selection.js";

/**
 * @import { Span } from "../shared/dom.js"
 * @import { Frame } from "./frame.js"
 * @import { Layer } from "./layer.js"
 * @import { Jump, ReadingState, Send, Show } from "./state.js"
 * @import { Units } from "./units.js"
 */
export class Annotations {
  /**
   * `changed`: marks are others now, or what listens to them was opened or closed; `notesToggled`: the panel takes
   * room from the text.
   * @param {{state: ReadingState, frame: Frame, units: Units, layer: Layer, jump: Jump, show: Show, send: Send,
   *   hitsIn: (paragraph: number) => Span[], changed: () => void, notesToggled: () => void, notesClosedWithFocus: () => void}} needs
   */
  constructor({ state, frame, units, layer, jump, show, send, hitsIn, changed, notesToggled, notesClosedWithFocus }) {
    const toast = new Toast();
    this.toast = toast;
    const of = { state, frame, units, jump, toast };
    const marks = new Marks({
      ...of,
      on: { hitsIn, changed: () => this.drawn(changed), opened: (id) => this.markCard.open(id) },
    });
    this.marks = marks;
    this.selection = new SelectionMenu({
      ...of,
      marks,
      on: {
        shown: () => this.markCard.close(),
        write: (passage) => this.markCard.write(passage),
        asked: (task, passage, words) => this.passageCard.ask(task, passage, words),
        send,
      },
    });
    this.markCard = new MarkCard({ ...of, marks, opening: () => this.passageCard.close() });
    this.passageCard = new PassageCard({
      ...of,
      marks,
      opening: () => this.markCard.close(),
      menu: (passage) => this.selection.offer(passage),
      send,
    });
    this.notes = new NotesPanel({
      ...of,
      marks,
      send,
      edit: (id) => this.markCard.open(id, { edit: true }),
      toggled: notesToggled,
      closedWithFocus: notesClosedWithFocus,
    });
    this.listen = new Listen({ ...of, layer, show, changed });
    this.keyboard = new KeyboardSelection({ ...of, selection: this.selection, show });
    this.references = new References({ ...of, opening: () => this.closeCards() });
    this.cards = [this.markCard, this.passageCard, this.references];
    this.over = [this.selection.node, ...this.cards.map((card) => card.node), toast.node]; // lie over the text
    this.parts = [this.selection, ...this.cards, marks, this.listen, toast];
    this.left = new AbortController();
    const leave = () => {
      this.markCard.close();
      keepPending();
    };
    window.addEventListener("pagehide", leave, { signal: this.left.signal });
    frame.scroller.addEventListener("click", (event) => this.clicked(event), true);
  }

  /** @param {() => void} changed */
  drawn(changed) {
    changed();
    this.notes.draw();
  }

  /** A click on a mark opens its card, but not one on a reference in it. @param {MouseEvent} event */
  clicked(event) {
    const mark = this.selection.passage || event.cancelBubble ? null : this.marks.at(event.composedPath()[0], event.clientX, event.clientY);
    if (!mark) return;
    event.stopPropagation();
    this.markCard.open(mark.id);
  }

  /** Handles a key that selects words or does something with them; whether it was one. @param {KeyboardEvent} event */
  key(event) {
    return this.selection.key(event) || this.keyboard.key(event);
  }

  /** A press outside of a card closes it. @param {EventTarget[]} path */
  pressed(path) {
    for (const card of this.cards) if (!path.includes(card.node)) card.close();
  }

  closeCards() {
    for (const card of this.cards) card.close();
  }

  /** Closes what is open over the text; whether there was anything. */
  escape() {
    return this.cards.some((card) => card.close());
  }

  close() {
    this.left.abort();
    for (const part of this.parts) part.close();
  }
}
