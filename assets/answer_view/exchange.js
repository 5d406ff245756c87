// One question and its answer: who answers, the look-ups with their reasons, the answer with its claims, the cost.
// A section is drawn again only when its own data changed, so a button is not replaced while a person presses it.

import { button, copyText, el, icon } from "../shared/dom.js";
import { SIGNER_ICONS } from "../shared/signer.js";
import { drawAnswer, picks, words } from "./answer.js";
import { ColumnScroll } from "./scroll.js";
import { showMemory } from "./sides.js";

/**
 * @import { Cite, ExchangeRecord, Piece } from "../protocol.js"
 * @import { Api } from "../shared/mount.js"
 */

/**
 * What the browser adds to a record.
 * @typedef {object} Where
 * @property {boolean} [current] the exchange that the memory shows
 * @property {boolean} [among] one of several
 * @property {boolean} [alone] one of a recording, whose others are in a list
 * @property {boolean} [folded] its options are shown by a press
 * @property {boolean} [kept] its answer is stored beside its page
 * @property {boolean} [keptBefore] the older answer beside it is
 * @property {Record<string, string | null | undefined> | null} [originals] the ids under which the server has the PDFs, by
 *   the number of the book; null where its pages are not drawn
 *
 * @typedef {ExchangeRecord & Where} Shown
 * @typedef {(Element | null)[]} Nodes
 */

export class Exchange {
  /** @param {HTMLElement} root @param {Pick<Api, "send">} api @param {boolean} folds shows how it was found by a press, once there are words */
  constructor(root, { send }, folds) {
    this.root = root;
    this.send = send;
    this.folds = folds;
    this.drawn = new Map(); // section -> the data it was drawn from, as JSON
    /** @param {string} name */
    const section = (name) => el("div", { class: name });
    this.sections = {
      question: section("question"),
      signer: section("signer"),
      looks: section("looks"),
      answer: section("answer"),
      working: section("working"),
      trouble: section("trouble"),
      foot: section("foot"),
    };
    this.sections.answer.setAttribute("aria-live", "polite");
    const { question, signer, looks, ...rest } = this.sections;
    this.reader = el("b");
    const line = el("summary", {}, this.reader, " · How it was found");
    this.how = folds ? el("details", { class: "how small" }, line, signer, looks) : null;
    /** @type {boolean | null} whether there are words of an answer */
    this.said = null;
    this.rows = el("table", { class: "differs small num", hidden: true });
    /** @type {Exchange | null} the older answer beside this one */
    this.before = null;
    this.old = el("section", { class: "old", hidden: true });
    this.now = el("div", { class: "new" }, ...(this.how ? [this.how] : [signer, looks]), ...Object.values(rest));
    this.readers = el("p", { class: "small dim readers" });
    this.sides = el("div", { class: "sides" }, this.old, this.now);
    root.replaceChildren(question, this.readers, this.sides, this.rows);
  }

  close() {
    this.scroll?.remove(this.root);
  }

  /** @param {Shown} data */
  update(data) {
    const first = !this.drawn.size;
    this.root.classList.toggle("current", Boolean(data.current && data.among));
    this.root.ariaCurrent = data.current ? "true" : null;
    this.root.lang = "en";
    const parts = {
      question: [data.question, data.options, data.understood, data.beside, data.folded],
      signer: [data.signature, data.asked, data.method, data.from],
      looks: [data.looks, data.language],
      working: [data.running, data.status, data.hurry],
      answer: [data.pieces, data.loose, data.running, data.before, data.notFound, data.acts, data.hidden, data.originals],
      trouble: [data.trouble, data.notes, data.again, data.acts, data.price],
      foot: [
        data.running,
        data.cost,
        data.details,
        data.legend,
        data.acts,
        data.again,
        data.price,
        data.methods,
        data.current,
        data.among,
        data.kept,
        data.recorded,
      ],
    };
    for (const name of /** @type {(keyof typeof parts)[]} */ (Object.keys(parts))) {
      const key = JSON.stringify(parts[name]);
      if (this.drawn.get(name) === key) continue;
      this.drawn.set(name, key);
      this.sections[name].replaceChildren(...this[name](data).filter((node) => node !== null));
    }
    const said = Boolean(data.pieces.length || data.notFound || data.hidden);
    if (this.how && said !== this.said) this.how.open = !said; // then a press folds it or not
    this.said = said;
    this.beside(data);
    this.sections.answer.setAttribute("aria-busy", data.running ? "true" : "false");
    if (first) {
      requestAnimationFrame(() => {
        this.scroll = ColumnScroll.of(this.root);
        if (data.alone) this.scroll?.toTop();
        else this.scroll?.add(this.root, data);
      });
    }
  }

