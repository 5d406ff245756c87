// Changes one gist: by hand, by asking the model again, or by reading again from that page.

import { button, el } from "../shared/dom.js";

export class Editor {
  constructor(reader) {
    this.reader = reader;
    this.page = 0; // the page whose gist is open, 0 for none
  }

  open(n) {
    this.close();
    const node = this.reader.leaves.get(n);
    const gist = this.reader.book.pages[n - 1].g;
    const area = el("textarea", { rows: 9, "aria-label": `Gist of page ${n}`, dir: "auto" });
    area.value = gist.t;
    const instruction = el("input", { type: "text", class: "wish", "aria-label": "What the new gist should say",
      placeholder: "What it should say (optional)" });
    const act = (what, text) => () => (this.close(), this.reader.send({ do: what, page: n, text: text() }));
    const confirm = () => {
      if (this.confirmed) return act("reread", () => "")();
      this.confirmed = true;
      again.textContent = `Delete pages ${n}–${this.reader.leaves.size} and read them again?`;
    };
    const again = button("Read again from here", confirm, { kind: "slim quiet" });
    this.confirmed = false;
    const form = el("div", { class: "edit" }, area,
      el("div", { class: "erow" }, button("Save", act("save", () => area.value), { kind: "slim go" }),
        button("Cancel", () => this.close(), { kind: "slim quiet" })),
      instruction,
      el("div", { class: "erow" }, button("Make the gist again", act("regenerate_gist", () => instruction.value), { kind: "slim" }), again));
    this.page = n;
    this.body = node.querySelector(".gbody");
    this.body.hidden = true;
    node.classList.add("editing");
    this.body.after(form);
    area.focus();
  }

  close() {
    if (!this.page) return;
    const node = this.reader.leaves.get(this.page);
    this.page = 0;
    node?.classList.remove("editing");
    node?.querySelector(".edit")?.remove();
    if (this.body) this.body.hidden = false;
    node?.focus({ preventScroll: true });
  }
}
