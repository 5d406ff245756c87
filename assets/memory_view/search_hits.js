// The search hits in the book and the current one. A common word occurs ten thousand times in a long book, so the number
// of hits is known for every page, and the positions only on the pages around one that the server was asked about.

import { sumOf } from "../shared/dom.js";
import { markHits } from "./page.js";

export class Hits {
  constructor(reader) {
    this.reader = reader;
    this.clear();
  }

  clear() {
    this.at = -1; // the current hit's index among all hits, -1 for none
    this.items = []; // the hits whose position is known
    this.counts = []; // [page, hits]
    this.total = 0;
    this.base = 0; // the number of hits before the first of the items
    this.byPage = new Map();
    this.pending = false; // whether the position of the current hit has still to come
    this.requested = null; // the words of the last request to the server
  }

  close() {
    clearTimeout(this.timer);
  }

  // The current hit; undefined while its position is not known.
  get shown() {
    return this.items[this.at - this.base];
  }

  on(page) {
    return (this.byPage.get(page) ?? []).map((h) => [...h, h === this.shown ? "hit now" : "hit"]);
  }

  before(page) {
    return sumOf(this.counts, ([n, hits]) => (n < page ? hits : 0));
  }

  pageOf(hit) {
    let sum = 0;
    return this.counts.find(([, hits]) => (sum += hits) > hit)[0];
  }

  // Searches the whole book for `text`; the answer has the positions around `page`.
  search(text, page = this.reader.here) {
    this.requested = text;
    this.reader.setState("query", { text, page: Math.max(1, page) });
  }

  // Asks for the positions around another page, unless a search for other words has been sent.
  searchOn(page) {
    const { query } = this.reader.data.hits;
    if ((this.requested ?? query) === query) this.search(query, page);
  }

  // Takes the server's answer. A new search goes to its first hit. Else the person stays where they are (new pages
  // brought more hits, or positions around another page came), unless they wait for the position of the current hit.
  take(hits, newSearch) {
    const marked = [...this.byPage.keys()];
    const before = String(this.shown);
    this.items = hits?.items ?? [];
    this.counts = hits?.counts ?? [];
    this.total = this.before(Infinity);
    this.base = this.before(this.items[0]?.[0]);
    this.byPage = new Map();
    for (const h of this.items) this.byPage.set(h[0], [...(this.byPage.get(h[0]) ?? []), h]);
    const same = this.items.findIndex((h) => String(h) === before);
    if (!this.total) this.at = -1;
    else if (newSearch || this.at < 0) this.at = this.before(this.reader.here) % this.total; // behind the last hit: the first
    else this.at = same >= 0 ? this.base + same : Math.min(this.at, this.total - 1);
    this.mark([...new Set([...marked, ...this.byPage.keys()])]);
    if (this.total && (newSearch || (this.pending && this.shown))) this.step(0);
    else if (!newSearch) this.reader.drawMap();
  }

  step(by) {
    if (!this.total) return;
    const marked = this.shown?.[0];
    this.at = (this.at + by + this.total) % this.total;
    const page = this.pageOf(this.at);
    this.pending = !this.shown;
    if (this.pending) this.searchOn(page);
    else this.show(marked, page);
    this.reader.toolbar.update(this.reader.data);
  }

  show(marked, page) {
    this.mark([marked, page]);
    const mark = this.reader.leaves.get(page)?.querySelector("mark.now");
    if (mark) this.reader.position.centre(mark, page);
    else this.reader.goto(page);
    this.reader.drawMap();
  }

  // In the pages as they are drawn, so that nothing moves while the person reads.
  mark(pages) {
    const { leaves, book, data } = this.reader;
    for (const n of pages) if (leaves.has(n)) markHits(leaves.get(n), book.pages[n - 1], this.on(n), data.meta.marked);
  }

  // Asks for the positions on the current page, if it has hits without them, a moment after the person went there.
  followSoon() {
    clearTimeout(this.timer);
    const unmarked = (here) => !this.pending && !this.byPage.has(here) && this.counts.some(([page]) => page === here);
    const follow = () => this.reader.root.isConnected && unmarked(this.reader.here) && this.searchOn(this.reader.here);
    this.timer = setTimeout(follow, 400);
  }
}
