// Adding books: files dropped anywhere on the page or chosen, and what became of each. The files themselves go through
// Streamlit's uploader, which is on the page but not seen.

import { button, el, icon, number, plural } from "../shared/dom.js";
import { takeDropped, takeDrops } from "../shared/dropped.js";
import { container, UPLOADER } from "../shared/streamlit.js";
import { tabState } from "../shared/tab_state.js";

/**
 * @import { Import } from "../protocol.js"
 * @import { Dropped } from "../shared/dropped.js"
 * @import { Api } from "../shared/mount.js"
 */

const MOST_NOTES = 4; // of files in one state, each with a line of its own
const SOON_MS = 100;
const LOST_MS = 3_000; // after which files whose uploader is gone have not come to the server
const ENDED = ["password", "opened", "failed"]; // states in which a file only waits to be looked at
const MOST_HERE = 3; // files that were here already, by name
const SMALL = "(max-width: 760px), (max-height: 560px)"; // a window that what was not opened would fill

/** The files of this tab that the server has not yet: they outlive the first visit's screen, which goes at the first book. */
const underWay = () => ({
  sent: /** @type {File[]} */ ([]), // on their way to the server
  input: /** @type {HTMLInputElement | null} */ (null), // that took them
  next: /** @type {File[]} */ ([]), // files that go after them
  /** @type {{name: string, title: string, text: string, folder?: boolean}[]} */
  refused: [], // files that were too large to send, and folders: name, why, and what to do
  known: /** @type {Set<string>} */ (new Set()), // keys of imports
  told: /** @type {Set<string> | null} */ (null), // keys or names of what was not opened, once a screen has shown it
  follow: "", // the name, then the key of the one file dropped on a book: it is opened in its place
  left: "", // that book
});

export class Adding {
  /** @param {Api["send"]} send */
  constructor(send) {
    this.send = send;
    this.formats = "";
    this.most = 0; // bytes
    this.folders = false;
    this.searching = false;
    this.fresh = false; // whether something was not opened that no screen had shown before this one
    /** @type {boolean | null} what a press chose; until then what was not opened is shown at its first look alone */
    this.unfolded = null;
    this.drawn = "";
    this.files = tabState("adding", underWay);
    /** @type {Import[]} */
    this.imports = [];
    this.notes = el("div", { class: "notes", role: "status" });
    this.veil = el("div", { class: "veil", hidden: true }, el("p", {}, icon("drop"), "Drop to open"));
    this.ended = new AbortController();
    const over = (/** @type {boolean} */ is) => {
      this.veil.hidden = !is;
    };
    // the field for a folder takes what is dropped on it
    const may = (/** @type {DragEvent} */ { target }) => !(target instanceof Element && target.closest(UPLOADER));
    takeDrops({ may, over, dropped: (dropped) => this.dropped(dropped) }, { signal: this.ended.signal });
  }

  close() {
    this.ended.abort();
  }

  choose() {
    const input = el("input", { type: "file", multiple: true, accept: this.formats });
    input.addEventListener("change", () => this.give([...(input.files ?? [])]));
    input.click();
  }

  /** A folder has a dialog of its own, which takes all its books together. @param {Dropped} dropped */
  dropped({ files, folders }) {
    const text = this.folders ? "Choose it under Import a folder: its books come together." : "Open it, and drop the files in it.";
    this.files.refused.push(...folders.map((name) => ({ name, title: "This is a folder", text, folder: this.folders })));
    this.give(files);
  }

  /** Opens these files as soon as the ones before them have reached the server. @param {File[]} files */
  give(files) {
    /** @param {number} bytes */
    const megabytes = (bytes) => Math.round(bytes / 2 ** 20);
    this.files.refused.push(
      ...files
        .filter((file) => file.size > this.most)
        .map(({ name, size }) => ({
          name,
          title: "This file is too large",
          text: `It has ${megabytes(size)} MB; at most ${megabytes(this.most)} MB can be opened.`,
        })),
    );
    this.files.next.push(...files.filter((file) => file.size <= this.most));
    this.upload();
  }

  // One batch at a time: the uploader is another one after each, and a file given to the one before would be lost.
  upload() {
    /** @type {HTMLInputElement | null} */
    const input = document.querySelector(`${container("unseen_drop")} input[type="file"]`);
    if (!input && this.files.next.length && !this.ended.signal.aborted) setTimeout(() => this.upload(), SOON_MS); // it is drawn after us
    if (input && !this.files.sent.length && this.files.next.length) {
      const given = new DataTransfer();
      for (const file of this.files.next) given.items.add(file);
      this.files.sent = this.files.next;
      this.files.next = [];
      input.files = given.files;
      input.dispatchEvent(new Event("change", { bubbles: true }));
      this.files.input = input;
      this.watch(input);
    }
    this.draw();
  }

