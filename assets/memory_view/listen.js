// Reads the text or the gists aloud with the browser's own speech, sentence by sentence, and marks the sentence.

import { button, el, focused } from "../shared/dom.js";
import { tabState } from "../shared/tab_state.js";
import { paint } from "./mark_kinds.js";
import { rangeIn } from "./text_places.js";

/**
 * @import { Frame } from "./frame.js"
 * @import { Layer } from "./layer.js"
 * @import { ReadingState, Show } from "./state.js"
 * @import { Units } from "./units.js"
 */

const RATES = [0.75, 1, 1.25, 1.5, 1.75, 2];
const VOICES_MS = 2_000; // some browsers name their voices a moment late
const chosen = tabState("listening", () => ({ rate: 1, voice: "", stops: false }));

export class Listen {
  /**
   * @param {{state: ReadingState, frame: Frame, units: Units, layer: Layer, show: Show, changed: () => void}} needs
   */
  constructor({ state, frame, units, layer, show, changed }) {
    this.state = state;
    this.frame = frame;
    this.units = units;
    this.layer = layer;
    this.show = show;
    this.changed = changed;
    this.playing = false;
    this.gists = false; // whether gists are read, not the text
    this.unit = 0; // the paragraph or the page that is read
    this.sentence = 0; // of it
    /** @type {[number, number][]} */
    this.sentences = [];
    /** @type {string | null | undefined} of the unit; null after the end, undefined before the beginning */
    this.text = undefined;
    this.turn = 0; // what was begun before the last one counts no more
    /** @type {Range | null} that is marked */
    this.range = null;
    this.play = button("", () => this.toggle(), { kind: "icon", icon: "play", name: "Play" });
    this.rate = el(
      "select",
      {
        class: "btn slim",
        "aria-label": "Speed",
        onchange: () => {
          this.change({ rate: Number(this.rate.value) });
        },
      },
      ...RATES.map((rate) => el("option", { value: String(rate), selected: rate === chosen.rate }, `${rate} ×`)),
    );
    this.voice = el("select", {
      class: "btn slim voice",
      "aria-label": "Voice",
      onchange: () => {
        this.change({ voice: this.voice.value });
      },
    });
    this.stops = el("input", {
      type: "checkbox",
      onchange: () => {
        chosen.stops = this.stops.checked;
      },
    });
    this.stops.checked = chosen.stops;
    this.line = el("span", { class: "small dim", role: "status" });
    this.controls = [
      button("", () => this.skip(-1), { kind: "quiet icon", icon: "left", name: "Previous sentence" }),
      this.play,
      button("", () => this.skip(1), { kind: "quiet icon", icon: "right", name: "Next sentence" }),
      this.rate,
      this.voice,
      el("label", { class: "small stops" }, this.stops, " Stop at the page's end"),
    ];
    this.node = el(
      "div",
      { class: "listen", hidden: true, role: "group", "aria-label": "Listen" },
      ...this.controls,
      this.line,
      el("span", { class: "gap" }),
      button("", () => this.close(), { kind: "quiet icon slim", icon: "close", name: "Stop listening" }),
    );
  }

  get speech() {
    return globalThis.speechSynthesis;
  }

  get opened() {
    return !this.node.hidden;
  }

  /** Opens the bar and begins; pressed again, pauses or goes on. Without voices it looks for them again. */
  async open() {
    if (this.opened && this.voice.length) return this.toggle();
    this.node.hidden = false;
    this.changed();
    const voices = await this.voices();
    if (!this.opened) return;
    for (const part of this.controls) part.hidden = !voices.length;
    this.line.textContent = voices.length
      ? ""
      : "This browser has no voices to read with. Another browser or the system's settings may have some.";
    if (!voices.length) return;
    const best = voices.some((voice) => voice.voiceURI === chosen.voice) ? chosen.voice : voices[0].voiceURI;
    this.voice.replaceChildren(
      ...voices.map((voice) => el("option", { value: voice.voiceURI, selected: voice.voiceURI === best }, voice.name)),
    );
    this.begin();
  }

  // Those of the book's language, else all of them.
  async voices() {
    const { speech } = this;
    if (!speech) return [];
    if (!speech.getVoices().length) {
      await new Promise((done) => {
        speech.addEventListener?.("voiceschanged", done, { once: true });
        setTimeout(done, VOICES_MS);
      });
    }
    const language = this.state.book.outline.language.split("-")[0];
    const all = speech.getVoices();
    const own = all.filter((voice) => voice.lang.toLowerCase().startsWith(language));
    return own.length ? own : all;
  }

  // From the line that is read, or from the first paragraph of its page that is wholly in view above it.
  begin() {
    let { paragraph, at } = this.state.here;
    const { page } = this.state.here;
    this.gists = this.state.folded;
    const isBefore = () => paragraph > 0 && this.state.pageAt(paragraph - 1, 0) === page;
    while (!this.gists && isBefore() && this.isSeen(this.units.nodes[paragraph - 1].getBoundingClientRect()))
      [paragraph, at] = [paragraph - 1, 0];
    this.unit = this.gists ? (page ?? 1) : paragraph;
    this.load();
    this.sentence = this.gists
      ? 0
      : Math.max(
          0,
          this.sentences.findLastIndex(([from]) => from <= at),
        );
    this.speak();
  }

