// The pages of a book's PDF as pictures, with words of the book marked on them. Pictures and places come from the
// addresses of pages/parts/read/original.py; the text of the book goes there and never into markup.

import { button, el, focused, number } from "../shared/dom.js";
import { besides, boxed, bringIntoView } from "./boxes.js";
import { askPages, findPlaces, labelOf, pageNamed } from "./pages_server.js";
import { PanelHead, panelKey, ZOOMS } from "./panel_head.js";
import { passwordForm } from "./password_form.js";
import { PagePicture } from "./picture.js";

/**
 * @import { PdfBox, PdfFacts, PdfProblem, PdfWords } from "../protocol.js"
 * @import { IconName } from "../shared/dom.js"
 * @import { Places } from "./boxes.js"
 * @import { Answer } from "./pages_server.js"
 */

export class PdfPanel {
  /**
   * @param {{onClose: () => void, ofText?: () => string, toText?: (labels: (place: string) => boolean) => void}} options
   *   `ofText`: 'Page 6 of 9', shown with the number of the PDF's page; `toText`: goes to the text of a page
   */
  constructor({ onClose, ofText = () => "", toText }) {
    this.onClose = onClose;
    this.ofText = ofText;
    /** @type {string | null} */
    this.book = null;
    /** @type {PdfFacts | null} */
    this.facts = null;
    this.number = 0; // the page that is shown, from 1
    this.zoom = 100;
    this.marks = new Map(); // page -> rectangles of a quotation
    this.here = new Map(); // page -> rectangles of the paragraph that is read
    const acts = {
      turn: (/** @type {number} */ step) => this.turn(step),
      zoom: (/** @type {number} */ step) => this.zoomBy(step),
      fit: () => this.setZoom(100),
      close: onClose,
      toText: toText && (() => toText((place) => this.isPlace(place))),
    };
    this.head = new PanelHead(acts);
    this.note = el("p", { class: "pnote small", role: "status", hidden: true });
    this.layer = el("div", { class: "pmarks", "aria-hidden": "true" });
    this.sheet = el("div", { class: "psheet" });
    this.picture = new PagePicture(this.sheet, { came: () => this.came(), missed: (problem) => this.missed(problem) });
    this.sheet.append(this.picture.node, this.layer);
    // words that are selected in the text stay so
    this.sheet.addEventListener("mousedown", (event) => {
      event.preventDefault();
      this.view.focus();
    });
    this.problem = el("div", { class: "pproblem", hidden: true });
    this.view = el("div", { class: "pview", tabindex: "0", role: "region", "aria-label": "PDF page" }, this.problem, this.sheet);
    this.node = el(
      "aside",
      { class: "original", hidden: true, "aria-label": "The original PDF", onkeydown: (event) => panelKey(event, acts) },
      this.head.node,
      this.note,
      this.view,
    );
    this.resize = new ResizeObserver(() => this.load());
    this.resize.observe(this.view);
  }

  close() {
    this.resize.disconnect();
    this.picture.close();
    this.book = null;
  }

  get open() {
    return !this.node.hidden;
  }

  /** Opens the panel for a book; `book` null closes it. @param {string | null} book */
  async show(book) {
    this.node.hidden = !book;
    if (!book || book === this.book) return;
    this.book = book;
    this.facts = null;
    this.number = 0;
    this.marks.clear();
    this.here.clear();
    await this.begin();
  }

  /** Has the server open the PDF of a book that is probably shown next. @param {string | null} book */
  warm(book) {
    if (book && !this.open) askPages(`original/${book}/facts`);
  }

  async begin() {
    const { book } = this;
    this.say("");
    this.stop(el("p", { class: "dim" }, "Opening the original…"));
    /** @type {Answer<PdfFacts>} */
    const { ok, value } = await askPages(`original/${book}/facts`);
    if (book !== this.book) return;
    if (!ok) return value.locked ? this.askPassword() : this.fail(value, () => this.begin());
    this.facts = value;
    this.problem.hidden = true;
    this.sheet.hidden = false;
    const wanted = this.wanted;
    this.wanted = null;
    if (wanted) await wanted();
    if (!this.number) this.goTo(1);
  }

  // --- what is shown ------------------------------------------------------------------------------

  /**
   * Marks words and goes to them; says so where their place is not known.
   * @param {PdfWords[]} words
   */
  async point(words) {
    if (!this.facts) {
      this.wanted = () => this.point(words);
      return;
    }
    const found = await this.find(words, "pointing");
    if (!found) return;
    this.marks = found;
    this.say(found.size ? "" : "The place on the original is not known.");
    const page = found.size ? Math.min(...found.keys()) : this.pageOf(words[0]?.place);
    if (page) this.goTo(page, { mark: true });
    else this.draw();
  }

  /** Removes the marks of words. */
  unpoint() {
    this.asked = { ...this.asked, pointing: null };
    if (!this.marks.size && this.note.hidden) return;
    this.marks = new Map();
    this.say("");
    this.draw();
  }

