// The parts of a long book in the memory: each is a row that opens in place, into smaller parts or the gists of its pages.
// Which are open is what the model had open at this step, until the person opens or closes one by hand.

import { el, fill, icon, plural } from "../shared/dom.js";

/**
 * @import { BookFacts, Emphasis, MemoryData, MemoryStep, PartRecord } from "../protocol.js"
 * @import { Closed } from "./map.js"
 * @import { Shown } from "./memory.js"
 *
 * @typedef {object} DrawnPart
 * @property {PartRecord} part
 * @property {HTMLElement} node
 * @property {HTMLElement} head
 * @property {HTMLElement} body
 * @property {DrawnPart | null} outer
 * @property {string} [drawn]
 */

/** @param {PartRecord} part */
const keyOf = ({ first: a, last: z }) => `${a}-${z}`;

export class Parts {
  constructor() {
    /** @type {Map<string, boolean>} */
    this.byHand = new Map(); // the part's key -> whether the person has opened or closed it
    /** @type {DrawnPart[]} */
    this.all = []; // the outer before the inner
    this.built = "[]";
    /** @type {Pick<Shown, "closed" | "expanded">} what the model saw */
    this.seen = { closed: [], expanded: [] };
    this.words = { lang: "en", dir: "ltr" };
    /** @type {Emphasis} */
    this.emphasis = "";
  }

  /** @param {PartRecord[]} parts */
  differ(parts) {
    return this.built !== JSON.stringify(parts.map(keyOf));
  }

  /**
   * Makes an element for each part, one inside the other; returns the outermost.
   * @param {PartRecord[]} parts
   * @param {BookFacts} meta
   */
  build(parts, meta) {
    this.built = JSON.stringify(parts.map(keyOf));
    this.words = { lang: meta.language, dir: meta.rtl ? "rtl" : "ltr" };
    this.emphasis = meta.emphasis;
    this.byHand.clear();
    this.all = [];
    for (const part of parts) {
      const outer = this.all.findLast((other) => other.part.first <= part.first && part.last <= other.part.last) ?? null;
      const body = el("div", { class: "mblock", hidden: true });
      const head = el("button", { type: "button", class: "partb" });
      const node = el("section", { class: "part", "data-part": keyOf(part) }, head, body);
      /** @type {DrawnPart} */
      const made = { part, node, head, body, outer };
      head.addEventListener("click", () => {
        this.byHand.set(keyOf(part), !this.isOpen(made));
        if (this.data) this.update(this.data);
      });
      outer?.body.append(node);
      this.all.push(made);
    }
    return this.all.filter((one) => !one.outer).map((one) => one.node);
  }

  /** The body of the smallest part that has page `n`; without one, the first element of a part after it. @param {number} n */
  placeOf(n) {
    const body = this.all.findLast(({ part }) => part.first <= n && n <= part.last)?.body ?? null;
    return { body, next: this.all.find((one) => !one.outer && one.part.first > n)?.node ?? null };
  }

  /** @param {number} n */
  around(n) {
    return this.all.filter(({ part }) => part.first <= n && n <= part.last);
  }

  /** `closed` parts, each with the number of parts that it is inside of. @param {[number, number][]} closed @returns {Closed[]} */
  withDepth(closed) {
    return closed.map(([first, last]) => [first, last, this.around(first).filter(({ part }) => part.last >= last).length - 1]);
  }

  /** Whether the model saw nothing but one gist of this part, or of one that has it. @param {DrawnPart} one */
  wasClosed({ part }) {
    return this.seen.closed.some(([first, last]) => first <= part.first && part.last <= last);
  }

  /** Pages that the model read in full, also below the one gist of their part. @param {DrawnPart} one */
  inFull({ part }) {
    return this.seen.expanded.filter((n) => part.first <= n && n <= part.last);
  }

  /** @param {DrawnPart} one */
  isOpen(one) {
    return this.byHand.get(keyOf(one.part)) ?? (!this.wasClosed(one) || this.inFull(one).length > 0);
  }

  /** The outermost closed part that has page `n`. @param {number} n */
  closedAround(n) {
    return this.around(n).find((one) => !this.isOpen(one))?.node ?? null;
  }

  /** @param {number} n */
  reveal(n) {
    for (const one of this.around(n)) if (!this.isOpen(one)) this.byHand.set(keyOf(one.part), true);
    if (this.data) this.update(this.data);
  }

  /** The button that closes the part which has the focus; null where that is closed, or in none. @param {Element} target */
  openButton(target) {
    const node = target.closest(".part");
    const one = this.all.findLast((other) => other.node.contains(node) && this.isOpen(other));
    return one?.head ?? null;
  }

  /** @param {Shown} data */
  update(data) {
    this.data = data;
    this.seen = data;
    for (const [i, one] of this.all.entries()) one.part = data.parts[i]; // while an answer comes, gists come after their pages
    for (const one of this.all) {
      const { part, node, head, body } = one;
      const open = this.isOpen(one);
      const look =
        data.opened.some(([first, last]) => first === part.first && last === part.last) ||
        (!open && data.marked.some((n) => part.first <= n && n <= part.last));
      const fact = this.fact(one, open);
      const key = JSON.stringify([open, look, fact, part.gist]);
      if (one.drawn === key) continue;
      one.drawn = key;
      body.hidden = !open;
      node.classList.toggle("look", look);
      node.classList.toggle("shut", !open);
      const pages = part.first === part.last ? `Page ${part.first}` : `Pages ${part.first} to ${part.last}`;
      const { words } = this;
      const gist = (!open || this.wasClosed(one)) && part.gist ? el("span", { class: "g", ...words }) : null;
      if (gist) fill(gist, part.gist, [], this.emphasis);
      head.setAttribute("aria-expanded", String(open));
      head.replaceChildren(
        icon(open ? "down" : "right"),
        el(
          "span",
          { class: "pt" },
          el("strong", part.title ? { ...words, title: part.title } : {}, part.title || pages),
          el("span", { class: "small num" }, part.title ? `${pages}, ${fact}` : fact),
        ),
        ...(gist ? [gist] : []),
      );
    }
  }

  /** What the model saw of the part, and who opened or closed it. @param {DrawnPart} one @param {boolean} open */
  fact(one, open) {
    const { part } = one;
    const words = plural(part.words, "word");
    if (this.wasClosed(one)) {
      const inside = one.outer && this.wasClosed(one.outer);
      if (inside) return open ? `${words}, opened by you` : words;
      const seen = `one gist${part.gistWords ? ` of ${plural(part.gistWords, "word")}` : ""}`;
      const full = this.inFull(one);
      if (open && full.length)
        return `${words}; the model saw ${seen}, and in full ${full.length > 1 ? "pages" : "page"} ${full.join(", ")}:`;
      return open ? `${words}, opened by you; the model saw ${seen}:` : `${words} in ${seen}`;
    }
    const full = this.inFull(one).length;
    const seen = `opened in place${full ? `, ${plural(full, "page")} in full` : ""}`;
    return open ? `${words}, ${seen}` : `${words}, closed by you; the model saw it ${seen}`;
  }
}
