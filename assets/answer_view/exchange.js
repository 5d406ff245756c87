// One question and its answer: who answers, the look-ups with their reasons, the answer with its claims, the cost.
// A section is drawn again only when its own data changed, so a button is not replaced while a person presses it.

import { button, copyText, el, icon } from "../shared/dom.js";
import { conversationOf } from "./conversation_state.js";
import { ColumnScroll } from "./scroll.js";
import { showMemory } from "./sides.js";

export class Exchange {
  constructor(root, { send }) {
    this.root = root;
    this.send = send;
    this.sections = {};
    this.drawn = {}; // section -> the data it was drawn from
    const order = ["question", "signer", "looks", "answer", "working", "trouble", "foot"];
    for (const name of order) this.sections[name] = el("div", { class: name });
    this.sections.answer.setAttribute("aria-live", "polite");
    root.replaceChildren(...order.map((name) => this.sections[name]));
  }

  close() {
    this.scroll?.remove(this.root);
  }

  /** @param {import("./types.js").ExchangeRecord} data */
  update(data) {
    const first = !this.data;
    this.data = data;
    this.root.classList.toggle("current", Boolean(data.current && data.among));
    this.root.ariaCurrent = data.current ? "true" : null;
    this.root.lang = "en";
    const parts = {
      question: [data.question, data.options, data.understood],
      signer: [data.signature, data.asked],
      looks: [data.looks, data.language],
      working: [data.running, data.status, data.hurry],
      answer: [data.pieces, data.loose, data.running, data.before, data.notFound, data.acts, data.hidden, data.originals],
      trouble: [data.trouble, data.notes, data.again, data.acts],
      foot: [data.running, data.cost, data.details, data.legend, data.acts, data.again, data.methods, data.current, data.among, data.kept],
    };
    for (const [name, values] of Object.entries(parts)) {
      const key = JSON.stringify(values);
      if (this.drawn[name] === key) continue;
      this.drawn[name] = key;
      this.sections[name].replaceChildren(...this[name]().filter(Boolean));
    }
    this.sections.answer.setAttribute("aria-busy", data.running ? "true" : "false");
    if (first) {
      requestAnimationFrame(() => {
        this.scroll = ColumnScroll.of(this.root);
        if (data.alone) this.scroll?.toTop();
        else this.scroll?.add(this.root, data);
      });
    }
  }

  question() {
    const { question, options, understood } = this.data;
    const out = [this.words("p", "qt", question)];
    if (understood) {
      out.push(el("p", { class: "understood small" }, "Understood as: ", this.words("span", "", understood)));
    }
    if (options?.length) {
      out.push(
        el(
          "ol",
          { class: "options" },
          ...options.map(({ letter, text, chosen }) =>
            el(
              "li",
              { class: chosen ? "chosen" : "" },
              el("span", { class: "letter" }, letter),
              this.words("span", "", text),
              chosen ? el("span", { class: "small pick" }, "chosen") : null,
            ),
          ),
        ),
      );
    }
    return out;
  }

  // The line above the answer that says who answered, with an icon for each kind.
  signer() {
    const {
      signature: { kind, line },
      asked,
    } = this.data;
    const sign = { model: "plug", recording: "reels", builtin: "wordlines" }[kind];
    const [name] = { model: /^\S+/, recording: /^A recording/, builtin: /^[^:]*/ }[kind].exec(line) ?? [""];
    return [
      el(
        "p",
        { class: "signer small", "data-signer": kind },
        icon(sign),
        el("span", {}, el("b", {}, name), line.slice(name.length)),
        asked ? el("span", { class: "when" }, asked) : null,
      ),
    ];
  }

  looks() {
    return this.data.looks.map(({ title, said, quoted, more }) =>
      el(
        "div",
        { class: "step" },
        el("p", { class: "who small" }, icon("claim_page"), title),
        said ? this.words("p", "why", quoted ? `“${said}”` : said) : null,
        ...more.map((line) => el("p", { class: "small refused" }, line)),
      ),
    );
  }

  working() {
    if (!this.data.running) return [];
    const stop = button("Stop", () => this.send({ do: "stop" }), { kind: "slim stop", icon: "stop" });
    const hurry = this.data.hurry ? button("Try now", () => this.send({ do: "hurry" }), { kind: "slim hurry" }) : null;
    return [el("span", { class: "small status num", role: "status" }, this.data.status), hurry, stop];
  }