  /** The older answer to the same question, if there is one, and what differs. @param {Shown} data */
  beside({ beside, signature, keptBefore }) {
    this.reader.textContent = readerOf(signature);
    this.sides.classList.toggle("two", Boolean(beside));
    this.old.hidden = !beside;
    this.rows.hidden = !beside?.rows.length;
    if (!beside) return;
    const { record, rows, then, now, by, note } = beside;
    this.old.dataset.said = [then, by[0]].filter(Boolean).join(": ");
    this.now.dataset.said = [now, by[1]].filter(Boolean).join(": ");
    this.readers.textContent = note;
    this.before ??= new Exchange(this.old, { send: (act) => this.send({ of: record.id, ...act }) }, true);
    const acts = record.acts.filter((act) => act === "copy"); // Copy and Keep
    this.before.update({ ...record, question: "", options: [], acts, recorded: "", beside: null, kept: keptBefore });
    this.rows.replaceChildren(
      el("tr", {}, el("td", {}), el("th", { scope: "col" }, then), el("th", { scope: "col" }, now)),
      ...rows.map(([name, then, now]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, then), el("td", {}, now))),
    );
  }

  /** @param {Shown} data @returns {Nodes} */
  question(data) {
    const { question, options, understood, beside } = data;
    const picked = picks(options ?? [], beside);
    /** @type {Nodes} */
    const out = [words(data, "p", "qt", question)];
    if (understood) {
      out.push(el("p", { class: "understood small" }, "Understood as: ", words(data, "span", "", understood)));
    }
    if (options?.length) {
      const list = el(
        "ol",
        { class: "options" },
        ...options.map(({ letter, text }, i) =>
          el(
            "li",
            { class: picked[i] ? "chosen" : "" },
            el("span", { class: "letter" }, letter),
            words(data, "span", "", text),
            picked[i] ? el("span", { class: "small pick" }, picked[i]) : null,
          ),
        ),
      );
      const folded = () => el("details", { class: "choices small" }, el("summary", {}, `With ${options.length} choices`), list);
      out.push(data.folded ? folded() : list);
    }
    return out;
  }

  /** The line above the answer that says who answered, with an icon for each kind. @param {Shown} data @returns {Nodes} */
  signer(data) {
    const { asked } = data;
    const { kind, line } = data.signature;
    const name = readerOf(data.signature);
    return [
      el(
        "p",
        { class: "signer small", "data-signer": kind },
        icon(SIGNER_ICONS[kind]),
        el(
          "span",
          {},
          el("b", {}, name),
          line.slice(name.length),
          data.from ? el("span", { title: data.method }, `\u00a0· ${data.from}`) : null,
        ),
        asked ? el("span", { class: "when" }, asked) : null,
      ),
    ];
  }

  /** @param {Shown} data @returns {Nodes} */
  looks(data) {
    return data.looks.map(({ title, said, more }) =>
      el(
        "div",
        { class: "step" },
        el("p", { class: "who small" }, icon("claim_page"), title),
        said ? words(data, "p", "why", said) : null,
        ...more.map((line) => el("p", { class: "small refused" }, line)),
      ),
    );
  }

  /** @param {Shown} data @returns {Nodes} */
  working(data) {
    if (!data.running) return [];
    const stop = button("Stop", () => this.send({ do: "stop" }), { kind: "slim stop", icon: "stop" });
    const hurry = data.hurry ? button("Try now", () => this.send({ do: "hurry" }), { kind: "slim hurry" }) : null;
    return [el("span", { class: "small status num", role: "status" }, data.status), hurry, stop];
  }

  /** @param {Shown} data */
  answer(data) {
    return drawAnswer(data, this.send);
  }

  /** @param {Shown} data @returns {Nodes} */
  trouble(data) {
    const { trouble, notes } = data;
    /** @type {Nodes} */
    const out = notes.map((text) => el("p", { class: "small noted" }, text));
    if (trouble) {
      const again = button(data.again, () => this.send({ do: "again" }), { kind: "slim" });
      const other = data.acts.includes("built-in")
        ? button("Ask the built-in reader", () => this.send({ do: "built-in" }), { kind: "quiet slim" })
        : null;
      const settings = data.acts.includes("settings")
        ? button("Open Settings", () => this.send({ do: "connect" }), { kind: "quiet slim" })
        : null;
      out.push(
        el(
          "div",
          { class: `note ${trouble.kind}`, role: "status" },
          el("p", {}, trouble.text),
          el(
            "span",
            { class: "acts" },
            again,
            data.price ? el("span", { class: "small dim num price" }, data.price) : null,
            other,
            settings,
          ),
        ),
      );
    }
    return out;
  }

  /** @param {Shown} data @returns {Nodes} */
  foot(data) {
    const { running, cost, details, legend, acts, methods, current, kept } = data;
    if (running) return [];
    /** @type {Nodes} */
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
      out.push(el("details", { class: "small dim" }, el("summary", {}, "Details"), ...details.map((d) => el("p", { class: "num" }, d))));
    }
    if (data.recorded) {
      const open = button("Open it", () => this.send({ do: "recorded", text: data.recorded }), { kind: "slim" });
      out.push(el("div", { class: "acts" }, el("span", { class: "small dim" }, "The recording answers this question too."), open));
    }
    const row = el("div", { class: "acts" });
    if (acts.includes("again")) row.append(button(data.again, () => this.send({ do: "again" }), { kind: "slim" }));
    if (acts.includes("method") && methods?.length) {
      const choose = el(
        "select",
        {
          class: "btn slim",
          "aria-label": "Ask again with another method",
          onchange: () => {
            if (choose.value) this.send({ do: "method", text: choose.value });
          },
        },
        el("option", { value: "" }, this.folds ? "Method" : "Another method"),
        ...[...new Set(methods.map(([, , , group]) => group))].map((label) =>
          el(
            "optgroup",
            { label },
            ...methods
              .filter(([, , , group]) => group === label)
              .map(([name, title, about]) => el("option", { value: name }, `${title}: ${about}`)),
          ),
        ),
      );
      row.append(choose);
    }
    if (row.children.length && data.price) row.append(el("span", { class: "small dim num price" }, data.price));
    const keep = el("span", { class: "keep" });
    if (acts.includes("copy")) keep.append(button("Copy", (e) => copyText(data.plain, e.currentTarget), { kind: "quiet slim" }));
    if (kept && acts.includes("copy"))
      keep.append(
        el(
          "span",
          { class: "small dim keptline", role: "status", title: "Beside the page it cites, and in the notes of the book" },
          "Kept",
        ),
        button("Undo", () => this.send({ do: "release" }), { kind: "quiet slim", "aria-label": "Do not keep this answer" }),
      );
    else if (acts.includes("copy"))
      keep.append(
        button("Keep", () => this.send({ do: "keep" }), { kind: "quiet slim", title: "Put this answer beside the page it cites" }),
      );
    if (keep.children.length) row.append(keep);
    const remember = () => {
      showMemory();
      this.send({ do: "replay" });
    };
    if (acts.includes("replay") && !current) row.append(button("Show in memory", remember, { kind: "quiet slim" }));
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
}

/** Who answered, of the line that says it. @param {ExchangeRecord["signature"]} signature */
function readerOf({ kind, line }) {
  return { model: /^\S+/, recording: /^A recording/, builtin: /^[^:]*/ }[kind].exec(line)?.[0] ?? "";
}