  // The sentences of the paragraph or gist `unit`, as [from, to].
  load() {
    const { book } = this.state;
    this.sentences = [];
    this.text = (this.gists ? this.state.pages[this.unit - 1]?.gist?.text : book.text[this.unit]) ?? null;
    if (this.text === null) return;
    /** @param {{segment: string}} piece */
    const spoken = ({ segment }) => /[\p{L}\p{N}]/u.test(segment);
    const parts = Intl.Segmenter
      ? [...new Intl.Segmenter(book.outline.language, { granularity: "sentence" }).segment(this.text)]
      : [{ index: 0, segment: this.text }];
    this.sentences = parts.filter(spoken).map(({ index, segment }) => [index, index + segment.trimEnd().length]);
  }

  speak() {
    const turn = ++this.turn;
    this.speech.cancel();
    const [from, to] = this.sentences[this.sentence] ?? [];
    if (from === undefined) return this.next();
    const text = (this.text ?? "").slice(from, to);
    const { emphasis } = this.state.book.outline;
    const words = emphasis ? text.replaceAll(emphasis, "") : text;
    const said = Object.assign(new SpeechSynthesisUtterance(words), { rate: chosen.rate });
    const voice = this.speech.getVoices().find((one) => one.voiceURI === this.voice.value);
    if (voice) Object.assign(said, { voice, lang: voice.lang });
    said.onend = () => turn === this.turn && this.playing && this.next();
    said.onerror = (event) => {
      if (turn !== this.turn || ["canceled", "interrupted"].includes(event.error)) return;
      this.pause();
      this.line.textContent = "The voice stopped. Choose another one, or play again.";
    };
    this.line.textContent = "";
    this.setPlaying(true);
    this.mark(from, to);
    this.speech.speak(said);
  }

  /** Whether a box is wholly in view. @param {DOMRect} box */
  isSeen(box) {
    const view = this.frame.scroller.getBoundingClientRect();
    return box.height > 0 && box.top >= view.top && box.bottom <= view.bottom && box.left >= view.left - 4 && box.right <= view.right + 4;
  }

  /** Shows the sentence, and brings it into view. @param {number} from @param {number} to */
  mark(from, to) {
    const { units, layer } = this;
    const node = this.gists ? layer.drawn.get(this.unit)?.gist.querySelector(".gtext") : units.nodes[this.unit];
    if (!node) return;
    const range = rangeIn(node, from, to);
    paint("spoken", [range]);
    const follows = !this.range?.startContainer.isConnected || this.isSeen(this.range.getBoundingClientRect()); // else the person looks elsewhere
    this.range = range;
    if (!follows || this.isSeen(range.getBoundingClientRect())) return;
    if (this.gists) node.scrollIntoView({ block: "center" });
    else this.show({ paragraph: this.unit, at: from });
  }

  next() {
    const before = this.pageHere();
    if (this.sentence + 1 < this.sentences.length) this.sentence++;
    else {
      this.unit++;
      this.sentence = 0;
      this.load();
      if (this.text === null) return this.ended("The end");
    }
    const after = this.pageHere();
    if (chosen.stops && before !== null && after !== before) return this.ended(`Page ${before} ends here`);
    this.speak();
  }

  pageHere() {
    return this.gists ? this.unit : this.state.pageAt(this.unit, this.sentences[this.sentence]?.[0] ?? 0);
  }

  /** @param {string} line */
  ended(line) {
    this.pause();
    this.line.textContent = line;
  }

  /** @param {number} step */
  skip(step) {
    if (step > 0) return this.next();
    if (this.sentence > 0) this.sentence--;
    else if (this.unit > (this.gists ? 1 : 0)) {
      this.unit--;
      this.load();
      this.sentence = Math.max(0, this.sentences.length - 1);
    }
    this.speak();
  }

  toggle() {
    if (this.playing) this.pause();
    else if (this.text === null || this.text === undefined) this.begin();
    else this.speak();
  }

  // Stopping and saying the sentence again works in every browser; pausing does not.
  pause() {
    this.turn++;
    this.range = null; // going on comes back to the sentence
    this.speech?.cancel();
    this.setPlaying(false);
  }

  /** @param {Partial<typeof chosen>} values */
  change(values) {
    Object.assign(chosen, values);
    if (this.playing) this.speak();
  }

  /** @param {boolean} playing */
  setPlaying(playing) {
    this.playing = playing;
    const fresh = button("", () => this.toggle(), { kind: "icon", icon: playing ? "pause" : "play", name: playing ? "Pause" : "Play" });
    const hadFocus = focused(this.node) === this.play;
    this.play.replaceWith(fresh);
    this.controls[1] = this.play = fresh;
    if (hadFocus) fresh.focus();
  }

  close() {
    if (!this.opened) return false;
    this.pause();
    paint("spoken", []);
    this.text = undefined;
    this.node.hidden = true;
    this.changed();
    return true;
  }
}
