// The part of the listening bar that tells how a natural voice comes onto this computer, and fetches one.

import { askPages } from "../pdf_page/pages_server.js";
import { button, copyText, el } from "../shared/dom.js";

/** @import { Voices } from "../protocol.js" */

const POLL_MS = 700;

export class MoreVoices {
  /** `changed`: there are other voices on this computer now. @param {(voices: Voices) => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** @type {Voices | null} */
    this.voices = null;
    this.language = "";
    this.only = false; // whether there is no voice yet, neither here nor of the browser
    this.node = el("div", { class: "morevoices", hidden: true, role: "region", "aria-label": "More voices" });
  }

  /** @param {string} language as "en" @returns {Promise<Voices | null>} */
  async load(language) {
    Object.assign(this, { language, voices: null });
    await this.take(await askPages("voice/list"));
    return this.voices;
  }

  toggle(open = this.node.hidden) {
    this.node.hidden = !open;
    if (open) this.draw();
  }

  /** @param {Awaited<ReturnType<typeof askPages>>} answer */
  take({ ok, value }) {
    if (!ok) return void this.node.replaceChildren(el("p", { role: "alert" }, /** @type {{text: string}} */ (value).text));
    const before = this.voices;
    this.voices = /** @type {Voices} */ (value);
    this.draw();
    if (before && before.here.length !== this.voices.here.length) this.changed(this.voices);
    if (this.voices.fetching) setTimeout(async () => this.node.isConnected && this.take(await askPages("voice/list")), POLL_MS);
  }

  draw() {
    const { voices, language } = this;
    if (!voices) return;
    this.node.classList.toggle("only", this.only);
    if (voices.install) {
      const installing = Boolean(voices.fetching);
      const install = button(
        installing ? "Fetching…" : voices.failed ? "Try again" : "Get a natural voice",
        async () => {
          install.disabled = true;
          this.take(await askPages("voice/install", {}));
        },
        { kind: "primary slim", disabled: installing },
      );
      const told = installing
        ? "It takes a minute or two. You can read on meanwhile."
        : "90 MB, once. Free, reads on this computer, in American English; more languages then.";
      const address = button("Copy the book’s address", () => copyText(location.href, address), { kind: "slim" });
      const copy = button("Copy", () => copyText(voices.install, copy), { kind: "slim" });
      this.node.replaceChildren(
        voices.failed ? el("p", { role: "alert" }, voices.failed) : "",
        voices.installs ? el("p", { class: "get" }, install, el("span", { role: "status" }, told)) : "",
        el(
          "details",
          { open: !voices.installs },
          el("summary", {}, "Other ways"),
          this.only ? el("p", {}, "Open the book in Edge or Safari, which have voices of their own. ", address) : "",
          el("p", {}, "Or run this once in a terminal, then listen again:"),
          el("p", { class: "install" }, el("code", {}, voices.install), copy),
        ),
      );
      return;
    }
    const suited = voices.offers.filter((offer) => offer.language.toLowerCase().startsWith(language));
    const rows = (suited.length ? suited : voices.offers).map(({ name, title, language: of, licence, bytes }) => {
      const { fetching } = voices;
      const state =
        fetching?.name === name
          ? el("span", { class: "dim" }, `${Math.floor(fetching.done / 1e6)} of ${Math.ceil(bytes / 1e6)} MB`)
          : button("Get", async () => this.take(await askPages("voice/fetch", { name })), {
              kind: "slim",
              disabled: Boolean(fetching),
              "aria-label": `Get ${title}`,
            });
      return el("li", {}, el("span", {}, title), el("span", { class: "dim" }, `${of} · ${Math.ceil(bytes / 1e6)} MB · ${licence}`), state);
    });
    this.node.replaceChildren(
      el(
        "p",
        {},
        rows.length
          ? "Voices that read on this computer. Once fetched, they need no network."
          : "All voices on the list are on this computer.",
      ),
      voices.failed ? el("p", { role: "alert" }, voices.failed) : "",
      el("ul", {}, ...rows),
    );
  }
}
