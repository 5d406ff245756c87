// Says to screen readers how far the gists are, at most every five seconds.

/** @import { GistsLine } from "../protocol.js" */

const APART_MS = 5000;

export class GistsSaid {
  /** @param {(text: string) => void} say */
  constructor(say) {
    this.sayNow = say;
    this.said = "";
    this.spoke = -APART_MS; // when, in milliseconds of performance.now()
  }

  close() {
    clearTimeout(this.timer);
  }

  /** @param {GistsLine} line */
  say({ running, line }) {
    if (!running || this.said === line) return;
    clearTimeout(this.timer);
    const wait = this.spoke + APART_MS - performance.now();
    this.timer = setTimeout(() => this.speak(line), Math.max(0, wait));
  }

  /** @param {string} line */
  speak(line) {
    this.spoke = performance.now();
    this.said = line;
    this.sayNow(`Gists: ${line}`);
  }
}
