// What is known of a book's people, places and things at a place in it: computed from the notes of its pages, each with its
// place, so that nothing has to be asked and nothing of a later place is told. That two names are one person is itself a
// note with a place: before it they are two.

/**
 * @import { NameRecord, LinkRecord, NoteRecord, WorldBatch, WorldKind } from "../protocol.js"
 *
 * @typedef {object} Known what is known of one person, place, thing or group
 * @property {string} id of the one of its names that came first
 * @property {WorldKind} kind
 * @property {string} name
 * @property {string[]} also its other names
 * @property {string[]} names all that it is called, which are looked for in the text
 * @property {Line[]} lines newest last
 * @property {string[]} ids that were found to be one
 * @property {number} first the paragraph that names it first
 * @property {boolean} once a person without a name of whom one page tells: somebody passing, or one not known again yet
 *
 * @typedef {{note: NoteRecord, joined: boolean}} Line `joined`: what another name had told before the two were known to be one
 * @typedef {{id: string, names: NameRecord[], notes: NoteRecord[]}} Entity
 */

/** Of an unknown number of paragraphs. */
export const ALL = Number.MAX_SAFE_INTEGER;

/** @param {{from: number, at?: [number, number]}} a @param {{from: number, at?: [number, number]}} b */
const byPlace = (a, b) => a.from - b.from || (a.at && b.at ? a.at[0] - b.at[0] || a.at[1] - b.at[1] : 0);

export class World {
  /** `order`: the events in the order of time, see `WorldData`. @param {Iterable<WorldBatch>} batches @param {number[]} order */
  constructor(batches, order = []) {
    /** @type {Map<string, Entity>} */
    this.entities = new Map();
    /** @type {LinkRecord[]} */
    this.links = [];
    /** @type {NoteRecord[]} */
    this.notes = [];
    for (const { names, notes, links } of batches) {
      for (const name of names) this.entity(name.of).names.push(name);
      for (const note of notes) for (const id of note.of) this.entity(id).notes.push(note);
      this.notes.push(...notes);
      this.links.push(...links);
    }
    /** @type {NoteRecord[]} */
    this.inTime = order.flatMap((n) => this.notes[n] ?? []);
    this.links.sort(byPlace);
    this.notes.sort(byPlace);
    /** @type {Map<string, NameRecord[]>} */
    this.byName = new Map();
    for (const { names, notes } of this.entities.values()) {
      names.sort(byPlace);
      notes.sort(byPlace);
    }
    for (const name of [...this.entities.values()].flatMap(({ names }) => names).sort(byPlace)) {
      for (const spelled of name.spelled ?? [name.name]) {
        const same = this.byName.get(spelled);
        if (same) same.push(name);
        else this.byName.set(spelled, [name]);
      }
    }
    /** @type {Map<number, (id: string) => string>} who is who, by how many links hold */
    this.roots = new Map();
    /** @type {{paragraph: number, known: Map<string, Known>} | null} the answer given last */
    this.last = null;
  }

  /** @param {string} id */
  entity(id) {
    const known = this.entities.get(id) ?? { id, names: [], notes: [] };
    this.entities.set(id, known);
    return known;
  }

  /** The id under which each is known at the end of a paragraph. @param {number} paragraph @returns {(id: string) => string} */
  rootsAt(paragraph) {
    let [low, high] = [0, this.links.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.links[middle].from <= paragraph) low = middle + 1;
      else high = middle;
    }
    const known = this.roots.get(low) ?? this.joined(this.links.slice(0, low));
    this.roots.set(low, known);
    return known;
  }

  /** The id under which each is known after some links. @param {LinkRecord[]} links @returns {(id: string) => string} */
  joined(links) {
    /** @type {Map<string, string>} */
    const roots = new Map();
    /** @param {string} id @returns {string} */
    const root = (id) => {
      let top = id;
      for (let up = roots.get(top); up !== undefined; up = roots.get(top)) top = up;
      return top;
    };
    for (const { a, b } of links) {
      const [x, y] = [root(a), root(b)];
      if (x === y) continue;
      const [first, second] = this.firstOf(x) <= this.firstOf(y) ? [x, y] : [y, x];
      roots.set(second, first);
    }
    return root;
  }

  /** @param {string} id */
  firstOf(id) {
    return this.entities.get(id)?.names[0]?.from ?? ALL;
  }

  /** All that is known at the end of a paragraph, by id; nothing of it rests on a later one. @param {number} paragraph */
  asOf(paragraph) {
    if (this.last?.paragraph === paragraph) return this.last.known;
    const root = this.rootsAt(paragraph);
    /** @type {Map<string, Entity[]>} */
    const groups = new Map();
    for (const one of this.entities.values()) {
      if (this.firstOf(one.id) > paragraph) continue;
      const id = root(one.id);
      const group = groups.get(id);
      if (group) group.push(one);
      else groups.set(id, [one]);
    }
    const at = this.toldAt(paragraph);
    /** @type {Map<string, Known>} */
    const known = new Map();
    for (const [id, entities] of groups) known.set(id, knownOf(id, entities, at));
    this.last = { paragraph, known };
    return known;
  }

  /** What is known of one at the end of a paragraph; undefined for who is not known there. @param {string} id @param {number} paragraph */
  one(id, paragraph) {
    if (this.last?.paragraph === paragraph) return this.last.known.get(id);
    const root = this.rootsAt(paragraph);
    const known = [...this.entities.values()].filter((one) => root(one.id) === id && this.firstOf(one.id) <= paragraph);
    return known.length ? knownOf(id, known, this.toldAt(paragraph)) : undefined;
  }

  /** The links that the story has told, and the id under which each was known without them. @param {number} paragraph */
  toldAt(paragraph) {
    const links = this.links.filter(({ from }) => from <= paragraph);
    const told = links.filter((link) => link.told);
    const strangers = told.length ? this.joined(links.filter((link) => !link.told)) : this.rootsAt(paragraph);
    return { told, strangers, paragraph };
  }

  /**
   * Who is meant by a name in a paragraph: who was called so last, up to there; null for nobody, or a description in common
   * words on a page (null: none is made) on which it is no name.
   * @param {string} name
   * @param {number} paragraph
   * @param {number | null} page
   * @param {number} [known] with it, where nobody was known by a name yet, who is by the end of this paragraph
   */
  meant(name, paragraph, page, known = paragraph) {
    const called = this.byName.get(name);
    const last = called?.findLast(({ from }) => from <= paragraph) ?? called?.find(({ from }) => from <= known);
    if (!last || (last.pages && !last.pages.includes(page ?? 0))) return null;
    return this.rootsAt(Math.max(paragraph, known))(last.of);
  }

  /** The names that are known at the end of a paragraph. @param {number} [paragraph] */
  namesAt(paragraph = ALL) {
    return [...this.byName.entries()].flatMap(([name, [first]]) => (first.from <= paragraph ? [name] : []));
  }
}