  answer() {
    const { pieces, loose, running, before, notFound, hidden } = this.data;
    if (hidden) return [this.hidden(hidden)];
    if (!pieces.length && !loose.length && !notFound) return [];
    const out = [before ? el("p", { class: "small before" }, before) : null];
    if (pieces.some((piece) => piece.shared)) return [...out, this.sentences(pieces)];
    const box = el("div", { class: "ans", lang: this.data.language, dir: "auto" });
    let line = null;
    const begin = () => box.append((line = el("p", { dir: "auto" })));
    for (const { text, cites } of pieces) {
      text.split(/\n\s*\n/).forEach((block, i, { length }) => {
        if (i || !line) begin();
        this.run(line, block, i === length - 1 ? cites : []);
      });
    }
    if (running && !line) begin();
    if (running) line.append(el("span", { class: "caret", "aria-hidden": "true" }));
    if (pieces.length) out.push(box);
    if (notFound) return [...out.slice(0, 1), this.missing(notFound, pieces.length ? box : null)];
    if (loose.length) {
      out.push(el("p", { class: "small loose" }, "Quoted: ", ...loose.flatMap((c) => [this.chip(c), " "])));
    }
    return out;
  }

  // Sentences copied by the built-in reader, each on a line of its own; the words that the question has too underlined.
  sentences(pieces) {
    const box = el("div", { class: "sentences", lang: this.data.language, dir: "auto" });
    for (const { text, cites, book, shared } of pieces) {
      if (!shared) {
        box.append(el("p", { class: "small dim" }, ...withEmphasis(text)));
        continue;
      }
      const line = el("p", { class: book ? "sentence book" : "sentence", dir: "auto" });
      let at = 0;
      for (const [start, end] of shared) {
        line.append(text.slice(at, start), el("u", {}, text.slice(start, end)));
        at = end;
      }
      line.append(text.slice(at), " ", ...cites.map((cite) => this.chip(cite, book)));
      box.append(line);
    }
    return box;
  }

  // The answer "not found": what was looked at, what the limit excluded, and what to do next.
  missing({ title, looked, kept_out }, said) {
    const { acts } = this.data;
    const ways = el("div", { class: "acts" });
    if (acts.includes("more")) ways.append(button("Look up more pages", () => this.send({ do: "more" }), { kind: "slim" }));
    if (acts.includes("whole")) {
      ways.append(button("Look through the whole text", () => this.send({ do: "method", text: "full-text" }), { kind: "slim" }));
    }
    return el(
      "div",
      { class: "missing" },
      el("p", {}, el("strong", {}, title)),
      said,
      el("p", { class: "small dim" }, [looked, kept_out].filter(Boolean).join(" ")),
      ways,
    );
  }

  hidden(why) {
    const within = this.data.acts.includes("within")
      ? button("Ask again within the limit", () => this.send({ do: "again" }), { kind: "slim" })
      : null;
    return el("div", { class: "missing" }, el("p", {}, icon("unseen"), " ", why), within && el("div", { class: "acts" }, within));
  }

  // Adds text with its *emphasis* as elements; the first claim's chip never breaks from the last word.
  run(line, text, cites) {
    const [, head, tail] = cites.length ? /^([\s\S]*?)(\S*\s*)$/.exec(text) : [null, text, ""];
    for (const node of withEmphasis(head)) line.append(node);
    if (!cites.length) return;
    const [first, ...more] = cites;
    line.append(el("span", { class: "glue" }, tail.trimEnd(), tail.trim() || head ? " " : null, this.chip(first)));
    for (const cite of more) line.append(" ", this.chip(cite));
    line.append(" ");
  }

  // A citation; where its words are on a page of a PDF that is stored, with a button that shows them there.
  chip(cite, isQuoted = cite.state === "page") {
    const { page, book, state, label, why, at } = cite;
    if (state === "pending") return el("span", { class: "cite pending" }, label);
    const kind = { page: "page", memory: "mem", copied: "mem", "not found": "none" }[state];
    const follow = () => ((page || book) && showMemory(), this.send({ do: "cite", page, text: String(at) }));
    const chip = el(
      "button",
      { type: "button", class: `cite ${kind}`, title: why, "aria-label": `${label}. ${why}`, "data-page": page, onclick: follow },
      state === "copied" ? null : icon(`claim_${state}`),
      label,
    );
    const original = this.data.originals?.[book ?? 0];
    if (!original || !isQuoted) return chip;
    const point = ({ currentTarget: back }) => {
      follow();
      conversationOf(original).dispatchEvent(new CustomEvent("original", { detail: { page, back } }));
    };
    return el(
      "span",
      { class: "pair" },
      chip,
      el(
        "button",
        { type: "button", class: "onpdf", title: "Show on the PDF page", "aria-label": `${label}: show on the PDF page`, onclick: point },
        "PDF",
      ),
    );
  }

