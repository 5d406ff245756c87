// The entry of an invisible component: puts a batch of text into the store.

import { storeText } from "./text_store.js";

export default function mount({ data: [data] }) {
  storeText(data);
}
