// The entry of an invisible component: puts the marks of a book into the store of the tab, and sends what the person
// changes or asks, each as a state value, so that the reader itself is not drawn again.

import { mountParts } from "../shared/mount.js";
import { marksOf, sendPending, storeMarks } from "./marks_store.js";

/**
 * @import { MarksData, PassageData } from "../protocol.js"
 * @import { Api } from "../shared/mount.js"
 */

class Marks {
  /** @param {HTMLElement} _root @param {Api} api */
  constructor(_root, { setState }) {
    this.send = setState;
  }

  /** @param {MarksData} data */
  update(data) {
    storeMarks(data);
    const store = marksOf(data.book);
    const begins = !store.send;
    store.send = this.send;
    if (begins) sendPending(store);
    this.close = () => {
      if (store.send === this.send) store.send = null; // else the next part has come before this one went
    };
  }
}

class Passage {
  /** @param {PassageData} data */
  update(data) {
    const store = marksOf(data.book);
    store.passage = data;
    if (store.asked && data.at < store.asked.at) store.send?.("asked", store.asked); // a request that crosses a poll can be lost
    store.dispatchEvent(new Event("passage"));
  }
}

export default mountParts({ marks: Marks, passage: Passage });