  /**
   * Shows where the paragraph that is read stands: its page, and a line beside it.
   * @param {PdfWords} words
   */
  async follow(words) {
    if (!this.facts) {
      this.wanted ??= () => this.follow(words);
      return;
    }
    const found = await this.find([words], "following");
    if (!found) return;
    this.here = found;
    const page = found.size ? Math.min(...found.keys()) : this.pageOf(words.place);
    if (page && !found.has(this.number)) this.goTo(page);
    else this.draw();
    this.settle(this.here);
  }

  /**
   * The places of words by page; null where another request of this kind came meanwhile, or where it failed.
   * @param {PdfWords[]} words
   * @param {"pointing" | "following"} kind
   */
  async find(words, kind) {
    const { book } = this;
    const request = {};
    this.asked = { ...this.asked, [kind]: request };
    const found = await findPlaces(book, words, () => book === this.book && request === this.asked?.[kind]);
    if (!found || found instanceof Map) return found;
    if (found.locked) this.askPassword();
    else if (kind === "pointing") this.say(found.text);
    return null;
  }

  /** The page with the printed number that a place names: the nearest to the one that is shown; 0 if there is none. */
  pageOf(place = "") {
    return pageNamed(place, this.facts, this.number);
  }

  /** @param {string} place */
  isPlace(place) {
    return place === `p. ${labelOf(this.facts, this.number)}`;
  }

  /** @param {number} step */
  turn(step) {
    const page = this.number + step;
    if (this.facts && page >= 1 && page <= this.facts.pages) this.goTo(page);
  }

  /** @param {number} page */
  goTo(page, { mark = false } = {}) {
    const other = page !== this.number;
    this.number = page;
    this.draw();
    if (other) this.view.scrollTop = 0;
    this.load();
    if (mark) this.settle(this.marks);
  }

  /** Scrolls to the first of the rectangles on this page, unless it is in view. @param {Places} places */
  settle(places) {
    const [first] = places.get(this.number) ?? [];
    if (!first) return;
    this.picture.whenDrawn(() => bringIntoView(this.view, this.sheet, first));
  }

  // Everything but the picture.
  draw() {
    this.node.classList.toggle("pempty", !this.facts);
    if (!this.facts) return this.head.empty();
    const { pages } = this.facts;
    const label = labelOf(this.facts, this.number);
    this.head.draw({ text: this.ofText(), page: this.number, pages, label, zoom: this.zoom });
    this.picture.node.alt = `PDF page ${this.number} of ${pages}`;
    /** @param {Places} places @param {string} kind */
    const boxes = (places, kind) => (places.get(this.number) ?? []).map((box) => boxed(kind, ...box));
    this.layer.replaceChildren(...boxes(besides(this.here), "phere"), ...boxes(this.marks, "pquote"));
  }

  // --- the picture --------------------------------------------------------------------------------

  load() {
    const { book, facts, number: page, zoom } = this;
    if (!book || !facts || !page || !this.open || !this.view.clientWidth) return;
    this.sheet.style.width = `${zoom}%`;
    this.picture.load({ book, facts, page, width: this.view.clientWidth * (zoom / 100) });
  }

  /** A picture is there. */
  came() {
    this.problem.hidden = true;
    this.sheet.hidden = false;
  }

  /** A picture did not come. @param {PdfProblem} problem */
  missed(problem) {
    if (problem.locked) return this.askPassword();
    if (problem.missing) this.facts = null;
    this.fail(problem, () => {
      if (!this.facts) return void this.begin();
      this.problem.hidden = true;
      this.load();
    });
  }

  /** @param {number} zoom */
  setZoom(zoom) {
    const { view } = this;
    const [across, down] = [
      (view.scrollLeft + view.clientWidth / 2) / view.scrollWidth,
      (view.scrollTop + view.clientHeight / 2) / view.scrollHeight,
    ];
    this.zoom = zoom;
    this.draw();
    this.load();
    view.scrollLeft = across * view.scrollWidth - view.clientWidth / 2; // what was in the middle stays there
    view.scrollTop = down * view.scrollHeight - view.clientHeight / 2;
  }

  /** @param {number} step */
  zoomBy(step) {
    const zoom = ZOOMS[ZOOMS.indexOf(this.zoom) + step];
    if (zoom) this.setZoom(zoom);
  }

  // --- messages shown instead of a picture ----------------------------------------------------------------------

  /** @param {string} text */
  say(text) {
    this.note.textContent = text;
    this.note.hidden = !text;
  }

  /** @param {...Node} nodes */
  stop(...nodes) {
    this.sheet.hidden = true;
    this.problem.hidden = false;
    this.problem.replaceChildren(...nodes);
    this.draw();
  }

  /** @param {PdfProblem} problem @param {() => void} again */
  fail({ text, missing = false }, again) {
    this.stop(el("p", { role: "alert" }, text), ...(missing ? [] : [button("Try again", again, { kind: "slim" })]));
  }

  askPassword(wrong = "") {
    const { book } = this;
    const had = this.node.contains(focused(this.node));
    const { form, input } = passwordForm(wrong, async (password) => {
      /** @type {Answer<PdfProblem>} */
      const { ok, value } = await askPages(`original/${book}/password`, { password });
      if (book !== this.book) return;
      if (ok) this.begin();
      else this.askPassword(value.text);
    });
    this.stop(form);
    if (wrong || had) input.focus();
  }
}
