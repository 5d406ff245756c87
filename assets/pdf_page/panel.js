// The pages of a book's PDF as pictures, with words of the book marked on them. Pictures and places come from the
// addresses of pages/parts/read/original.py; the text of the book goes there and never into markup.

import { button, el, number } from "../shared/dom.js";
import { askPages, pagesUrl } from "./pages_server.js";

const ZOOMS = [50, 75, 100, 125, 150, 200, 300]; // per cent of the panel's width
const STEP = 200; // px; widths of pictures are rounded up to it, so that few are drawn
const [LEAST, MOST] = [400, 3000]; // px, as the server allows
const SLOW_MS = 250; // until a page that has not come says so
const ABOVE = 0.22; // of the view's height, above what is gone to

/**
 * @typedef {{pages: number, labels: string[], version: string}} Facts `labels`: printed numbers; [] if they are 1, 2, 3 …
 * @typedef {{text: string, start: number, end: number, place: string}} Words of a paragraph, in UTF-16 code units
 */
export class PdfPanel {
  /**
   * @param {{onClose: () => void, ofText?: () => string, toText?: (labels: (place: string) => boolean) => void}} options
   *   `ofText`: 'Page 6 of 9', shown with the number of the PDF's page; `toText`: goes to the text of a page
   */
  constructor({ onClose, ofText = () => "", toText = null }) {
    this.onClose = onClose;
    this.ofText = ofText;
    this.book = null;
    this.facts = null;
    this.number = 0; // the page that is shown, from 1
    this.zoom = 100;
    this.marks = new Map(); // page -> rectangles of a quotation
    this.here = new Map(); // page -> rectangles of the paragraph that is read
    this.where = el("span", { class: "num", role: "status" });
    this.percent = el("button", {
      type: "button",
      class: "btn quiet slim num",
      title: "Fit the width (0)",
      onclick: () => this.setZoom(100),
    });
    const tool = (name, shape, act) => button("", act, { kind: "quiet icon slim", icon: shape, name });
    this.before = tool("Previous PDF page (←)", "left", () => this.turn(-1));
    this.after = tool("Next PDF page (→)", "right", () => this.turn(1));
    this.smaller = button("−", () => this.zoomBy(-1), { kind: "quiet icon slim", name: "Smaller (−)" });
    this.larger = tool("Larger (+)", "plus", () => this.zoomBy(1));
    this.text = toText
      ? button("Go to text", () => toText((place) => this.isPlace(place)), { kind: "quiet slim", title: "Go to the text of this page" })
      : null;
    this.note = el("p", { class: "pnote small", role: "status", hidden: true });
    this.picture = el("img", { class: "ppic", alt: "" });
    this.layer = el("div", { class: "pmarks", "aria-hidden": "true" });
    this.sheet = el("div", { class: "psheet" }, this.picture, this.layer);
    // words that are selected in the text stay so
    this.sheet.addEventListener("mousedown", (event) => (event.preventDefault(), this.view.focus()));
    this.problem = el("div", { class: "pproblem", hidden: true });
    this.view = el("div", { class: "pview", tabindex: "0", role: "region", "aria-label": "PDF page" }, this.problem, this.sheet);
    this.node = el(
      "aside",
      { class: "original", hidden: true, "aria-label": "The original PDF", onkeydown: (event) => this.key(event) },
      el(
        "div",
        { class: "phead small" },
        this.where,
        this.before,
        this.after,
        this.smaller,
        this.percent,
        this.larger,
        this.text,
        tool("Close the PDF page (Esc)", "close", () => onClose()),
      ),
      this.note,
      this.view,
    );
    this.resize = new ResizeObserver(() => this.load());
    this.resize.observe(this.view);
  }

  close() {
    this.resize.disconnect();
    clearTimeout(this.slow);
    this.book = null;
  }

  get open() {
    return !this.node.hidden;
  }

  /** Opens the panel for a book; `book` null closes it. */
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

  /** Has the server open the PDF of a book that is probably shown next. */
  warm(book) {
    if (book && !this.open) askPages(`original/${book}/facts`);
  }

