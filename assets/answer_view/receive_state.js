// The entry of an invisible component: hands what the server sends to every part that shows it.

import { conversationOf, receive } from "./conversation_state.js";

/**
 * @import { AskState } from "../protocol.js"
 * @import { Component } from "../shared/mount.js"
 */

/** @param {Component<AskState>} component */
export default function mount({ data: [data] }) {
  receive(conversationOf(data.book), data);
}
