// Changing one gist: by hand, by asking the model again, or by reading on afresh from that page.

class Editor {
  constructor(reader) {
    this.reader = reader;
    this.page = 0;
  }

  open(n) {
    this.shut();
    const node = this.reader.leaves.get(n);
    const gist = this.reader.book.pages[n - 1].g;
    const area = el("textarea", { rows: 9, "aria-label": `Gist of page ${n}`, dir: "auto" });
    area.value = gist.t;
    const wish = el("input", { type: "text", class: "wish", "aria-label": "What the new gist should keep",
      placeholder: "What to keep (optional)" });
    const tell = (what, text) => () => (this.shut(), this.reader.send({ do: what, page: n, text: text() }));
    const warned = () => {
      if (this.sure) return tell("reread", () => "")();
      this.sure = true;
      again.textContent = `Forget pages ${n}–${this.reader.leaves.size} and read on?`;
    };
    const again = button("Read again from here", warned, { kind: "slim quiet" });
    this.sure = false;
    const form = el("div", { class: "edit" }, area,
      el("div", { class: "erow" }, button("Save", tell("save", () => area.value), { kind: "slim go" }),
        button("Cancel", () => this.shut(), { kind: "slim quiet" })),
      wish,
      el("div", { class: "erow" }, button("Gist again", tell("regenerate_gist", () => wish.value), { kind: "slim" }), again));
    this.page = n;
    this.back = node.querySelector(".gbody");
    this.back.hidden = true;
    node.classList.add("editing");
    this.back.after(form);
    area.focus();
  }

  shut() {
    if (!this.page) return;
    const node = this.reader.leaves.get(this.page);
    this.page = 0;
    node?.classList.remove("editing");
    node?.querySelector(".edit")?.remove();
    if (this.back) this.back.hidden = false;
    node?.focus({ preventScroll: true });
  }
}
