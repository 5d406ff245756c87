// The conversation: its exchanges in order, each drawn by its own part and drawn again only where it changed.

import { button, el } from "../shared/dom.js";
import { conversationOf, subscribe } from "./conversation_state.js";
import { Exchange } from "./exchange.js";

export class Conversation {
  constructor(root, { send }) {
    this.root = root;
    this.send = send;
    this.parts = new Map(); // exchange id -> {node, part}
  }

  /** @param {import("./types.js").ConversationData} data */
  update(data) {
    this.data = data;
    this.finished = new Map(data.records.map((record) => [record.id, record]));
    this.close();
    this.unsubscribe = subscribe(data.book, () => this.draw());
  }

  close() {
    this.unsubscribe?.();
  }

  draw() {
    const { now, step } = conversationOf(this.data.book);
    const { order, records, exchange, views, running } = now;
    for (const [id, { node, part }] of this.parts) {
      if (order.includes(id)) continue;
      part.close();
      node.remove();
      this.parts.delete(id);
    }
    const nodes = this.data.earlier && order.length ? [this.earlier()] : [];
    for (const id of order) {
      const replayed = id === exchange && !running ? views[step]?.record : null;
      const record = replayed ?? records[id] ?? this.finished.get(id);
      if (record) this.part(id).update({ ...record, current: id === exchange, among: order.length > 1 });
      if (this.parts.has(id)) nodes.push(this.parts.get(id).node);
    }
    if (!order.length) nodes.push(el("p", { class: "small dim" }, this.data.empty));
    nodes.forEach((node, i) => {
      if (this.root.children[i] !== node) this.root.insertBefore(node, this.root.children[i] ?? null);
    });
    while (this.root.children.length > nodes.length) this.root.lastElementChild.remove();
  }

  part(id) {
    if (!this.parts.has(id)) {
      const node = el("section", { "data-kind": "exchange" });
      this.parts.set(id, { node, part: new Exchange(node, { send: (act) => this.send({ ...act, of: id }) }) });
    }
    return this.parts.get(id).part;
  }

  earlier() {
    return button(this.data.earlier, () => this.send({ do: "earlier" }), { kind: "quiet slim earlier" });
  }
}