  /** Gives the files again where the uploader that has them went before it sent them. @param {HTMLInputElement} input */
  watch(input, gone = false) {
    setTimeout(() => {
      const { files } = this;
      if (!files.sent.length || files.input !== input) return;
      if (!gone) return this.watch(input, !input.isConnected);
      files.next.unshift(...files.sent);
      files.sent = [];
      this.upload();
    }, LOST_MS);
  }

  /** @param {{imports: Import[], formats: string, most: number, folders: boolean}} data */
  update({ imports, formats, most, folders }) {
    Object.assign(this, { formats, most, folders });
    const { known } = this.files;
    let come = false;
    for (const { key, name } of imports) {
      if (known.has(key)) continue;
      come = this.files.told !== null; // else it was there before this page was loaded
      known.add(key);
      const at = this.files.sent.findIndex((file) => file.name === name);
      if (at < 0) continue;
      this.files.sent.splice(at, 1);
      if (name === this.files.follow) this.files.follow = key;
    }
    this.imports = imports;
    this.files.told ??= new Set(this.lost().map(({ key }) => key)); // before this page was loaded
    const elsewhere = takeDropped();
    if (elsewhere) this.dropped(elsewhere);
    else this.upload();
    if (come) this.notes.scrollIntoView({ block: "nearest" }); // it may have been added from the foot of the screen
    if (elsewhere?.files.length === 1) Object.assign(this.files, { follow: elsewhere.files[0].name, left: elsewhere.book });
    const opened = imports.find(({ key, state }) => key === this.files.follow && state === "opened");
    if (!opened) return;
    this.files.follow = "";
    this.send({ do: "open", of: opened.book });
  }

  /** The files that were not opened, and those that wait for a password. */
  lost = () => this.imports.filter(({ state }) => state === "failed" || state === "password");

  /** While one searches, the notes leave the room to what is found. @param {boolean} searching */
  search(searching) {
    if (searching === this.searching) return;
    Object.assign(this, { searching, unfolded: searching ? null : this.unfolded });
    this.draw();
  }

  draw() {
    const drawn = JSON.stringify([
      this.searching,
      this.imports,
      this.files.sent.map(({ name }) => name),
      this.files.next.length,
      this.files.refused.length,
    ]);
    if (drawn === this.drawn) return; // a button that is replaced while it is pressed does nothing
    this.drawn = drawn;
    const refused = this.files.refused.map((one) => {
      const dismiss = () => {
        this.files.refused.splice(this.files.refused.indexOf(one), 1);
        this.draw();
      };
      const choose = () => {
        dismiss();
        this.send({ do: "folder" });
      };
      return this.failed(one.name, one.title, one.text, dismiss, one.folder ? button("Import a folder", choose, { kind: "slim" }) : null);
    });
    /** @param {File} file */
    const forget = (file) => () => {
      this.files.sent.splice(this.files.sent.indexOf(file), 1);
      this.upload();
    }; // an upload that failed
    const sent =
      this.files.sent.length > MOST_NOTES
        ? [this.busy(`Opening ${number(this.files.sent.length)} files…`)]
        : this.files.sent.map((file) => this.busy(`Opening ${file.name}…`, this.away(forget(file), file.name)));
    const next =
      this.files.next.length > MOST_NOTES
        ? [this.waiting(plural(this.files.next.length, "file"))]
        : this.files.next.map(({ name }) => this.waiting(name));
    /** @param {string} state */
    const of = (state) => this.imports.filter((one) => one.state === state);
    const waits = of("waiting").length > MOST_NOTES ? of("waiting") : []; // they share one note
    const under = this.imports.filter((one) => !ENDED.includes(one.state) && !waits.includes(one)).map((one) => this.line(one));
    const doubtful = (/** @type {Import} */ { check, here }) => Number(Boolean(check && !here));
    const opened = of("opened")
      .sort((a, b) => doubtful(b) - doubtful(a))
      .map((one) => this.line(one));
    const failed = [...of("password").map((one) => this.line(one)), ...refused, ...of("failed").map((one) => this.line(one))];
    for (const name of [...this.files.refused.map(({ name }) => name), ...this.lost().map(({ key }) => key)]) {
      this.fresh ||= !this.files.told?.has(name);
      this.files.told?.add(name);
    }
    const open = this.unfolded ?? (this.fresh && !this.searching && !matchMedia(SMALL).matches);
    this.notes.replaceChildren(
      ...sent,
      ...under,
      ...next,
      ...(waits.length
        ? [this.waiting(plural(waits.length, "file"), this.away(this.dismissing(waits), "the waiting files", "Do not open"))]
        : []),
      ...(opened.length > 1 ? [this.added(opened)] : opened),
      ...(failed.length > 1 || (failed.length && !open) ? [this.notOpened(failed, open)] : failed),
    );
  }