  async begin() {
    const { book } = this;
    this.say("");
    this.stop(el("p", { class: "dim" }, "Opening the original…"));
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
   * @param {Words[]} words
   */
  async point(words) {
    if (!this.facts) return void (this.wanted = () => this.point(words));
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
   * @param {Words} words
   */
  async follow(words) {
    if (!this.facts) return void (this.wanted ??= () => this.follow(words));
    const found = await this.find([words], "following");
    if (!found) return;
    this.here = found;
    const page = found.size ? Math.min(...found.keys()) : this.pageOf(words.place);
    if (page && !found.has(this.number)) this.goTo(page);
    else this.draw();
    this.settle(this.here);
  }

  // The places of words by page; null where another request of this kind came meanwhile, or where it failed.
  async find(words, kind) {
    const { book } = this;
    const request = (this.asked = { ...this.asked, [kind]: {} })[kind];
    const found = new Map();
    for (const { text, start, end, place } of words) {
      const [first, last] = [start, end].map((at) => [...text.slice(0, at)].length); // the server counts code points
      const { ok, value } = await askPages(`original/${book}/places`, { text, start: first, end: last, place });
      if (book !== this.book || request !== this.asked[kind]) return null;
      if (!ok) {
        if (value.locked) this.askPassword();
        else if (kind === "pointing") this.say(value.text);
        return null;
      }
      for (const [page, rectangles] of value.places) found.set(page, [...(found.get(page) ?? []), ...rectangles]);
    }
    return found;
  }

  /** The page with the printed number that a place names: the nearest to the one that is shown; 0 if there is none. */
  pageOf(place = "") {
    const pages = Array.from({ length: this.facts?.pages ?? 0 }, (_, i) => i + 1).filter((page) => `p. ${this.labelOf(page)}` === place);
    return pages.sort((a, b) => Math.abs(a - this.number) - Math.abs(b - this.number))[0] ?? 0;
  }

  labelOf(page) {
    return this.facts.labels[page - 1] ?? String(page);
  }

  isPlace(place) {
    return place === `p. ${this.labelOf(this.number)}`;
  }

  turn(step) {
    const page = this.number + step;
    if (this.facts && page >= 1 && page <= this.facts.pages) this.goTo(page);
  }

  goTo(page, { mark = false } = {}) {
    const other = page !== this.number;
    this.number = page;
    this.draw();
    if (other) this.view.scrollTop = 0;
    this.load();
    if (mark) this.settle(this.marks);
  }

  // Scrolls to the first of the rectangles on this page, unless it is in view.
  settle(places) {
    const [first] = places.get(this.number) ?? [];
    if (!first) return;
    const go = () => {
      const { clientHeight, clientWidth, scrollTop } = this.view;
      const [left, top] = [first[0] * this.sheet.offsetWidth, first[1] * this.sheet.offsetHeight];
      const y = this.sheet.offsetTop + top;
      if (y < scrollTop + 8 || y > scrollTop + clientHeight * 0.8) this.view.scrollTop = y - ABOVE * clientHeight;
      if (left > this.view.scrollLeft + clientWidth * 0.9 || left < this.view.scrollLeft) this.view.scrollLeft = left - 24;
    };
    if (this.picture.complete && this.picture.naturalWidth) go();
    else this.picture.addEventListener("load", go, { once: true });
  }

  // Everything but the picture.
  draw() {
    this.node.classList.toggle("pempty", !this.facts);
    if (!this.facts) return void (this.where.textContent = "The original PDF");
    const { pages } = this.facts;
    const label = this.labelOf(this.number);
    const printed = label === String(this.number) ? "" : ` (printed ${label})`;
    const text = this.ofText();
    this.where.textContent = `${text ? `${text} · ` : ""}PDF page ${number(this.number)} of ${number(pages)}${printed}`;
    this.before.disabled = this.number <= 1;
    this.after.disabled = this.number >= pages;
    this.percent.textContent = `${this.zoom} %`;
    this.smaller.disabled = this.zoom === ZOOMS[0];
    this.larger.disabled = this.zoom === ZOOMS.at(-1);
    this.picture.alt = `PDF page ${this.number} of ${pages}`;
    const boxes = (places, kind) => (places.get(this.number) ?? []).map((box) => boxed(kind, ...box));
    this.layer.replaceChildren(...boxes(besides(this.here), "phere"), ...boxes(this.marks, "pquote"));
  }

  // --- the picture --------------------------------------------------------------------------------

  address(page) {
    const wide = this.view.clientWidth * (this.zoom / 100) * Math.min(devicePixelRatio, 2);
    const width = Math.min(MOST, Math.max(LEAST, Math.ceil(wide / STEP) * STEP));
    return pagesUrl(`original/${this.book}/${this.facts.version}/${page}.jpg?width=${width}`);
  }

  load() {
    if (!this.facts || !this.number || !this.open || !this.view.clientWidth) return;
    this.sheet.style.width = `${this.zoom}%`;
    const address = this.address(this.number);
    if (address === this.shown) return;
    const other = this.loaded !== this.number;
    this.shown = address;
    clearTimeout(this.slow);
    if (other) {
      this.sheet.classList.add("pwaiting"); // the page before fades, so that its words are not taken for this one's
      this.slow = setTimeout(() => this.sheet.classList.add("pslow"), SLOW_MS);
    }
    const picture = new Image();
    picture.onload = () => {
      if (address !== this.shown) return;
      clearTimeout(this.slow);
      this.loaded = this.number;
      this.problem.hidden = true;
      this.sheet.hidden = false;
      this.sheet.classList.remove("pwaiting", "pslow");
      this.picture.src = address;
      if (this.number < this.facts.pages) new Image().src = this.address(this.number + 1); // the next page
    };
    picture.onerror = () => address === this.shown && this.explain(address);
    picture.src = address;
  }

  // A picture that did not come: asks why.
  async explain(address) {
    const { value } = await askPages(address);
    if (address !== this.shown) return;
    clearTimeout(this.slow);
    this.shown = this.loaded = null;
    if (value.locked) return this.askPassword();
    if (value.missing) this.facts = null;
    this.fail(value, () =>
      this.facts ? (this.sheet.classList.remove("pwaiting", "pslow"), (this.problem.hidden = true), this.load()) : this.begin(),
    );
  }

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

  zoomBy(step) {
    const zoom = ZOOMS[ZOOMS.indexOf(this.zoom) + step];
    if (zoom) this.setZoom(zoom);
  }

  // --- messages shown instead of a picture ----------------------------------------------------------------------

  say(text) {
    this.note.textContent = text;
    this.note.hidden = !text;
  }

  stop(...nodes) {
    this.sheet.hidden = true;
    this.problem.hidden = false;
    this.problem.replaceChildren(...nodes);
    this.draw();
  }

  fail({ text, missing = false }, again) {
    this.stop(el("p", { role: "alert" }, text), ...(missing ? [] : [button("Try again", again, { kind: "slim" })]));
  }

  askPassword(wrong = "") {
    const { book } = this;
    const input = el("input", { type: "password", autocomplete: "off", "aria-label": "Password of the PDF" });
    const open = async (event) => {
      event.preventDefault();
      if (!input.value) return;
      const { ok, value } = await askPages(`original/${book}/password`, { password: input.value });
      if (book !== this.book) return;
      if (ok) this.begin();
      else this.askPassword(value.text);
    };
    this.stop(
      el(
        "form",
        { class: "plock", onsubmit: open },
        el("p", {}, el("strong", {}, "This PDF is locked with a password.")),
        el("p", { class: "small dim" }, "It is needed once. It stays in memory until ReadAgent is closed and is never written to disk."),
        el("label", { class: "field" }, input),
        wrong ? el("p", { class: "small palert", role: "alert" }, wrong) : null,
        el("button", { type: "submit", class: "btn go" }, "Show the pages"),
      ),
    );
    if (wrong || this.node.contains(this.node.getRootNode().activeElement)) input.focus();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) {
      if (event.key !== "Escape") return void event.stopPropagation();
    }
    const act = {
      ArrowRight: () => this.turn(1),
      ArrowLeft: () => this.turn(-1),
      "+": () => this.zoomBy(1),
      "=": () => this.zoomBy(1),
      "-": () => this.zoomBy(-1),
      0: () => this.setZoom(100),
      Escape: () => this.onClose(),
    }[event.key];
    // the view scrolls by itself with the other keys of reading, which must not move the text
    if (["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "].includes(event.key)) event.stopPropagation();
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }
}

const share = (part) => `${100 * part}%`;

function boxed(kind, left, top, right, bottom) {
  return el("i", {
    class: kind,
    style: `left:${share(left)};top:${share(top)};width:${share(right - left)};height:${share(bottom - top)}`,
  });
}

// One rectangle for each page: what is read, from its first line to its last.
function besides(places) {
  return new Map(
    [...places].map(([page, boxes]) => [
      page,
      [[0, 1, 2, 3].map((edge) => (edge < 2 ? Math.min : Math.max)(...boxes.map((box) => box[edge])))],
    ]),
  );
}
