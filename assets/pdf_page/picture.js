// The picture of a page of a PDF: fetched as wide as it is shown, while the page before fades.

import { el } from "../shared/dom.js";
import { askPages, pagesUrl } from "./pages_server.js";

/**
 * @import { PdfFacts, PdfProblem } from "../protocol.js"
 * @import { Answer } from "./pages_server.js"
 *
 * @typedef {{book: string, facts: PdfFacts, page: number, width: number}} Wanted `width`: in pixels of the page
 */

const STEP = 200; // px; widths of pictures are rounded up to it, so that few are drawn
const [LEAST, MOST] = [400, 3000]; // px, as the server allows
const SLOW_MS = 250; // until a page that has not come says so

export class PagePicture {
  /**
   * @param {Element} sheet gets the classes of a page that is on its way
   * @param {{came: () => void, missed: (problem: PdfProblem) => void}} on
   */
  constructor(sheet, on) {
    this.sheet = sheet;
    this.on = on;
    this.address = ""; // of the picture that is shown or on its way
    this.drawn = 0; // the page that is shown
    this.node = el("img", { class: "ppic", alt: "" });
  }

  close() {
    clearTimeout(this.slow);
  }

  /** @param {Wanted} wanted */
  load(wanted) {
    const address = addressOf(wanted);
    if (address === this.address) return;
    const { facts, page } = wanted;
    this.address = address;
    clearTimeout(this.slow);
    if (this.drawn !== page) {
      this.sheet.classList.add("pwaiting"); // the page before fades, so that its words are not taken for this one's
      this.slow = setTimeout(() => this.sheet.classList.add("pslow"), SLOW_MS);
    }
    const picture = new Image();
    picture.onload = () => {
      if (address !== this.address) return;
      this.settled();
      this.drawn = page;
      this.on.came();
      this.node.src = address;
      if (page < facts.pages) new Image().src = addressOf({ ...wanted, page: page + 1 }); // the next page
    };
    picture.onerror = () => this.explain(address);
    picture.src = address;
  }

  settled() {
    clearTimeout(this.slow);
    this.sheet.classList.remove("pwaiting", "pslow");
  }

  /** A picture that did not come: asks why. @param {string} address */
  async explain(address) {
    if (address !== this.address) return;
    /** @type {Answer<PdfProblem>} */
    const { ok, value } = await askPages(address);
    if (address !== this.address) return;
    this.settled();
    this.address = "";
    this.drawn = 0;
    this.on.missed(ok ? { text: "The page did not arrive whole. Try again." } : value);
  }

  /** Calls `act` once the picture has its size. @param {() => void} act */
  whenDrawn(act) {
    if (this.node.complete && this.node.naturalWidth) act();
    else this.node.addEventListener("load", act, { once: true });
  }
}

/** @param {Wanted} wanted */
function addressOf({ book, facts, page, width }) {
  const wide = Math.ceil((width * Math.min(devicePixelRatio, 2)) / STEP) * STEP;
  return pagesUrl(`original/${book}/${facts.version}/${page}.jpg?width=${Math.min(MOST, Math.max(LEAST, wide))}`);
}
