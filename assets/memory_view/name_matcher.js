// Finds names in a text: the longest at each place, whole words only where a script has spaces between words. White space
// and apostrophes may differ. The engine finds mentions in the same way (world/names.py).

/** @typedef {[start: number, end: number, name: string]} Mention `name`: as it was given */
/** @typedef {{next: Map<string, Step>, name: string}} Step */

const LETTER = /[\p{L}\p{M}\p{N}]/u;
const CJK = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]/;
const KATAKANA = /[\u30a0-\u30ff]/;
const HANGUL = /[\uac00-\ud7a3]/; // particles follow without a space
const SAME = new Map([
  ..."’ʼ＇`".split("").map((c) => /** @type {[string, string]} */ ([c, "'"])),
  ["\n", " "],
  ["\u00a0", " "],
  ["\u202f", " "],
]);

/** @param {string} c */
const plain = (c) => SAME.get(c) ?? c;

export class NameMatcher {
  /** @param {Iterable<string>} names */
  constructor(names) {
    /** @type {Step} */
    this.start = { next: new Map(), name: "" };
    this.size = 0;
    for (const name of names) if (name) this.add(name);
    const begins = [...this.start.next.keys()].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
    this.begins = new RegExp(`[${begins.join("")}]`, "g"); // where a name may begin
  }

  /** @param {string} name */
  add(name) {
    let at = this.start;
    for (let i = 0; i < name.length; i++) {
      const c = plain(name[i]);
      const next = at.next.get(c) ?? { next: new Map(), name: "" };
      at.next.set(c, next);
      at = next;
    }
    if (!at.name) this.size += 1;
    at.name ||= name;
  }

  /** The names in a text, in its order; none of them overlap. @param {string} text @returns {Mention[]} */
  find(text) {
    /** @type {Mention[]} */
    const found = [];
    if (!this.size) return found;
    for (let i = 0; i < text.length; i++) {
      this.begins.lastIndex = i;
      const next = this.begins.exec(text);
      if (!next) break;
      i = next.index;
      if (continues(text[i - 1], text[i])) continue;
      const first = this.start.next.get(text[i]);
      let end = 0;
      let name = "";
      let [at, j] = [/** @type {Step | undefined} */ (first), i + 1];
      for (; at; at = at.next.get(plain(text[j++] ?? ""))) {
        if (at.name && !continues(text[j], text[j - 1])) [end, name] = [j, at.name];
        if (j >= text.length) break;
      }
      if (!end) continue;
      found.push([i, end, name]);
      i = end - 1;
    }
    return found;
  }
}

/** Whether the character beside a name continues the word at its edge. @param {string | undefined} beside @param {string} edge */
function continues(beside, edge) {
  if (!beside || !LETTER.test(beside)) return false;
  if (CJK.test(edge)) return KATAKANA.test(edge) && KATAKANA.test(beside);
  return !CJK.test(beside) && !HANGUL.test(edge);
}
