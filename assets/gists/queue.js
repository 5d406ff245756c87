// The books that wait for their gists: the night as a band, and the list below it, which can be put in another order.

import { drawCover, pictureCover } from "../shared/cover.js";
import { button, el, focused, icon } from "../shared/dom.js";

/**
 * @import { QueueData, QueueRow } from "../protocol.js"
 * @import { Api } from "../shared/mount.js"
 */

/** A share of a width, for a style. @param {number} share */
const percent = (share) => `${(100 * share).toFixed(2)}%`;

export class Queue {
  /** @param {HTMLElement} root @param {Api} api */
  constructor(root, { send }) {
    this.send = send;
    /** @type {QueueRow[]} */
    this.rows = [];
    this.drawn = "";
    this.dragged = ""; // the book that is being dragged
    this.night = el("div", { class: "night", role: "img", "aria-label": "When each book has its turn" });
    this.list = el("ul", { class: "queue", "aria-label": "Books that wait for gists" });
    root.append(this.night, this.list);
  }

  /** @param {QueueData} data */
  update(data) {
    const drawn = JSON.stringify(data);
    if (drawn === this.drawn || this.dragged) return;
    this.drawn = drawn;
    this.rows = data.rows;
    this.drawNight(data);
    const active = focused(this.list);
    const [book, act] = [active?.closest("li")?.dataset.id, active?.dataset.do];
    this.list.replaceChildren(...this.rows.map((row) => this.drawRow(row)));
    const again = [...this.list.querySelectorAll("li")].find((item) => item.dataset.id === book);
    [...(again?.querySelectorAll("button") ?? [])].find((one) => one.dataset.do === act)?.focus();
  }

  /** @param {QueueData} data */
  drawNight({ marks, blocks, now }) {
    this.night.hidden = !blocks.length;
    const hours = marks.map(([at, text]) => el("span", { style: `left:${percent(at)}` }, text));
    const books = blocks.map(([title, from, to]) =>
      el("i", { style: `left:${percent(from)};width:calc(${percent(to - from)} - 2px)`, title }, el("em", { dir: "auto" }, title)),
    );
    const hand = now === null ? null : el("u", { style: `left:${percent(now)}` });
    this.night.replaceChildren(el("div", { class: "hrs", "aria-hidden": "true" }, ...hours), el("div", { class: "bnd" }, ...books, hand));
  }

  /** @param {QueueRow} row */
  drawRow(row) {
    const waits = row.state === "waiting" || row.state === "making";
    const drawn = () => drawCover(row);
    const cover = el("span", { class: "cv" });
    cover.append(row.cover ? pictureCover(row.cover, () => cover.replaceChildren(drawn())) : drawn());
    const leave = button("", () => this.send({ do: "drop", of: row.id }), {
      kind: "quiet icon",
      icon: "close",
      name: `Take ${row.title} out of the list`,
      "data-do": "drop",
    });
    const open = el(
      "a",
      { href: `read?book=${encodeURIComponent(row.id)}`, onclick: (/** @type {MouseEvent} */ event) => this.open(row, event) },
      row.title,
    );
    return el(
      "li",
      {
        class: row.state,
        "data-id": row.id,
        draggable: waits,
        ondragstart: () => {
          this.dragged = row.id;
        },
        ondragend: () => {
          this.dragged = "";
        },
        ondragover: (event) => waits && event.preventDefault(),
        ondrop: (event) => this.drop(event, row),
      },
      waits ? this.handle(row) : el("span"),
      cover,
      el("div", { class: "t" }, el("b", { lang: row.lang, dir: "auto" }, open), el("span", { class: "small dim" }, row.facts)),
      el(
        "div",
        { class: "w small" },
        row.state === "making" ? el("div", { class: "mini g" }, el("b", { style: `width:${percent(row.share)}` })) : null,
        el("p", {}, row.strong ? el("b", {}, row.strong) : null, row.said),
      ),
      row.state === "done" ? el("span", { class: "ck" }, icon("check")) : leave,
    );
  }

  /** The handle by which a book is dragged, or moved with the arrow keys. @param {QueueRow} row */
  handle(row) {
    return button("⠿", () => {}, {
      kind: "quiet icon gr",
      name: `Move ${row.title}: arrow up or down`,
      "data-do": "move",
      onkeydown: (event) => {
        const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
        if (!by) return;
        event.preventDefault();
        this.move(row.id, this.placeOf(row.id) + by);
      },
    });
  }

  /** @param {string} id its place among those that wait */
  placeOf(id) {
    return this.rows.filter((row) => row.state === "waiting" || row.state === "making").findIndex((row) => row.id === id);
  }

  /** @param {string} id @param {number} place */
  move(id, place) {
    if (place >= 0) this.send({ do: "move", of: id, page: place });
  }

  /** @param {DragEvent} event @param {QueueRow} on */
  drop(event, on) {
    event.preventDefault();
    const { dragged } = this;
    this.dragged = "";
    if (dragged && dragged !== on.id) this.move(dragged, this.placeOf(on.id));
  }

  /** @param {QueueRow} row @param {MouseEvent} event */
  open(row, event) {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    this.send({ do: "open", of: row.id });
  }
}
