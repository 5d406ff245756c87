// Searches the text and the gists in the browser, where both are: every word must occur in a paragraph or gist, the last
// letters of a word may be missing, words in quotation marks are one phrase, accents and case do not matter.

const UNSPACED = "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u2e80-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff01-\\uffef";
const LETTER = "[\\p{L}\\p{N}\\p{M}]";
const QUOTED = /"([^"]+)"|“([^”]+)”|(\S+)/g;

const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

// The text in lower case without accents, and the place of each of its characters in `text` (null: the same place).
function folded(text) {
  const plain = text.toLowerCase();
  if (/^[\x00-\x7f\u2010-\u2026]*$/.test(text) && plain.length === text.length) return [plain, null];
  const places = [];
  let out = "";
  for (let i = 0; i < text.length; i++) {
    const piece = fold(text[i]);
    for (let k = 0; k < piece.length; k++) places.push(i);
    out += piece;
  }
  places.push(text.length);
  return [out, places];
}

// A regular expression for each word or phrase of a query; [] where there is no letter in it.
function patternsOf(query) {
  const words = (text) => fold(text).match(new RegExp(`${LETTER}+`, "gu")) ?? [];
  const phrases = [...query.matchAll(QUOTED)].map((found) => words(found[1] ?? found[2] ?? found[3])).filter((found) => found.length);
  return phrases.map((phrase) => {
    const starts = new RegExp(`^[${UNSPACED}]`, "u").test(phrase[0]) ? "" : `(?<!${LETTER})`;
    return new RegExp(starts + phrase.join("[^\\p{L}\\p{N}]+"), "gu");
  });
}

function placesOf(text, patterns, cache) {
  const [plain, places] = cache ?? folded(text);
  const found = [];
  for (const pattern of patterns) {
    const before = found.length;
    for (const match of plain.matchAll(pattern)) found.push([match.index, match.index + match[0].length]);
    if (found.length === before) return []; // every word must occur
  }
  found.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const apart = found.filter(([start], i) => i === 0 || start >= found[i - 1][1]);
  return apart.map(([start, end]) => (places ? [places[start], places[end]] : [start, end]));
}

export class Search {
  constructor(reader) {
    this.reader = reader;
    this.clear();
  }

  clear() {
    this.query = "";
    this.patterns = [];
    this.hits = []; // [field, paragraph or page, start, end] in the order of the book
    this.byParagraph = new Map();
    this.byPage = new Map();
    this.at = -1; // the current hit
    this.from = null; // where the person was when they began to search
    this.landed = null; // the paragraph to which the last hit took them from there
    this.marked = new Set(); // paragraphs and gists whose hits are marked
    this.gists = new Set();
    this.view = null;
    this.plain = []; // folded paragraphs, made at the first search
  }

  get shown() {
    return this.hits[this.at];
  }

  spans(hits) {
    return (hits ?? []).map((hit) => [hit[2], hit[3], hit === this.shown ? "hit now" : "hit"]);
  }

  inText(paragraph) {
    return this.spans(this.byParagraph.get(paragraph));
  }

  inGist(page) {
    return this.spans(this.byPage.get(page));
  }

  /** Searches for `query` and goes to the first hit from here on; while a word is typed, from where that began. */
  ask(query) {
    if (query === this.query) return;
    const { here } = this.reader.position;
    const typing = this.query && (query.startsWith(this.query) || (query && this.query.startsWith(query)));
    if (!typing || here.paragraph !== this.landed) [this.from, this.landed] = [here, null];
    this.query = query;
    this.patterns = patternsOf(query);
    this.find();
    const { paragraph, page } = this.from;
    const next = this.hits.findIndex(([field, at]) => (field === "t" ? at >= paragraph : at >= (page ?? 0)));
    this.at = this.hits.length ? Math.max(0, next) : -1; // after the last hit comes the first
    this.markAll();
    if (this.hits.length) this.step(0);
    this.reader.searched();
  }

  /** More text or gists have come: the same search again; the person stays where they are. */
  again() {
    if (!this.patterns.length) return;
    const before = String(this.shown);
    this.find();
    const same = this.hits.findIndex((hit) => String(hit) === before);
    this.at = same >= 0 ? same : Math.min(Math.max(this.at, 0), this.hits.length - 1);
    this.markAll();
    this.reader.searched();
  }

  find() {
    const { book, layer } = this.reader;
    this.byParagraph = new Map();
    this.byPage = new Map();
    if (this.patterns.length) {
      book.text.forEach((text, paragraph) => {
        const found = placesOf(text, this.patterns, (this.plain[paragraph] ??= folded(text)));
        if (found.length)
          this.byParagraph.set(
            paragraph,
            found.map(([start, end]) => ["t", paragraph, start, end]),
          );
      });
      for (const { n, g } of layer.pages) {
        const found = g ? placesOf(g.t, this.patterns) : [];
        if (found.length)
          this.byPage.set(
            n,
            found.map(([start, end]) => ["g", n, start, end]),
          );
      }
    }
    this.hits = this.inOrder();
  }

  // The hits of the text, those of each gist after the text of its page.
  inOrder() {
    const { layer } = this.reader;
    const gists = [...this.byPage.entries()];
    const found = [];
    for (const [paragraph, hits] of this.byParagraph) {
      while (gists.length && layer.pages[gists[0][0] - 1].x <= paragraph) found.push(...gists.shift()[1]);
      found.push(...hits);
    }
    return found.concat(...gists.map(([, hits]) => hits));
  }

  // A common word occurs ten thousand times in a long book: hits are marked where the person is (`follow`).
  markAll() {
    for (const p of this.marked.keys()) this.reader.units.mark(p, this.inText(p));
    for (const p of this.marked.keys()) if (!this.byParagraph.has(p)) this.marked.delete(p);
    for (const n of this.gists) this.reader.layer.redrawGist(n);
    this.gists = new Set(this.byPage.keys());
    for (const n of this.gists) this.reader.layer.redrawGist(n);
    if (this.view) this.follow(...this.view);
  }

  /** Marks the hits in paragraphs `first` to `last`, which are in view, and around them. */
  follow(first, last) {
    this.view = [first, last];
    if (!this.hits.length) return;
    for (let p = Math.max(0, first - 30); p <= last + 30; p++) {
      if (this.marked.has(p) || !this.byParagraph.has(p)) continue;
      this.marked.add(p);
      this.reader.units.mark(p, this.inText(p));
    }
  }

  markHit(hit) {
    if (!hit) return;
    if (hit[0] === "t") {
      this.marked.add(hit[1]);
      this.reader.units.mark(hit[1], this.inText(hit[1]));
    } else this.reader.layer.redrawGist(hit[1]);
  }

  step(by) {
    if (!this.hits.length) return;
    const before = this.shown;
    this.at = (this.at + by + this.hits.length) % this.hits.length;
    this.markHit(before);
    this.markHit(this.shown);
    this.show(this.shown);
    this.reader.searched();
  }

  // One goes back from all hits at once, to where one was reading.
  show(hit) {
    const { position } = this.reader;
    const back = position.here.paragraph !== this.landed;
    if (position.jump(this.placeOf(hit), { back }) || !back) this.landed = position.here.paragraph;
  }

  placeOf([field, at]) {
    const { units, layer, flow } = this.reader;
    if (field === "t") return { paragraph: at, mark: units.nodes[at]?.querySelector("mark.now") };
    const page = layer.pages[at - 1];
    return { paragraph: page.s, at: page.a, mark: flow.isPaged ? null : layer.drawn.get(at)?.gist.querySelector("mark.now") };
  }
}
