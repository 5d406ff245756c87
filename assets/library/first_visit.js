// What a first visit shows while the library has only samples: what this is, in one sentence and a drawing to scale, the
// sample story, and a place for a book of one's own.

import { button, el, icon, svg } from "../shared/dom.js";
import { Adding } from "./adding.js";
import { addressOf } from "./card.js";
import { minutesOf, SAMPLE_WITHOUT_A_MODEL, span } from "./facts.js";

/**
 * @import { FirstVisitData } from "../protocol.js"
 * @import { Api } from "../shared/mount.js"
 */

export class FirstVisit {
  /** @param {HTMLElement} root @param {Api} api */
  constructor(root, api) {
    this.root = root;
    this.send = api.send;
    this.adding = new Adding(api.send);
  }

  close() {
    this.adding.close();
  }

  /** A model on this computer. @param {NonNullable<FirstVisitData["local"]>} local */
  offer({ size, minutes, words }) {
    return el(
      "div",
      { class: "drop local" },
      icon("plug"),
      el(
        "div",
        { class: "grow" },
        el("p", {}, el("b", {}, "A model on this computer")),
        el(
          "p",
          { class: "small dim" },
          `${SAMPLE_WITHOUT_A_MODEL} No account, nothing sent; ${(size / 1e9).toFixed(1)} GB once. `,
          `This computer reads a novel of ${words.toLocaleString("en")} words in about ${span(minutes)}.`,
        ),
      ),
      button("Install", () => this.send({ do: "install" })),
      button("See what fits", () => this.send({ do: "settings" }), { kind: "quiet" }),
    );
  }

