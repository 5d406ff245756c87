// The conversation: its exchanges in order, each drawn by its own part and drawn again only where it changed.

class Talk {
  constructor(root, { send }) {
    this.root = root;
    this.send = send;
    this.parts = new Map(); // exchange id -> {node, part}
  }

  update(data) {
    this.data = data;
    this.kept = new Map(data.records.map((record) => [record.id, record]));
    this.close();
    this.deaf = hear(data.talk, () => this.draw());
  }

  close() {
    this.deaf?.();
  }

  draw() {
    const talk = talkOf(this.data.talk);
    const { order, records, exchange, views, running } = talk.now;
    for (const [id, { node, part }] of this.parts) if (!order.includes(id)) (part.close(), node.remove(), this.parts.delete(id));
    const nodes = this.data.earlier && order.length ? [this.earlier()] : [];
    for (const id of order) {
      const step = id === exchange && !running ? views[talk.at]?.record : null;
      const record = step ?? records[id] ?? this.kept.get(id);
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
