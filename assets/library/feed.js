// The entry of an invisible component, which asks the server for what the library's screen needs later: pictures of the
// covers in view, the places of a text search, and how far the gists are that are being made.
// It polls by itself: a second element beside it would at times lose its place when two runs follow each other closely.

import { mountParts } from "../shared/mount.js";
import { arrived, buttonAnswered, delayForPolling } from "../shared/navigation.js";
import { receive, request, store } from "./store.js";

const RETRY_SECONDS = 4; // after which a poll without an answer is sent again

class Feed {
  constructor(root, api) {
    this.api = api;
    this.turn = 0;
    this.polled = false; // whether the next answer is that of a poll
    this.ask = () => api.setState("ask", { ...request(), turn: this.turn });
    store.addEventListener("ask", this.ask);
    arrived();
  }

  /** @param {{seconds: number | null, covers: object, gists: object, found: object | null}} data `seconds`: to the next poll */
  update(data) {
    if (!this.turn && (store.wanted.size || store.query)) this.ask(); // asked before there was a feed
    this.turn += 1;
    if (!this.polled) buttonAnswered(); // a click caused this run, not a poll
    this.polled = false;
    clearTimeout(this.timer);
    if (data.seconds) this.wait(data.seconds);
    receive(data);
  }

  wait(seconds) {
    this.timer = setTimeout(() => this.poll(), 1000 * seconds);
  }

  poll() {
    const delay = delayForPolling();
    if (delay > 0) return void this.wait(delay / 1000);
    this.polled = true;
    this.turn += 1;
    this.wait(RETRY_SECONDS);
    this.ask();
  }

  close() {
    clearTimeout(this.timer);
    store.removeEventListener("ask", this.ask);
  }
}

export default mountParts({ feed: Feed });