  /** @param {FirstVisitData} data */
  update(data) {
    this.adding.update(data);
    if (this.drawn) return;
    this.drawn = true;
    /** @param {string} id */
    const open = (id) => (/** @type {MouseEvent} */ event) => {
      if (event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.send({ do: "open", of: id });
    };
    const others = data.others.flatMap(({ id, title, lang }, i) => [
      i ? " and " : "",
      el("a", { href: addressOf(id), onclick: open(id), lang, dir: "auto" }, title.split(": ")[0]),
    ]);
    const story = el("a", { class: "btn go big", href: addressOf(data.story), onclick: open(data.story) }, "Open the sample story");
    this.root.append(
      this.adding.notes,
      el(
        "div",
        { class: "hero" },
        el(
          "div",
          { class: "txt" },
          el("h1", {}, "ReadAgent remembers every page of a book in short, and opens the right page when you ask."),
          el(
            "p",
            { class: "lead" },
            "Open a book and read it. ReadAgent can keep a gist of each page beside it; to answer, it goes ",
            "back to a few pages and shows you the words.",
          ),
          el("div", { class: "cta" }, story),
          el(
            "p",
            { class: "small dim under" },
            el("i", {}, data.title),
            `, a mystery, ${Math.round(minutesOf({}, data.words))} minutes. Gists ready.`,
            ...(others.length ? [" Also here: ", ...others, "."] : []),
          ),
        ),
        drawing("wide", WIDE, data),
        drawing("narrow", NARROW, data),
      ),
      el(
        "div",
        { class: "drop" },
        icon("drop"),
        el(
          "div",
          { class: "grow" },
          el("p", {}, el("b", {}, matchMedia("(pointer: coarse)").matches ? "Add a book" : "Drop a book here")),
          el("p", { class: "small dim" }, `PDF, EPUB, Word, web page or text. It stays on this ${data.place}.`),
        ),
        button("Paste a link or text", () => this.send({ do: "paste" }), { kind: "quiet" }),
        button("From a catalogue", () => this.send({ do: "catalogue" }), { kind: "quiet" }),
        data.folders ? button("Import a folder", () => this.send({ do: "folder" }), { kind: "quiet" }) : null,
        button("Choose a file", () => this.adding.choose()),
      ),
      ...(data.model
        ? []
        : [
            data.local
              ? this.offer(data.local)
              : el(
                  "p",
                  { class: "model small" },
                  icon("plug"),
                  el(
                    "span",
                    {},
                    `${SAMPLE_WITHOUT_A_MODEL} `,
                    button("Connect a model", () => this.send({ do: "settings" }), { kind: "link" }),
                  ),
                ),
          ]),
      this.adding.veil,
    );
    /** @param {KeyboardEvent} event */
    const enter = (event) => {
      if (event.key === "Enter" && event.target === document.body) story.click();
    };
    document.addEventListener("keydown", enter, { signal: this.adding.ended.signal });
  }
}

// Pixels. `text`, `page`, `memory`: where each column begins and how wide it is; `asked`: what the question above the memory
// takes; `word`: the length of a gist's word.
/** @typedef {typeof WIDE} Layout */

const WIDE = {
  width: 660,
  height: 520,
  top: 34,
  text: [0, 92],
  page: [150, 104],
  memory: [340, 320],
  asked: 74,
  open: 130,
  word: [0.78, 1.35],
};
const NARROW = {
  width: 350,
  height: 250,
  top: 24,
  text: [0, 44],
  page: [66, 52],
  memory: [146, 204],
  asked: 58,
  open: 96,
  word: [0.4, 0.8],
};

/** @param {string} name @param {Layout} layout @param {FirstVisitData} data */
function drawing(name, layout, { pages, example }) {
  const { width, height, top, text, page, memory, asked, open, word } = layout;
  const total = pages.reduce((sum, [words]) => sum + words, 0);
  const room = height - 10 - top;
  const shape = svg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  /** @param {number} x @param {number} y @param {number} w @param {number} h @param {string} kind */
  const rect = (x, y, w, h, kind) => shape.append(svg("rect", { x, y, width: w, height: h, rx: 1.3, class: kind }));
  for (let y = top, line = 0; y < height - 10; y += 4.1, line += 1) {
    // every fifth line or so ends a paragraph
    const short = (line * 7919) % 23;
    rect(text[0], y, short < 5 ? text[1] * (0.35 + short / 10) : text[1], 1.6, "line");
  }
  const others = total - pages[example.page - 1][0];
  const openAt = { y: 0, from: 0, to: 0 };
  let [y, place] = [top, top + asked];
  pages.forEach(([words, gist], i) => {
    const high = (room * words) / total;
    const isOpen = i + 1 === example.page;
    rect(page[0], y, page[1], high - 2, isOpen ? "lamp" : "page");
    if (isOpen) shape.append(svg("text", { x: page[0] + page[1] / 2, y: y + high / 2 + 3, "text-anchor": "middle" }, String(i + 1)));
    else rect(page[0] + 6, y + high / 2 - 2, gist * word[0], 2.2, "gist");
    const row = isOpen ? open + 8 : ((room - asked - open - 8) * words) / others;
    if (isOpen) Object.assign(openAt, { y: place + 4, from: y, to: y + high - 2 });
    else rect(memory[0], place + row / 2 - 1.3, gist * word[1], 2.4, "folded");
    y += high;
    place += row;
  });
  const [left, right, middle] = [page[0] + page[1], memory[0], (page[0] + page[1] + memory[0]) / 2];
  shape.append(
    svg("path", {
      class: "beam",
      d:
        `M${left} ${openAt.from}C${middle} ${openAt.from} ${middle} ${openAt.y} ${right} ${openAt.y}` +
        `V${openAt.y + open}C${middle} ${openAt.y + open} ${middle} ${openAt.to} ${left} ${openAt.to}z`,
    }),
  );
  /** @param {number} x @param {string} words */
  const caption = (x, words) => el("p", { class: "cap", style: `left:${x}px` }, words);
  return el(
    "div",
    {
      class: `art ${name}`,
      role: "img",
      "aria-label": `The text is cut into ${pages.length} pages, each page gets a gist, and a question opens page ${example.page} in place`,
    },
    shape,
    caption(text[0], "1 Text"),
    caption(page[0], "2 Gists"),
    caption(memory[0], "3 A question opens one page"),
    el("p", { class: "qa", style: `left:${memory[0]}px;top:${top}px` }, example.question),
    el(
      "div",
      { class: "opened", style: `left:${memory[0] - 2}px;top:${openAt.y}px;height:${open}px` },
      el("p", { class: "oh" }, `Page ${example.page}, opened in place`),
      el("p", { class: "ot" }, "“…", el("span", { class: "lead-in" }, example.before), el("mark", {}, example.marked), "…”"),
    ),
    el("p", { class: "an", style: `left:${memory[0]}px` }, example.answer, el("span", { class: "cite" }, `from page ${example.page}`)),
  );
}
