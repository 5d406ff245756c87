// The entry of an invisible component, which asks the server for what the library's screen needs later: pictures of the
// covers in view, the places of a text search, and how far the gists are that are being made.

import { mountParts } from "../shared/mount.js";
import { receive, request, store } from "./store.js";

/**
 * @import { FeedData } from "../protocol.js"
 * @import { Api } from "../shared/mount.js"
 */

class Feed {
  /** @param {HTMLElement} _root @param {Api} api */
  constructor(_root, api) {
    this.heard = false;
    this.ask = () => api.setState("ask", request());
    store.addEventListener("ask", this.ask);
  }

  /** @param {FeedData} data */
  update(data) {
    if (!this.heard && (store.wanted.size || store.query)) this.ask(); // asked before there was a feed
    this.heard = true;
    receive(data);
  }

  close() {
    store.removeEventListener("ask", this.ask);
  }
}

export default mountParts({ feed: Feed });
