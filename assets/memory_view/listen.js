// Reads the text or the gists aloud, sentence by sentence, and marks the sentence.

import { button, el, focused } from "../shared/dom.js";
import { tabState } from "../shared/tab_state.js";
import { ChapterSound } from "./chapter_sound.js";
import { paint } from "./mark_kinds.js";
import { MoreVoices } from "./more_voices.js";
import { sentencesOf } from "./sentences.js";
import { BrowserSpeech, ComputerSpeech, keepChosen } from "./speech.js";
import { rangeIn } from "./text_places.js";

/**
 * @import { Toast } from "../shared/toast.js"
 * @import { Frame } from "./frame.js"
 * @import { Layer } from "./layer.js"
 * @import { ReadingState, Show } from "./state.js"
 * @import { Units } from "./units.js"
 */

const RATES = [0.75, 1, 1.25, 1.5, 1.75, 2];
const COMPUTER = "computer:"; // before the name of a voice whose sound the server makes
const chosen = tabState("listening", () => ({ rate: 1, voice: "", stops: false, known: false }));

export class Listen {
  /**
   * @param {{state: ReadingState, frame: Frame, units: Units, layer: Layer, toast: Toast, show: Show, changed: () => void}} needs
   */
  constructor({ state, frame, units, layer, toast, show, changed }) {
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
    this.listing = 0; // the last list of voices that was asked for
    /** @type {Range | null} that is marked */
    this.range = null;
    this.browser = new BrowserSpeech();
    this.computer = new ComputerSpeech();
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
    this.more = new MoreVoices(() => this.listVoices());
    this.moreButton = button("Voices", () => this.toggleMore(), { kind: "quiet slim voicesb", "aria-expanded": "false" });
    const voice = () => this.voice.value.replace(COMPUTER, "");
    this.chapter = new ChapterSound({ state, toast, voice, words: (text, sentence) => this.words(text, sentence) });
    this.controls = [
      button("", () => this.skip(-1), { kind: "quiet icon", icon: "left", name: "Previous sentence" }),
      this.play,
      button("", () => this.skip(1), { kind: "quiet icon", icon: "right", name: "Next sentence" }),
      this.rate,
      this.voice,
      el("label", { class: "small stops" }, this.stops, " Stop at the page's end"),
      this.chapter.button,
    ];
    this.node = el(
      "div",
      { class: "listen", hidden: true, role: "group", "aria-label": "Listen" },
      ...this.controls,
      this.moreButton,
      this.line,
      el("span", { class: "gap" }),
      button("", () => this.close(), { kind: "quiet icon slim shut", icon: "close", name: "Stop listening" }),
      this.more.node,
    );
  }

  /** What says a sentence with the chosen voice. */
  get speech() {
    return this.voice.value.startsWith(COMPUTER) ? this.computer : this.browser;
  }

  get language() {
    return this.state.book.outline.language.split("-")[0];
  }

  get opened() {
    return !this.node.hidden;
  }

  /** Whether the bar is in view: without furniture it goes away with the others. */
  get seen() {
    return this.node.checkVisibility();
  }

  /** Opens the bar and begins; pressed again, pauses or goes on. Without voices it looks for them again. */
  async open() {
    if (this.opened && this.voice.length) return this.toggle();
    this.node.hidden = false;
    this.changed();
    if (await this.listVoices()) this.begin();
  }

  /**
   * Lists the voices of this computer and of the browser; whether there are any. The one that was chosen last stays chosen,
   * where it is there. False also where the bar was closed meanwhile, or the voices were listed again.
   */
  async listVoices() {
    const listing = ++this.listing;
    const known = await this.more.load(this.language);
    const own = await this.browser.voices(this.language, !known?.here.length);
    if (!this.opened || listing !== this.listing) return false;
    if (known && !chosen.known) Object.assign(chosen, known.chosen, { known: true });
    /** @param {{name: string, title: string}} voice */
    const ofComputer = ({ name, title }) => el("option", { value: COMPUTER + name }, title);
    const here = this.computer.voices(this.language, known?.here ?? []).map(ofComputer);
    const ofBrowser = own.map(({ voiceURI, name }) => el("option", { value: voiceURI }, name));
    this.voice.replaceChildren(
      ...(here.length
        ? [el("optgroup", { label: "On this computer" }, ...here), el("optgroup", { label: "Of this browser" }, ...ofBrowser)]
        : ofBrowser),
    );
    const options = [...here, ...ofBrowser];
    const best = options.find((option) => option.value === chosen.voice) ?? options[0];
    if (best) best.selected = true;
    this.rate.value = String(chosen.rate);
    for (const part of this.controls) part.hidden = !best;
    this.line.textContent = best ? "" : "There is no voice to read with yet.";
    this.moreButton.hidden = !best; // what it shows is shown
    this.more.only = !best;
    if (!best) this.toggleMore(true);
    this.showSave();
    return Boolean(best);
  }

  toggleMore(open = this.more.node.hidden) {
    this.more.toggle(open);
    this.moreButton.setAttribute("aria-expanded", String(open));
  }

  showSave() {
    this.chapter.button.hidden = this.speech !== this.computer || this.state.folded;
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

  /** The text of a paragraph or gist; null after the end. @param {number} unit */
  textOf(unit) {
    return (this.gists ? this.state.pages[unit - 1]?.gist?.text : this.state.book.text[unit]) ?? null;
  }

  load() {
    this.text = this.textOf(this.unit);
    this.sentences = this.text === null ? [] : sentencesOf(this.text, this.state.book.outline.language);
  }

  /** What is said of a text. @param {string} text @param {[number, number]} sentence */
  words(text, [from, to]) {
    const { emphasis } = this.state.book.outline;
    return emphasis ? text.slice(from, to).replaceAll(emphasis, "") : text.slice(from, to);
  }

  /** The words of the sentence after this one; "" where none comes soon. */
  wordsAfter() {
    const here = this.sentences[this.sentence + 1];
    if (here) return this.words(this.text ?? "", here);
    const text = this.textOf(this.unit + 1) ?? "";
    const [first] = sentencesOf(text, this.state.book.outline.language);
    return first ? this.words(text, first) : "";
  }

  speak() {
    const turn = ++this.turn;
    this.stopSound();
    const sentence = this.sentences[this.sentence];
    if (!sentence) return this.next();
    this.line.textContent = "";
    this.setPlaying(true);
    this.mark(...sentence);
    this.speech.say({
      text: this.words(this.text ?? "", sentence),
      next: this.wordsAfter(),
      voice: this.voice.value.replace(COMPUTER, ""),
      rate: chosen.rate,
      ended: () => turn === this.turn && this.playing && this.next(),
      failed: (why) => turn === this.turn && this.ended(why),
    });
  }

  stopSound() {
    this.browser.stop();
    this.computer.stop();
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
    this.stopSound();
    this.setPlaying(false);
  }

  /** @param {Partial<typeof chosen>} values */
  change(values) {
    Object.assign(chosen, values);
    keepChosen(chosen);
    this.showSave();
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