  /** One note for a few files that were opened, which unfolds to a note for each. @param {Element[]} notes */
  added(notes) {
    const all = this.imports.filter(({ state }) => state === "opened");
    return this.folded("done", this.addedOf(all), notes, this.dismissing(all), "the added books");
  }

  /** One note for the files that were not opened, each with why and what to do. @param {Element[]} notes @param {boolean} open */
  notOpened(notes, open) {
    const lost = this.lost();
    const locked = lost.filter(({ state }) => state === "password").length;
    const [only] = notes.length > 1 ? [] : [...lost, ...this.files.refused];
    const few = only ? `${only.name} was not opened` : `${number(notes.length)} files were not opened`;
    const said = locked ? `${few}: ${only ? "it" : number(locked)} ${locked === 1 ? "needs" : "need"} a password.` : `${few}.`;
    const dismiss = () => {
      this.files.refused = [];
      this.dismissing(lost)();
      this.draw();
    };
    return this.folded("failed", said, notes, dismiss, only ? only.name : "the files that were not opened", open);
  }

  /** @param {string} kind @param {string} said @param {Element[]} notes @param {() => void} dismiss @param {string} what @param {boolean} [unfolded] */
  folded(kind, said, notes, dismiss, what, unfolded = false) {
    const before = this.notes.querySelector(`.many.${kind} > details`);
    const scrolled = before?.lastElementChild?.scrollTop ?? 0;
    const list = el("div", { class: "list" }, ...notes);
    if (scrolled) requestAnimationFrame(() => list.scrollTo(0, scrolled)); // another file was added to it
    const failed = kind === "failed";
    const choose = () => {
      if (failed) this.unfolded = !files.open;
    };
    const more = el("span", { class: "btn link" }, failed ? "Why" : "Details");
    const open = failed ? unfolded : before?.hasAttribute("open");
    const files = el("details", { class: "files grow", open }, el("summary", { onclick: choose }, `${said} `, more), list);
    return el("div", { class: `note many ${kind}` }, files, this.away(dismiss, what));
  }

  /** @param {Import[]} all */
  dismissing = (all) => () => this.send({ do: "dismiss", of: all.map(({ key }) => key).join(",") });

  /** What became of files that were opened, in words; a file that was here is told as such. @param {Import[]} opened */
  addedOf(opened) {
    const fresh = new Map(opened.filter(({ here }) => !here).map(({ book, title = "" }) => [book, title.replace(/\.$/, "")]));
    const here = opened.filter((one) => one.here && !one.gists).map(({ name }) => name);
    const gists = opened.filter((one) => one.here && one.gists).map(({ title = "" }) => title.replace(/\.$/, ""));
    const came = gists.length > MOST_HERE ? plural(gists.length, "book") : gists.join(", ");
    const named = here.length > MOST_HERE ? plural(here.length, "file") : here.join(", ");
    const added = fresh.size === 1 ? `Added ${[...fresh.values()][0]}.` : `Added ${plural(fresh.size, "book")}.`;
    const doubtful = opened.filter(({ check, here: known }) => check && !known).length;
    const check = doubtful ? `${number(doubtful)} to check.` : "";
    return [fresh.size ? added : "", check, came ? `Added the gists of ${came}.` : "", here.length ? `Already here: ${named}.` : ""]
      .filter(Boolean)
      .join(" ");
  }

