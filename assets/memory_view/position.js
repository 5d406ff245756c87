// Where the person is: reported to the server, jumped from and gone back to. How the text is moved on the screen is the
// business of the flow (scrolled.js, paged.js).

import { isLoaded, shareRead } from "./text_store.js";

const MOST_BACK = 20; // places to go back to
const MOST_REPORTED = 20; // places sent to or by the server that are remembered

export class Position {
  constructor(reader) {
    this.reader = reader;
    this.here = { paragraph: 0, at: 0, page: null }; // `at`: character of the paragraph; `page`: null before pages exist
    this.wanted = null; // the request of the server that waits for its paragraph
    document.addEventListener("readagent-leave", (this.leaving = () => this.flush()));
    this.chip = reader.backChip;
    this.showBack();
  }

  close() {
    clearTimeout(this.timer);
    document.removeEventListener("readagent-leave", this.leaving);
  }

  // Another text: forgets the position in the one before.
  begin() {
    this.sent = this.unsent = null;
    this.restored = false;
    this.showBack();
  }

  // Goes where the server asks, once for every `id`. Where it names an older place than the last one that was sent,
  // that message was lost (a click just after it replaces it): then the person stays, and the place is sent again.
  request(goto) {
    const { book } = this.reader;
    if (goto && goto.id !== book.visited && goto.id !== this.wanted?.id) {
      const lost = goto.before === null && goto.paragraph !== book.at?.paragraph && book.reported.slice(0, -1).includes(goto.paragraph);
      if (!lost) this.report(...(goto.before === null ? [] : [goto.before]), goto.paragraph);
      const paragraph = lost ? book.at.paragraph : goto.paragraph;
      if (!this.restored || paragraph !== this.here.paragraph) this.wanted = { ...goto, paragraph, lost };
      else book.visited = goto.id; // the person is there already
    } else if (!this.restored && !this.wanted) this.wanted = { paragraph: book.at?.paragraph ?? goto?.paragraph ?? 0, id: book.visited };
    this.tryWanted();
  }

  tryWanted() {
    const { book, units } = this.reader;
    if (!this.wanted || !units.nodes[this.wanted.paragraph]) return;
    const { paragraph, before, id, lost } = this.wanted;
    this.wanted = null;
    book.visited = id;
    if (before !== null && before !== undefined) this.remember(before);
    this.reader.progress.jumped();
    this.reader.flow.show({ paragraph });
    this.sent = lost ? null : JSON.stringify(this.value());
    this.restored = true;
    if (lost) this.save();
    this.reader.opened();
  }

  /** Reported by the flow: the paragraph that is read now, and the first and last ones in view. */
  arrived(paragraph, at, first, last) {
    const { layer, book } = this.reader;
    const before = this.here;
    const page = layer.pageAt(paragraph, at);
    this.here = { paragraph, at, page };
    if (page !== before.page) layer.markCurrent(page, before.page);
    if (!this.restored) return;
    this.reader.search.follow(first, last);
    this.reader.marks.place(first, last);
    if (paragraph !== before.paragraph) this.reader.notes.follow();
    this.reader.toolbar.bookmarked();
    if (this.reader.view !== "gists") this.reader.progress.look(first, last);
    if (paragraph === before.paragraph && page === before.page && book.at) return;
    book.at = { paragraph, page };
    book.dispatchEvent(new CustomEvent("at", { detail: book.at }));
    this.reader.moved();
    this.save();
  }

  value(byHand = false) {
    const { paragraph, page } = this.here;
    const { book, progress } = this.reader;
    const whole = book.outline.units.every((_, unit) => isLoaded(book, unit));
    return { paragraph, page, furthest: progress.furthest, whole, ...(byHand ? { by_hand: Date.now() } : {}) };
  }

  // Sends the position a moment after the person stopped moving, or before anything else is sent.
  save(byHand = false) {
    const value = this.value(byHand);
    clearTimeout(this.timer);
    this.unsent = null;
    if (!this.restored || (!byHand && JSON.stringify(value) === this.sent)) return;
    this.unsent = value;
    if (byHand) this.flush();
    else this.timer = setTimeout(() => this.flush(), 700);
  }

  // Remembers places that were sent to the server or came from it.
  report(...paragraphs) {
    const { reported } = this.reader.book;
    reported.push(...paragraphs);
    reported.splice(0, reported.length - MOST_REPORTED);
  }

  flush() {
    clearTimeout(this.timer);
    if (this.unsent) {
      this.report(this.unsent.paragraph);
      this.sent = JSON.stringify({ ...this.unsent, by_hand: undefined });
      this.reader.setState("at", this.unsent);
    }
    this.unsent = null;
  }

  /**
   * Goes to a place by a jump: nothing it passes counts as read, and with `back` it can be gone back from. Returns
   * whether the place before was remembered.
   */
  jump(target, { focus = false, back = true } = {}) {
    const { units, flow, book } = this.reader;
    if (!units.nodes[target.paragraph]) return false;
    const leaves = back && !flow.isShown(target.paragraph);
    if (leaves) this.remember(this.here.paragraph);
    this.reader.progress.jumped();
    flow.show(target, { focus });
    this.reader.live.textContent = `${Math.round(100 * shareRead(book, target.paragraph))} % of the book`;
    return leaves;
  }

  remember(paragraph) {
    const { back } = this.reader.book;
    if (back.at(-1) !== paragraph) back.push(paragraph);
    back.splice(0, back.length - MOST_BACK);
    this.showBack();
  }

  back() {
    const { book, progress, flow } = this.reader;
    const paragraph = book?.back.pop();
    if (paragraph === undefined) return;
    progress.jumped();
    flow.show({ paragraph });
    this.showBack();
  }

  forgetBack() {
    this.reader.book.back.length = 0;
    this.showBack();
  }

  showBack() {
    const { book } = this.reader;
    const to = book?.outline && book.back.at(-1);
    this.chip.hidden = to === undefined || to === null;
    if (!this.chip.hidden) this.chip.firstChild.lastChild.textContent = `Back to ${Math.round(100 * shareRead(book, to))} %`;
  }
}
