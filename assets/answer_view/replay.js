// The bar over Ask: the steps of an answer, gone through by click or by the keys [ and ].

const NEW = "A new conversation. Whatever is asked is answered from the memory of this book, shown below.";

class Replay {
  constructor(root, { send, keep }) {
    this.root = root;
    this.send = send;
    this.keep = keep;
    this.onkey = (e) => {
      if (typing(e) || e.ctrlKey || e.metaKey || e.altKey) return;
      if (e.key === "[") this.go(this.talk.at - 1);
      if (e.key === "]") this.go(this.talk.at + 1);
    };
    document.addEventListener("keydown", this.onkey);
  }

  close() {
    document.removeEventListener("keydown", this.onkey);
    this.deaf?.();
  }

  update({ talk }) {
    this.talk = talkOf(talk);
    this.deaf?.();
    this.deaf = hear(talk, () => this.draw());
  }

  go(at) {
    const { running, exchange, steps } = this.talk.now;
    if (running || !exchange || at < 0 || at >= steps.length || at === this.talk.at) return;
    goToStep(this.talk, at);
    // kept, not sent: a value that is kept goes along with every run, so no step is lost however fast they come
    this.keep("step", { of: exchange, at, turn: Date.now() });
  }

  draw() {
    const { exchange, running, steps, link } = this.talk.now;
    const at = this.talk.at;
    const key = JSON.stringify([exchange, running, steps, at]);
    if (key === this.drawn) return;
    this.drawn = key;
    if (!exchange) return void this.root.replaceChildren(el("p", { class: "small dim" }, NEW));
    const held = this.root.getRootNode().activeElement?.dataset?.key;
    const list = el("ol", { class: "steps" }, ...steps.map((title, i) =>
      el("li", {}, el("button", { type: "button", "data-key": `s${i}`, "aria-current": i === at ? "step" : null, "aria-label": title,
        onclick: () => this.go(i) }, el("span", { class: "num" }, String(i + 1)), title))));
    const back = button(null, () => this.go(at - 1), { kind: "quiet icon", icon: "left", name: "Step back", "data-key": "back" });
    const on = button(null, () => this.go(at + 1), { kind: "quiet icon", icon: "right", name: "Step on", "data-key": "on" });
    back.disabled = running || at <= 0;
    on.disabled = running || at >= steps.length - 1;
    const share = button("Copy link", (e) => copyText(new URL(`${link}${at + 1}`, location.href.split("?")[0]).href, e.currentTarget), { kind: "quiet slim notnarrow" });
    const prompt = button("Prompt and reply", () => this.send({ do: "prompt", page: at }), { kind: "quiet slim" });
    this.root.replaceChildren(el("strong", { class: "small notnarrow" }, "Replay"), back, list, on, el("span", { class: "sp" }), prompt, share);
    if (held) this.root.querySelector(`[data-key="${held}"]`)?.focus();
  }
}