  /** @param {Import} one */
  line(one) {
    const { key, name, state, book, title = "", text = "", offer, detail } = one;
    const [done, of] = one.pages ?? [0, 0];
    if (state === "importing" || state === "imported") return this.folder(one);
    const dismiss = () => this.send({ do: "dismiss", of: key });
    if (state === "waiting") return this.waiting(name, this.away(dismiss, name, "Do not open"));
    if (state === "opening") {
      const far = of ? ` Page ${number(done)} of ${number(of)}` : "";
      return this.busy(`Opening ${name}…${far}`, this.away(dismiss, name, "Do not open"), of ? done / of : null);
    }
    if (state === "opened") {
      const report = () => this.send({ do: "report", of: book });
      return el(
        "p",
        { class: "note done" },
        icon("check"),
        el(
          "span",
          { class: "grow" },
          one.here ? (one.gists ? "Added the gists of " : "Already here: ") : "Added ",
          el("b", { dir: "auto" }, title.replace(/\.$/, "")),
          one.here ? (one.gists ? `, ${plural(one.gists, "page")}. ` : ". ") : `: ${text} `,
          button("Report", report, { kind: "link", "aria-label": `Import report of ${title}` }),
        ),
        button("Read", () => this.send({ do: "open", of: book }), { kind: "slim", "aria-label": `Read ${title}` }),
        this.away(dismiss, name),
      );
    }
    /** @param {string} label @param {string} what */
    const act = (label, what) => button(label, () => this.send({ do: what, of: key }), { kind: "slim", "aria-label": `${label}: ${name}` });
    if (state === "recognising") {
      return this.busy(`Recognising ${name}… ${number(done)} of ${plural(of, "page")}, ${text}`, act("Pause", "pause_scan"), done / of);
    }
    if (state === "paused") {
      const far = `recognition is paused, ${number(done)} of ${plural(of, "page")} done.`;
      return this.failed(
        name,
        far,
        text,
        () => this.send({ do: "discard_scan", of: key }),
        act("Resume", "resume_scan"),
        "",
        "Delete what was recognised of",
      );
    }
    const enter = state === "password" ? act("Enter the password", "password") : offer ? act(offer, "recognise") : null;
    const { left, follow } = this.files;
    const back = left && key === follow ? button("Back to the book", () => this.send({ do: "open", of: left }), { kind: "slim" }) : null;
    return this.failed(name, title, text, dismiss, enter ?? back, detail);
  }

  /** @param {Import} one */
  folder({ key, name, state, pages, text, offer, here, away }) {
    /** @param {string} label @param {string} what */
    const act = (label, what, of = key) =>
      button(label, () => this.send({ do: what, of }), { kind: "slim", "aria-label": `${label}: ${name}` });
    if (state === "importing") {
      const far = pages ? `${number(pages[0] + 1)} of ${plural(pages[1], "file")}, ${text}` : text || "looking for books";
      return this.busy(`Importing ${name}… ${far}`, offer ? act(offer, "cancel_folder") : null, pages && pages[0] / pages[1]);
    }
    return el(
      "div",
      { class: "note done" },
      icon("check"),
      el("span", { class: "grow" }, el("b", { dir: "auto" }, name), `: ${text}`),
      el(
        "div",
        { class: "acts" },
        act("Report", "folder_report"),
        here ? act("Undo", "remove", here) : away ? act("Restore", "restore", away) : null,
        this.away(() => this.send({ do: "dismiss", of: key }), name),
      ),
    );
  }

  /** @param {string} name @param {Element | null} [action] */
  waiting = (name, action = null) => el("p", { class: "note" }, el("span", { class: "grow dim", dir: "auto" }, `Waiting: ${name}`), action);

  /** @param {string} text @param {Element | null} [action] @param {number | null | undefined} [share] */
  busy = (text, action = null, share = null) =>
    el(
      "p",
      { class: "note" },
      el("span", { class: "grow", dir: "auto" }, text),
      el(
        "span",
        { class: share === null ? "busy" : "busy far", "aria-hidden": "true" },
        el("b", { style: share === null ? null : `width: ${Math.round(100 * share)}%` }),
      ),
      action,
    );

  /** @param {string} name @param {string} title @param {string} text @param {() => void} dismiss @param {Element | null} [action] @param {string | undefined} [away] */
  failed = (name, title, text, dismiss, action = null, detail = "", away = undefined) =>
    el(
      "div",
      { class: "note failed" },
      el(
        "div",
        { class: "grow" },
        el("p", {}, el("b", { dir: "auto" }, name), `: ${title}`),
        text ? el("p", { class: "small dim" }, text) : null,
        detail ? el("details", { class: "small dim" }, el("summary", {}, "Details for a report"), detail) : null,
      ),
      action,
      this.away(dismiss, name, away),
    );

  /** @param {() => void} dismiss @param {string} name */
  away = (dismiss, name, what = "Hide the note about") =>
    button("", dismiss, { kind: "quiet icon slim", icon: "close", name: `${what} ${name}` });
}
