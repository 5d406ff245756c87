// What is found in the book, and which of it the person is at. A common word stands in a long book ten thousand times:
// how often on which page is always known, the places themselves only on the pages around one that was asked for.

class Hits {
  constructor(reader) {
    this.reader = reader;
    this.clear();
  }

  clear() {
    this.at = -1; // which of all hits, -1 for none
    this.items = []; // those whose places are known
    this.counts = []; // [page, hits]
    this.total = 0;
    this.base = 0; // how many stand before the first of the items
    this.byPage = new Map();
    this.far = false; // whether the person goes to one whose place is to come
    this.sought = null; // the words asked for last, answered or not
  }

  close() {
    clearTimeout(this.following);
  }

  // The hit the person is at; none while its place is not known.
  get shown() {
    return this.items[this.at - this.base];
  }

  on(page) {
    return (this.byPage.get(page) ?? []).map((h) => [...h, h === this.shown ? "hit now" : "hit"]);
  }

  before(page) {
    return this.counts.reduce((sum, [n, hits]) => (n < page ? sum + hits : sum), 0);
  }

  pageOf(hit) {
    let sum = 0;
    return this.counts.find(([, hits]) => (sum += hits) > hit)[0];
  }

  // `text` in the whole book; told are the places around `page`.
  search(text, page = this.reader.here) {
    this.sought = text;
    this.reader.keep("query", { text, page: Math.max(1, page) });
  }

  // The same words around `page`, unless others are being searched for already.
  searchOn(page) {
    const { query } = this.reader.data.hits;
    if ((this.sought ?? query) === query) this.search(query, page);
  }

  // `asked`: they are another search's, to be gone to; else the person stays, unless they go to one that was far away:
  // pages that came brought more of them, or those around another page are told.
  take(hits, asked) {
    const marked = [...this.byPage.keys()];
    const held = String(this.shown);
    this.items = hits?.items ?? [];
    this.counts = hits?.counts ?? [];
    this.total = this.before(Infinity);
    this.base = this.before(this.items[0]?.[0]);
    this.byPage = new Map();
    for (const h of this.items) this.byPage.set(h[0], [...(this.byPage.get(h[0]) ?? []), h]);
    const same = this.items.findIndex((h) => String(h) === held);
    if (!this.total) this.at = -1;
    else if (asked || this.at < 0) this.at = this.before(this.reader.here) % this.total; // after the last comes the first
    else this.at = same >= 0 ? this.base + same : Math.min(this.at, this.total - 1);
    this.mark([...new Set([...marked, ...this.byPage.keys()])]);
    if (this.total && (asked || (this.far && this.shown))) this.step(0);
    else if (!asked) this.reader.drawMap();
  }

  step(by) {
    if (!this.total) return;
    const marked = this.shown?.[0];
    this.at = (this.at + by + this.total) % this.total;
    const page = this.pageOf(this.at);
    this.far = !this.shown;
    if (this.far) this.searchOn(page);
    else this.show(marked, page);
    this.reader.toolbar.update(this.reader.data);
  }

  show(marked, page) {
    this.mark([marked, page]);
    const mark = this.reader.leaves.get(page)?.querySelector("mark.now");
    if (mark) this.reader.place.centre(mark, page);
    else this.reader.goto(page);
    this.reader.drawMap();
  }

  // In the leaves that stand, so that nothing moves under the person's eyes.
  mark(pages) {
    const { leaves, book, data } = this.reader;
    for (const n of pages) if (leaves.has(n)) markHits(leaves.get(n), book.pages[n - 1], this.on(n), data.meta.marked);
  }

  // They are marked where the person goes, however far that is.
  followSoon() {
    clearTimeout(this.following);
    const bare = (here) => !this.far && !this.byPage.has(here) && this.counts.some(([page]) => page === here);
    const follow = () => this.reader.root.isConnected && bare(this.reader.here) && this.searchOn(this.reader.here);
    this.following = setTimeout(follow, 400);
  }
}
