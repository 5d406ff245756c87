// The entry of an invisible component: puts a batch of text into the store.

import { storeText } from "./text_store.js";

/**
 * @import { TextBatch } from "../protocol.js"
 * @import { Component } from "../shared/mount.js"
 */

/** @param {Component<TextBatch>} component */
export default function mount({ data: [data] }) {
  storeText(data);
}
