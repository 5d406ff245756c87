// Two small lists: the conversations of a book, and questions to ask with one click.

class Conversations {
  constructor(root, { send }) {
    this.root = root;
    this.send = send;
  }

  update({ items, now, language }) {
    this.root.replaceChildren(el("ul", { class: "convs" }, ...items.map(({ id, title, about }) => {
      const name = el("span", { class: "name", lang: language, dir: "auto" });
      name.textContent = title;
      return el("li", {}, el("button", { type: "button", "aria-current": id === now ? "true" : null,
        onclick: () => this.send({ do: "conversation", text: id }) }, name, el("span", { class: "small dim" }, about)));
    })));
  }
}

class Suggestions {
  constructor(root, { send }) {
    this.root = root;
    this.send = send;
  }

  update(data) {
    this.data = data;
    this.close();
    this.deaf = hear(data.talk, () => this.draw());
    this.draw();
  }

  close() {
    this.deaf?.();
  }

  // None while an answer is under way: what was just asked is among them.
  draw() {
    const { items, language, talk } = this.data;
    if (talkOf(talk).now?.running) return void this.root.replaceChildren();
    const said = items.map(({ text, whole }) => {
      const one = el("button", { type: "button", class: "btn slim", lang: language,
        onclick: () => this.send({ do: "ask", text, page: whole ? 1 : 0 }) });
      one.textContent = text;
      return one;
    });
    this.root.replaceChildren(el("div", { class: "sug", role: "group", "aria-label": "Questions to ask" }, ...said));
  }
}
