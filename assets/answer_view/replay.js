// The bar over Ask: the steps of an answer, gone through by click or by the keys [ and ].

class Replay {
  constructor(root, { send, keep }) {
    this.root = root;
    this.send = send;
    this.keep = keep;
    this.onkey = (e) => {
      if (typing(e) || e.ctrlKey || e.metaKey || e.altKey) return;
      if (e.key === "[") this.go(this.at - 1);
      if (e.key === "]") this.go(this.at + 1);
    };
    document.addEventListener("keydown", this.onkey);
  }

  close() {
    document.removeEventListener("keydown", this.onkey);
  }

  update(data) {
    if (data.at === this.mine || this.data?.id !== data.id || this.data?.steps.length !== data.steps.length) this.mine = null;
    this.data = data;
    this.at = this.mine ?? data.at; // a click that is still on its way stays shown
    this.draw();
  }

  go(at) {
    if (at < 0 || at >= this.data.steps.length || at === this.at) return;
    this.at = at;
    this.draw();
    // kept, not sent: a value that is kept goes along with every run, so no step is lost however fast they come
    this.keep("step", { id: this.data.id, at, turn: Date.now() });
    this.mine = at;
  }

  draw() {
    const { steps, link } = this.data;
    const held = this.root.getRootNode().activeElement?.dataset?.key;
    const list = el("ol", { class: "steps" }, ...steps.map((title, i) =>
      el("li", {}, el("button", { type: "button", "data-key": `s${i}`, "aria-current": i === this.at ? "step" : null, "aria-label": title,
        onclick: () => this.go(i) }, el("span", { class: "num" }, String(i + 1)), title))));
    const back = button(null, () => this.go(this.at - 1), { kind: "quiet icon", icon: "left", name: "Step back", "data-key": "back" });
    const on = button(null, () => this.go(this.at + 1), { kind: "quiet icon", icon: "right", name: "Step on", "data-key": "on" });
    back.disabled = this.at <= 0;
    on.disabled = this.at >= steps.length - 1;
    const share = button("Copy link", (e) => copyText(new URL(link, location.href.split("?")[0]).href, e.currentTarget), { kind: "quiet slim notnarrow" });
    const prompt = button("Prompt and reply", () => this.send({ do: "prompt", page: this.at }), { kind: "quiet slim" });
    this.root.replaceChildren(el("strong", { class: "small notnarrow" }, "Replay"), back, list, on, el("span", { class: "sp" }), prompt, share);
    if (held) this.root.querySelector(`[data-key="${held}"]`)?.focus();
  }
}
