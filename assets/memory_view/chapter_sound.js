// Saves the chapter that is read as one sound file, with a voice on this computer.

import { button } from "../shared/dom.js";
import { sentencesOf } from "./sentences.js";
import { joinSounds } from "./sound_file.js";
import { askSound } from "./speech.js";
import { chapterOf, sectionAt } from "./text_store.js";

/**
 * @import { Toast } from "../shared/toast.js"
 * @import { ReadingState } from "./state.js"
 */

const LABEL = "Save chapter";

export class ChapterSound {
  /**
   * `voice`: the one that is chosen; `words`: what is said of a text.
   * @param {{state: ReadingState, toast: Toast, voice: () => string, words: (text: string, sentence: [number, number]) => string}} needs
   */
  constructor({ state, toast, voice, words }) {
    this.state = state;
    this.toast = toast;
    this.voice = voice;
    this.words = words;
    this.running = false;
    this.button = button(LABEL, () => this.press(), { kind: "quiet slim savesound", title: "Save this chapter as a sound file" });
  }

  press() {
    if (this.running)
      this.running = false; // the sentence that is made now is the last one
    else this.save();
  }

  async save() {
    const { book, here } = this.state;
    const [first, end] = chapterOf(book, here.paragraph);
    const texts = book.text.slice(first, end).filter((text) => text !== undefined); // what has not come yet is a hole
    if (texts.length < end - first) return this.toast.say("This chapter is still on its way. Try again in a moment.");
    const name = [book.outline.title, sectionAt(book, first)].filter(Boolean).join(" - ");
    const voice = this.voice();
    const said = texts.flatMap((text) => [...sentencesOf(text, book.outline.language).map((one) => this.words(text, one)), null]);
    this.running = true;
    /** @type {(ArrayBuffer | null)[]} */
    const sounds = [];
    let why = "The chapter was not saved.";
    try {
      for (const [i, words] of said.entries()) {
        if (!this.running) break;
        this.button.textContent = `Saving ${Math.floor((100 * i) / said.length)} %`;
        this.button.title = "Cancel";
        sounds.push(words === null ? null : await (await askSound(voice, words)).arrayBuffer());
      }
    } catch (problem) {
      why = `${problem instanceof Error ? problem.message : problem} ${why}`;
    }
    if (sounds.length === said.length) give(new Blob(joinSounds(sounds), { type: "audio/wav" }), `${name}.wav`);
    this.toast.say(sounds.length === said.length ? "The sound file is among your downloads." : why);
    this.running = false;
    this.button.textContent = LABEL;
    this.button.title = "Save this chapter as a sound file";
  }
}

/** @param {Blob} file @param {string} name */
function give(file, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(file), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