  trouble() {
    const { trouble, notes } = this.data;
    const out = notes.map((text) => el("p", { class: "small noted" }, text));
    if (trouble) {
      const again = button(this.data.again, () => this.send({ do: "again" }), { kind: "slim" });
      const other = this.data.acts.includes("built-in")
        ? button("Ask the built-in reader", () => this.send({ do: "built-in" }), { kind: "quiet slim" })
        : null;
      const settings = this.data.acts.includes("settings")
        ? button("Open Settings", () => this.send({ do: "connect" }), { kind: "quiet slim" })
        : null;
      out.push(
        el(
          "div",
          { class: `note ${trouble.kind}`, role: "status" },
          el("p", {}, trouble.text),
          el("span", { class: "acts" }, again, other, settings),
        ),
      );
    }
    return out;
  }

  foot() {
    const { running, cost, details, legend, acts, methods, current, kept } = this.data;
    if (running) return [];
    const out = [];
    if (cost) {
      const bold = /^Read ([\d,]+) /.exec(cost);
      const line = el("p", { class: "cost small num" });
      const figures = cost.replace(/ s$/, "\u00a0s");
      if (bold) line.append("Read ", el("b", {}, bold[1]), figures.slice(bold[0].length - 1));
      else line.append(figures);
      out.push(line);
    }
    if (legend) out.push(el("p", { class: "legend small dim" }, legend));
    if (details?.length) {
      out.push(
        el("details", { class: "small dim" }, el("summary", {}, "What it cost"), ...details.map((d) => el("p", { class: "num" }, d))),
      );
    }
    const row = el("div", { class: "acts" });
    if (acts.includes("again")) row.append(button(this.data.again, () => this.send({ do: "again" }), { kind: "slim" }));
    if (acts.includes("method") && methods?.length) {
      const choose = el(
        "select",
        {
          class: "btn slim",
          "aria-label": "Ask again with another method",
          onchange: (e) => e.target.value && this.send({ do: "method", text: e.target.value }),
        },
        el("option", { value: "" }, "Another method"),
        ...methods.map(([name, title]) => el("option", { value: name }, title)),
      );
      row.append(choose);
    }
    if (acts.includes("copy")) row.append(button("Copy", (e) => copyText(this.data.plain, e.currentTarget), { kind: "quiet slim" }));
    if (kept && acts.includes("copy"))
      row.append(
        el(
          "span",
          { class: "small dim keptline", role: "status", title: "Beside the page it cites, and in the notes of the book" },
          "Kept",
        ),
        button("Undo", () => this.send({ do: "release" }), { kind: "quiet slim", "aria-label": "Do not keep this answer" }),
      );
    else if (acts.includes("copy"))
      row.append(
        button("Keep", () => this.send({ do: "keep" }), { kind: "quiet slim", title: "Put this answer beside the page it cites" }),
      );
    if (acts.includes("replay") && !current)
      row.append(button("Show in memory", () => this.send({ do: "replay" }), { kind: "quiet slim" }));
    if (row.children.length) out.push(row);
    if (acts.includes("connect")) {
      out.push(
        el(
          "p",
          { class: "small dim connect" },
          "A language model understands the question and the text. ",
          button("Connect a model", () => this.send({ do: "connect" }), { kind: "quiet slim" }),
        ),
      );
    }
    return out;
  }

  words(tag, kind, text) {
    return el(tag, { class: kind, lang: this.data.language, dir: "auto" }, text);
  }
}

// '**strong**' and '*emphasis*' as elements around text nodes; everything else unchanged.
function withEmphasis(text) {
  const nodes = [];
  let at = 0;
  for (const found of text.matchAll(/\*\*([^*\n]+)\*\*|\*([^*\s][^*\n]*)\*/g)) {
    if (found.index > at) nodes.push(text.slice(at, found.index));
    nodes.push(found[1] ? el("strong", {}, found[1]) : el("em", {}, found[2]));
    at = found.index + found[0].length;
  }
  if (at < text.length) nodes.push(text.slice(at));
  return nodes;
}
