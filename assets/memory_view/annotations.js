// The parts of the reader for what a person does with words: marks, notes, questions about a passage, listening.

import { Toast } from "../shared/toast.js";
import { KeyboardSelection } from "./keyboard_selection.js";
import { Listen } from "./listen.js";
import { MarkCard } from "./mark_card.js";
import { Marks } from "./marks.js";
import { NotesPanel } from "./notes_panel.js";
import { PassageCard } from "./passage_card.js";
import { SelectionMenu } from "./selection.js";

export class Annotations {
  /** Makes the parts and sets each as a property of the reader. */
  constructor(reader) {
    this.reader = reader;
    const parts = {
      marks: new Marks(reader),
      selection: new SelectionMenu(reader),
      markCard: new MarkCard(reader),
      passageCard: new PassageCard(reader),
      notes: new NotesPanel(reader),
      listen: new Listen(reader),
      toast: new Toast(),
    };
    Object.assign(reader, parts, { keyboardSelection: new KeyboardSelection(reader) });
    this.parts = Object.values(parts);
    this.over = [parts.selection.node, parts.markCard.node, parts.passageCard.node, parts.toast.node]; // lie over the text
    reader.scroller.addEventListener("click", (event) => this.clicked(event), true);
  }

  // A click on a mark opens its card.
  clicked(event) {
    const { selection, marks, markCard } = this.reader;
    const mark = selection.passage ? null : marks.at(event.composedPath()[0], event.clientX, event.clientY);
    if (!mark) return;
    event.stopPropagation();
    markCard.open(mark.id);
  }

  /** A press outside of a card closes it. */
  pressed(path) {
    for (const card of [this.reader.markCard, this.reader.passageCard]) if (!path.includes(card.node)) card.close();
  }

  /** Closes what is open over the text; whether there was anything. */
  escape() {
    return [this.reader.markCard, this.reader.passageCard].some((card) => card.close());
  }

  /** Closes what is open beside the text. */
  escapeLast() {
    return this.reader.listen.close() || this.reader.notes.toggle(false);
  }

  close() {
    for (const part of this.parts) part.close?.();
  }
}