/**
 * `told`: the links that the story tells; `strangers`: the id under which each was known before these.
 * @param {string} id
 * @param {Entity[]} entities
 * @param {{told: LinkRecord[], strangers: (id: string) => string, paragraph: number}} at
 * @returns {Known}
 */
function knownOf(id, entities, { told, strangers, paragraph }) {
  const named = entities.flatMap(({ names }) => names.filter(({ from }) => from <= paragraph)).sort(byPlace);
  const ids = entities.map((one) => one.id);
  const since = Math.max(-1, ...told.filter(({ a, b }) => ids.includes(a) && ids.includes(b)).map(({ from }) => from));
  const own = strangers(id);
  /** @type {Map<NoteRecord, Line>} */
  const lines = new Map();
  for (const entity of entities)
    for (const note of entity.notes) {
      if (note.from > paragraph || lines.has(note)) continue;
      lines.set(note, { note, joined: note.from < since && strangers(entity.id) !== own });
    }
  const { name } = named.reduce((best, one) => (worth(one) > worth(best) ? one : best));
  return {
    ...{ id, kind: named[0].kind, name, ids, first: named[0].from },
    names: [...new Set(named.flatMap((one) => one.spelled ?? [one.name]))],
    also: [...new Set(named.map((one) => one.name))].filter((other) => other !== name),
    lines: [...lines.values()].sort((a, b) => byPlace(a.note, b.note)),
    once:
      named[0].kind === "person" && named.every(({ nameless }) => nameless) && new Set([...lines.keys()].map(({ page }) => page)).size < 2,
  };
}

const ARTICLE = /^(?:the|an?|le|la|les|der|die|das|el|los|las|il|lo|gli)\s/i;

/** The longest name is shown; one with an article, a page or in common words where there is no other. @param {NameRecord} record */
const worth = ({ name, pages }) =>
  (pages ? 0 : 4000) + (ARTICLE.test(name) ? 0 : 2000) + (name.includes(" (p. ") ? 0 : 1000) + Math.min(999, name.length);

/** What somebody is, in the words of the first note that says it; "" where none does. @param {Known} known */
export const roleOf = (known) => known.lines.find(({ note }) => note.kind === "is")?.note.text ?? "";

/**
 * How often each page names each of those known: a number for each page, in the order of the pages; 1 where a page only tells
 * of one, without the name.
 * @param {World} world
 * @param {Map<number, [start: number, end: number, name: string][]>} mentions by paragraph
 * @param {(paragraph: number, at: number) => number | null} pageAt
 * @param {number} pages how many there are
 * @param {number} paragraph the last that counts
 * @returns {Map<string, Uint16Array>}
 */
export function presence(world, mentions, pageAt, pages, paragraph) {
  const root = world.rootsAt(paragraph);
  /** @type {Map<string, Uint16Array>} */
  const counts = new Map();
  for (const [at, found] of mentions) {
    if (at > paragraph) continue;
    for (const [start, , name] of found) {
      const page = pageAt(at, start);
      const meant = page && world.meant(name, at, page, paragraph);
      if (!page || !meant) continue;
      const id = root(meant);
      const row = counts.get(id) ?? new Uint16Array(pages);
      row[page - 1] += 1;
      counts.set(id, row);
    }
  }
  for (const { of, page, from } of world.notes) {
    if (from > paragraph || page > pages) continue;
    const id = root(of[0]);
    const row = counts.get(id) ?? new Uint16Array(pages);
    row[page - 1] ||= 1;
    counts.set(id, row);
  }
  return counts;
}

/**
 * The last page of which all is within the first `read` paragraphs, as the spoiler limit counts; undefined where none is.
 * @template {{end: number, endAt?: number}} P
 * @param {P[]} pages
 * @param {number} read
 */
export const lastWhole = (pages, read) => pages.findLast(({ end, endAt }) => end + (endAt ? 1 : 0) <= read);
