// Two small lists: the conversations of a book, and questions to ask with one click.

import { el } from "../shared/dom.js";
import { uncover } from "../shared/sidebar.js";
import { conversationOf, subscribe } from "./conversation_state.js";

/**
 * @import { ConversationListData, SuggestionsData } from "../protocol.js"
 * @import { Api } from "../shared/mount.js"
 */

export class ConversationList {
  /** @param {HTMLElement} root @param {Api} api */
  constructor(root, { send }) {
    this.root = root;
    this.send = send;
    /** @type {string | null} the open one */
    this.now = null;
  }

  /** @param {ConversationListData} data */
  update({ items, now, language }) {
    const top = this.root.firstElementChild?.scrollTop ?? 0;
    const list = el(
      "ul",
      { class: "convs" },
      ...items.map(({ id, title, about }) => {
        const name = el("span", { class: "name", lang: language, dir: "auto" }, title);
        return el(
          "li",
          {},
          el(
            "button",
            { type: "button", "aria-current": id === now ? "true" : null, onclick: () => this.choose(id) },
            name,
            el("span", { class: "small dim" }, about),
          ),
        );
      }),
    );
    this.root.replaceChildren(list);
    list.scrollTop = top;
    const open = now === this.now ? null : list.querySelector("[aria-current]")?.getBoundingClientRect();
    const view = list.getBoundingClientRect();
    if (open && (open.top < view.top || open.bottom > view.bottom)) list.scrollTop += open.top - view.top;
    this.now = now;
  }

  /** @param {string} id */
  choose(id) {
    uncover();
    this.send({ do: "conversation", text: id });
  }
}

export class Suggestions {
  /** @param {HTMLElement} root @param {Api} api @param {SuggestionsData} data */
  constructor(root, { send }, data) {
    this.root = root;
    this.data = data;
    this.send = send;
  }

  /** @param {SuggestionsData} data */
  update(data) {
    this.data = data;
    this.close();
    this.unsubscribe = subscribe(data.book, () => this.draw());
    this.draw();
  }

  close() {
    this.unsubscribe?.();
  }

  // None while an answer is under way: the question just asked may be among them.
  draw() {
    const { items, language, book } = this.data;
    if (conversationOf(book).now?.running) return void this.root.replaceChildren();
    this.root.replaceChildren(questions(items, language, this.send));
  }
}

/**
 * Buttons that ask.
 * @param {SuggestionsData["items"]} items
 * @param {string} language
 * @param {Api["send"]} send
 */
export function questions(items, language, send) {
  const buttons = items.map(({ text, whole }) =>
    el(
      "button",
      { type: "button", class: "btn slim", lang: language, onclick: () => send({ do: "ask", text, page: whole ? 1 : 0 }) },
      text,
    ),
  );
  return el("div", { class: "sug", role: "group", "aria-label": "Questions to ask" }, ...buttons);
}
