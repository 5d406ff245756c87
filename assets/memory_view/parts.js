// The parts of a long book in the memory: each is a row that opens in place, into smaller parts or the gists of its pages.
// Which are open is what the model had open at this step, until the person opens or closes one by hand.

import { el, fill, icon, plural } from "../shared/dom.js";

/** @typedef {import("./types.js").PartRecord} PartRecord */

const keyOf = ({ a, z }) => `${a}-${z}`;

export class Parts {
  constructor() {
    this.byHand = new Map(); // the part's key -> whether the person has opened or closed it
    this.all = []; // {part, node, head, body, outer}, the outer before the inner
    this.built = "[]";
  }

  /** @param {PartRecord[]} parts */
  differ(parts) {
    return this.built !== JSON.stringify(parts.map(keyOf));
  }

  /**
   * Makes an element for each part, one inside the other; returns the outermost.
   * @param {PartRecord[]} parts
   */
  build(parts, meta) {
    this.built = JSON.stringify(parts.map(keyOf));
    this.meta = meta;
    this.byHand.clear();
    this.all = [];
    for (const part of parts) {
      const outer = this.all.findLast((other) => other.part.a <= part.a && part.z <= other.part.z) ?? null;
      const body = el("div", { class: "mblock", hidden: true });
      const head = el("button", { type: "button", class: "partb" });
      const node = el("section", { class: "part", "data-part": keyOf(part) }, head, body);
      const made = { part, node, head, body, outer };
      head.addEventListener("click", () => {
        this.byHand.set(keyOf(part), !this.isOpen(made));
        this.update(this.data);
      });
      outer?.body.append(node);
      this.all.push(made);
    }
    return this.all.filter((one) => !one.outer).map((one) => one.node);
  }

  // The body of the smallest part that has page `n`; without one, the first element of a part after it.
  placeOf(n) {
    const body = this.all.findLast(({ part }) => part.a <= n && n <= part.z)?.body ?? null;
    return { body, next: this.all.find((one) => !one.outer && one.part.a > n)?.node ?? null };
  }

  around(n) {
    return this.all.filter(({ part }) => part.a <= n && n <= part.z);
  }

  /** `closed` parts, each with the number of parts that it is inside of. */
  withDepth(closed) {
    return closed.map(([first, last]) => [first, last, this.around(first).filter(({ part }) => part.z >= last).length - 1]);
  }

  // Whether the model saw nothing but one gist of this part, or of one that has it.
  wasClosed({ part }) {
    return this.data.closed.some(([first, last]) => first <= part.a && part.z <= last);
  }

  // Pages that the model read in full, also below the one gist of their part.
  inFull({ part }) {
    return this.data.expanded.filter((n) => part.a <= n && n <= part.z);
  }

  isOpen(one) {
    return this.byHand.get(keyOf(one.part)) ?? (!this.wasClosed(one) || this.inFull(one).length > 0);
  }

  /** The outermost closed part that has page `n`. */
  closedAround(n) {
    return this.around(n).find((one) => !this.isOpen(one))?.node ?? null;
  }

  reveal(n) {
    for (const one of this.around(n)) if (!this.isOpen(one)) this.byHand.set(keyOf(one.part), true);
    if (this.data) this.update(this.data);
  }

  /** The button that closes the part which has the focus; null where that is closed, or in none. */
  openButton(target) {
    const node = target.closest(".part");
    const one = this.all.findLast((other) => other.node.contains(node) && this.isOpen(other));
    return one?.head ?? null;
  }

  /** @param {import("../answer_view/types.js").MemoryData & import("../answer_view/types.js").MemoryStep} data */
  update(data) {
    this.data = data;
    this.all.forEach((one, i) => (one.part = data.parts[i])); // while an answer comes, gists come after their pages
    for (const one of this.all) {
      const { part, node, head, body } = one;
      const open = this.isOpen(one);
      const look =
        data.opened.some(([first, last]) => first === part.a && last === part.z) ||
        (!open && data.marked.some((n) => part.a <= n && n <= part.z));
      const fact = this.fact(one, open);
      const key = JSON.stringify([open, look, fact, part.g]);
      if (one.drawn === key) continue;
      one.drawn = key;
      body.hidden = !open;
      node.classList.toggle("look", look);
      node.classList.toggle("shut", !open);
      const pages = part.a === part.z ? `Page ${part.a}` : `Pages ${part.a} to ${part.z}`;
      const words = { lang: this.meta.language, dir: this.meta.rtl ? "rtl" : "ltr" };
      const gist = (!open || this.wasClosed(one)) && part.g ? el("span", { class: "g", ...words }) : null;
      if (gist) fill(gist, part.g, [], this.meta.emphasis);
      head.setAttribute("aria-expanded", String(open));
      head.replaceChildren(
        icon(open ? "down" : "right"),
        el(
          "span",
          { class: "pt" },
          el("strong", part.t ? { ...words, title: part.t } : {}, part.t || pages),
          el("span", { class: "small num" }, part.t ? `${pages}, ${fact}` : fact),
        ),
        ...(gist ? [gist] : []),
      );
    }
  }

  // What the model saw of the part, and who opened or closed it.
  fact(one, open) {
    const { part } = one;
    const words = plural(part.w, "word");
    if (this.wasClosed(one)) {
      const inside = one.outer && this.wasClosed(one.outer);
      if (inside) return open ? `${words}, opened by you` : words;
      const seen = `one gist${part.gw ? ` of ${plural(part.gw, "word")}` : ""}`;
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
