// "Show me around": a light on one part of the screen after another, each with a card beside it that says what it is.
// It begins only when the person asks for it: in the help sheet, or by the event "readagent-tour".

import { entry, first } from "./dom.js";
import { screen } from "./screens.js";
import { CHAT_INPUT } from "./streamlit.js";

const GAP = 12; // px between the light and the card, and around both
/**
 * @typedef {[selector: string, title: string, text: string, keys?: string]} TourStep `keys`: where there is a keyboard
 *
 * @type {Record<string, TourStep[]>} of a screen; a step whose part is not on the screen is left out
 */
const STEPS = {
  read: [
    ["button.fact", "You", "How far you have read, and the time left. Only reading counts: a jump or a search does not."],
    [
      ".gistsfact:not([data-state=ready], [data-state=recording])",
      "The gists",
      "How many pages have one. The book can be read before they are made, and meanwhile.",
    ],
    [".leaf.cur:not(.veiled) .in", "The gist", "The page in about a sixth of its words. All gists together are the memory of the book."],
    [
      ".leaf.cur.veiled .in",
      "The gist, veiled",
      "The page in about a sixth of its words. It opens when you have read the page; Show opens it now.",
    ],
    [".mapbox", "The map", "The whole book, one cell for each page. A click goes there."],
    [".find", "Search", "Finds words in the text and in the gists.", "Press / to come here."],
    [".aa", "Type and theme", "Size, letters, colours, and pages to turn. Full screen leaves only the text.", "So does f."],
    [".askb", "Ask", "Questions about the book, beside the text. Each answer names the pages that it rests on.", "Press a to ask."],
  ],
  ask: [
    [".list", "The memory", "The gists of all pages. A question is read beside them first."],
    [".m.open", "A page that was looked up", "It opens in place, with the words that the answer quotes."],
    [".ans, .sentences", "The answer", "Each claim says what it rests on. Press one to see the words in the memory."],
    [CHAT_INPUT, "Your question", "Ask anything about this book."],
  ],
};

/** Connects the dialog, the button of the help sheet, the key ? and the event "readagent-tour". */
export function connectTour() {
  /** @type {HTMLDialogElement | null} */
  const dialog = document.querySelector("dialog.tour");
  const help = first(document, "#help");
  const around = first(document, "#help .around");
  if (!dialog || !help || !around) return;
  const tour = new Tour(dialog);
  help.addEventListener("beforetoggle", () => {
    around.hidden = !stepsHere().length;
  });
  around.addEventListener("click", () => {
    help.hidePopover();
    tour.start();
  });
  document.addEventListener("readagent-tour", () => tour.start());
  addEventListener("keydown", (event) => {
    // on the window: after the reader, which has a sheet of its own
    const into = event.composedPath()[0];
    const types = into instanceof Element && into.closest("input, textarea, select, [contenteditable]");
    if (event.key === "?" && !event.defaultPrevented && !types) help.togglePopover();
  });
}

class Tour {
  /** @param {HTMLDialogElement} dialog */
  constructor(dialog) {
    this.dialog = dialog;
    /** @type {TourStep[]} */
    this.steps = [];
    this.at = 0;
    /** @type {Map<Element, number>} where what is scrolled stood when the tour began */
    this.stood = new Map();
    this.card = first(dialog, ".card") ?? dialog;
    this.spot = first(dialog, ".spot") ?? dialog;
    this.back = /** @type {HTMLButtonElement} */ (first(dialog, ".back"));
    this.next = /** @type {HTMLButtonElement} */ (first(dialog, ".next"));
    this.back.addEventListener("click", () => this.go(this.at - 1));
    this.next.addEventListener("click", () => this.go(this.at + 1));
    first(dialog, ".end")?.addEventListener("click", () => dialog.close());
    dialog.addEventListener("keydown", (event) => {
      const step = entry({ ArrowRight: 1, ArrowLeft: -1 }, event.key);
      if (step && this.at + step < this.steps.length) this.go(Math.max(0, this.at + step));
      event.stopPropagation(); // the reader turns pages with the same keys
    });
    dialog.addEventListener("close", () => this.scrollBack());
    addEventListener("resize", () => dialog.open && this.place());
    addEventListener("popstate", () => dialog.close());
  }

