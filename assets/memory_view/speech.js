// What says a sentence: the browser itself, or a voice on this computer whose sound the server makes.

import { askPages, pagesUrl } from "../pdf_page/pages_server.js";

/**
 * @import { ComputerVoice } from "../protocol.js"
 *
 * @typedef {object} Said
 * @property {string} text
 * @property {string} next what follows; "" where nothing does
 * @property {string} voice
 * @property {number} rate
 * @property {() => void} ended
 * @property {(why: string) => void} failed
 */

const VOICES_MS = 2_000; // some browsers name their voices a moment late
const KEPT = 4; // sounds: of the sentence that is said, of the next, and of those before for going back

export class BrowserSpeech {
  get speech() {
    return globalThis.speechSynthesis;
  }

  /** The voices of a language, else all; `patient`: waits for them. @param {string} language @param {boolean} patient */
  async voices(language, patient) {
    const { speech } = this;
    if (!speech) return [];
    if (patient && !speech.getVoices().length) {
      await new Promise((done) => {
        speech.addEventListener?.("voiceschanged", done, { once: true });
        setTimeout(done, VOICES_MS);
      });
    }
    const all = speech.getVoices();
    const own = all.filter((voice) => voice.lang.toLowerCase().startsWith(language));
    return own.length ? own : all;
  }

  /** @param {Said} said */
  say({ text, voice: id, rate, ended, failed }) {
    const said = Object.assign(new SpeechSynthesisUtterance(text), { rate });
    const voice = this.speech.getVoices().find((one) => one.voiceURI === id);
    if (voice) Object.assign(said, { voice, lang: voice.lang });
    said.onend = ended;
    said.onerror = (event) => {
      if (!["canceled", "interrupted"].includes(event.error)) failed("The voice stopped. Choose another one, or play again.");
    };
    this.speech.speak(said);
  }

  stop() {
    this.speech?.cancel();
  }
}

/** While a sentence is heard, the sound of the next one is made. */
export class ComputerSpeech {
  audio = new Audio();
  turn = 0; // what was begun before the last one counts no more
  /** @type {Map<string, Promise<Blob>>} */
  sounds = new Map();

  /** The voices of a language, else all. @param {string} language @param {ComputerVoice[]} here */
  voices(language, here) {
    const own = here.filter((voice) => voice.language.toLowerCase().startsWith(language));
    return own.length ? own : here;
  }

  /** The sound of a text, made once. Throws an Error that says why there is none. @param {string} voice @param {string} text */
  sound(voice, text) {
    const key = `${voice}\n${text}`;
    const sound = this.sounds.get(key) ?? askSound(voice, text);
    this.sounds.delete(key);
    this.sounds.set(key, sound);
    sound.catch(() => this.sounds.delete(key));
    for (const old of [...this.sounds.keys()].slice(0, -KEPT)) this.sounds.delete(old);
    return sound;
  }

  /** @param {Said} said */
  async say({ text, next, voice, rate, ended, failed }) {
    const turn = ++this.turn;
    try {
      const sound = await this.sound(voice, text);
      if (turn !== this.turn) return;
      URL.revokeObjectURL(this.audio.src);
      Object.assign(this.audio, { src: URL.createObjectURL(sound), defaultPlaybackRate: rate, playbackRate: rate, onended: ended });
      if (next) this.sound(voice, next).catch(() => {}); // where it fails it is asked for again, and said then
      await this.audio.play();
    } catch (problem) {
      if (turn === this.turn) failed(problem instanceof Error ? problem.message : String(problem));
    }
  }

  stop() {
    this.turn++;
    this.audio.pause();
  }
}

/** @param {string} voice @param {string} text @returns {Promise<Blob>} */
export async function askSound(voice, text) {
  const send = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ voice, text }) };
  const answer = await fetch(pagesUrl("voice/say"), send).catch(() => null);
  if (!answer) throw new Error("ReadAgent cannot be reached. Check that it is still running, then play again.");
  if (answer.ok) return answer.blob();
  throw new Error((await answer.json().catch(() => null))?.text ?? "The sound did not arrive. Play again.");
}

/** Keeps the voice and the speed that a person chose. @param {{voice: string, rate: number}} chosen */
export const keepChosen = ({ voice, rate }) => askPages("voice/choose", { voice, rate });
