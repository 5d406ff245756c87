// The entry of an invisible component: hands what the server sends to every part that shows it.

import { conversationOf, receive } from "./conversation_state.js";

export default function mount({ data: [data] }) {
  receive(conversationOf(data.book), data);
}
