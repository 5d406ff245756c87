// The entry of an invisible component: puts a batch of pages into the store.

import { storePages } from "./book_store.js";

export default function mount({ data: [data] }) {
  storePages(data);
}
