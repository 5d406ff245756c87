// The entry of an invisible component: puts a batch of pages into the store.

import { storePages } from "./book_store.js";

/**
 * @import { PageBatch } from "../protocol.js"
 * @import { Component } from "../shared/mount.js"
 */

/** @param {Component<PageBatch>} component */
export default function mount({ data: [data] }) {
  storePages(data);
}