  start() {
    this.steps = stepsHere();
    if (!this.steps.length || this.dialog.open) return;
    this.dialog.showModal();
    this.go(0);
  }

  /** @param {number} at */
  go(at) {
    if (at >= this.steps.length) return this.dialog.close();
    this.at = at;
    const [, title, text, keys] = this.steps[at];
    /** @param {string} id @param {string} words */
    const put = (id, words) => first(this.dialog, `#tour-${id}`)?.replaceChildren(words);
    put("of", `${at + 1} of ${this.steps.length}`);
    put("title", title);
    put("text", keys && matchMedia("(hover: hover)").matches ? `${text} ${keys}` : text);
    this.back.disabled = at === 0;
    this.next.textContent = at + 1 === this.steps.length ? "Done" : "Next";
    this.next.focus();
    this.place();
  }

  // A book is where it was.
  scrollBack() {
    for (const [node, top] of this.stood) if (node.scrollTop !== top) node.scrollTop = top;
    this.stood.clear();
  }

  // The light on the part and the card on the side with the most room; a part that leaves no room is lit as far as the
  // card.
  place() {
    const part = find(this.steps[this.at][0]);
    if (!part) return this.dialog.close();
    for (const node of around(part)) if (!this.stood.has(node)) this.stood.set(node, node.scrollTop);
    part.scrollIntoView({ block: "nearest", behavior: "instant" });
    const [wide, tall] = [innerWidth, innerHeight];
    const box = part.getBoundingClientRect();
    const header = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--header"));
    const lit = {
      left: Math.max(0, box.left - 4),
      top: Math.max(header, box.top - 4),
      right: Math.min(wide, box.right + 4),
      bottom: Math.min(tall, box.bottom + 4),
    };
    const { offsetWidth: w, offsetHeight: h } = this.card;
    const room = { right: wide - lit.right - w, left: lit.left - w, below: tall - lit.bottom - h, above: lit.top - h };
    const side = Object.entries(room).find(([, free]) => free >= 2 * GAP)?.[0];
    if (!side) lit.bottom = Math.min(lit.bottom, tall - h - 2 * GAP);
    /** @param {number} low @param {number} size @param {number} most */
    const within = (low, size, most) => Math.max(GAP, Math.min(low, most - size - GAP));
    const beside = side === "right" || side === "left";
    const x = side === "right" ? lit.right + GAP : side === "left" ? lit.left - w - GAP : within(lit.left, w, wide);
    const y = beside ? within(lit.top, h, tall) : side === "above" ? lit.top - h - GAP : lit.bottom + GAP;
    Object.assign(this.card.style, { left: `${x}px`, top: `${y}px` });
    Object.assign(this.spot.style, {
      left: `${lit.left}px`,
      top: `${lit.top}px`,
      width: `${lit.right - lit.left}px`,
      height: `${Math.max(0, lit.bottom - lit.top)}px`,
    });
  }
}

/** An element and those it is in, also of the trees around its own. @param {Element} part */
function* around(part) {
  for (let node = /** @type {Element | null} */ (part); node; ) {
    yield node;
    const tree = node.getRootNode();
    node = node.parentElement ?? (tree instanceof ShadowRoot ? tree.host : null);
  }
}

const stepsHere = () => (STEPS[screen()] ?? []).filter(([selector]) => find(selector));

/**
 * The first visible element of this selector, also within components, which have trees of their own.
 * @param {string} selector
 * @param {Document | ShadowRoot} [tree]
 * @returns {Element | null}
 */
function find(selector, tree = document) {
  const here = [...tree.querySelectorAll(selector)].find((part) => part.checkVisibility());
  if (here) return here;
  for (const host of tree.querySelectorAll("*")) {
    const inside = host.shadowRoot && find(selector, host.shadowRoot);
    if (inside) return inside;
  }
  return null;
}
