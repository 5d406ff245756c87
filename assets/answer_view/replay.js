// The bar over Ask: the steps of an answer, chosen by click or with the keys [ and ], or with the arrows left and right
// where no control has them for itself.

import { button, copyText, el, first, focused, typing } from "../shared/dom.js";
import { uncover } from "../shared/sidebar.js";
import { conversationOf, goToStep, subscribe } from "./conversation_state.js";
import { cameFromSide, leaveSidesByBack, showConversation, showMemory } from "./sides.js";

/**
 * @import { AskState, ReplayData } from "../protocol.js"
 * @import { Attributes, IconName } from "../shared/dom.js"
 * @import { Api } from "../shared/mount.js"
 */

let shown = ""; // the id of the book that was shown last; not of one Replay, as Streamlit makes another for another book

export class Replay {
  /** @param {HTMLElement} root @param {Api} api @param {ReplayData} data */
  constructor(root, { send, setState }, { book, empty }) {
    this.root = root;
    this.send = send;
    this.setState = setState;
    this.state = conversationOf(book);
    this.empty = empty;
    this.drawn = "";
    this.playing = false;
    this.caption = el("p", { class: "caption", role: "status", hidden: true });
    this.onkey = (/** @type {KeyboardEvent} */ e) => {
      if (typing(e) || e.ctrlKey || e.metaKey || e.altKey) return;
      const arrow = hasFocus(e) ? e.key : "";
      if (e.key === "[" || arrow === "ArrowLeft") this.go(this.state.step - 1);
      if (e.key === "]" || arrow === "ArrowRight") this.go(this.state.step + 1);
    };
    document.addEventListener("keydown", this.onkey);
    this.onpress = (/** @type {PointerEvent} */ e) => this.playing && !e.composedPath().includes(this.root) && this.pause();
    document.addEventListener("pointerdown", this.onpress); // who presses a page or a question wants to look at that
    this.onback = () => location.pathname === this.path && this.follow();
    this.path = location.pathname;
    addEventListener("popstate", this.onback);
    this.ended = new AbortController();
    leaveSidesByBack(this.ended.signal);
    this.width = new ResizeObserver(() => this.fit());
    this.width.observe(root);
  }

  close() {
    this.pause();
    this.ended.abort();
    this.width.disconnect();
    document.removeEventListener("keydown", this.onkey);
    document.removeEventListener("pointerdown", this.onpress);
    removeEventListener("popstate", this.onback);
    this.unsubscribe?.();
  }

  /** @param {ReplayData} data */
  update({ book, empty }) {
    this.empty = empty;
    this.drawn = "";
    if (shown && shown !== book) uncover(); // another book was chosen, or several
    shown = book;
    this.state = conversationOf(book);
    this.unsubscribe?.();
    this.unsubscribe = subscribe(book, (now) => this.draw(now));
  }

  /** The browser went back to another answer or step: the server reads its address. */
  follow() {
    const wanted = new URLSearchParams(location.search);
    const step = wanted.get("step");
    const exchange = wanted.get("exchange") ?? history.state?.exchange ?? "";
    if (exchange !== this.state.now?.exchange || (step && Number(step) !== this.state.step + 1)) {
      this.state.wentBack = !cameFromSide();
      this.send({ do: "address", text: exchange });
    }
  }

  /** @param {number} at */
  go(at) {
    const { running, exchange, steps } = this.state.now ?? { steps: [] };
    if (running || !exchange || at < 0 || at >= steps.length || at === this.state.step) return;
    if (!this.playing) this.pause();
    goToStep(this.state, at);
    // a state value and not a trigger: it goes along with every run, so no step is lost however fast they come
    this.setState("step", { of: exchange, at, turn: Date.now() });
    (at > 0 && at < steps.length - 1 ? showMemory : showConversation)(); // a phone shows what the step is about
    if (this.playing) this.say();
  }

  /** Plays the steps by itself, from the first one after the last; stops at the end. */
  play() {
    const { captions } = this.state.now ?? { captions: [] };
    if (!captions.length) return;
    this.playing = true;
    if (this.state.step >= captions.length - 1) this.go(0);
    else this.say();
  }

  /** Shows the caption of the step, and goes on when it has stood. */
  say() {
    const { captions } = this.state.now ?? { captions: [] };
    const [said, seconds] = captions[this.state.step] ?? ["", 0];
    this.caption.textContent = said;
    this.caption.hidden = !said;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.state.step >= captions.length - 1) return this.pause();
      this.go(this.state.step + 1);
    }, 1000 * seconds);
    this.redraw();
  }

  pause() {
    clearTimeout(this.timer);
    const played = this.playing;
    this.playing = false;
    this.caption.hidden = true;
    if (played) this.redraw();
  }

  redraw() {
    this.drawn = "";
    if (this.state.now) this.draw(this.state.now);
  }

  /** @param {AskState} now */
  draw({ exchange, running, steps, link, captions }) {
    const at = this.state.step;
    if (this.playing && (running || exchange !== this.of || !steps.length)) this.pause();
    this.of = exchange;
    const named = new URLSearchParams(location.search).has("exchange");
    if (exchange && !named && location.pathname === this.path && history.state?.exchange !== exchange)
      history.replaceState({ ...history.state, exchange }, ""); // for the way back to it
    const key = JSON.stringify([exchange, running, steps, at, this.playing]);
    if (key === this.drawn) return;
    this.drawn = key;
    const empty = !exchange ? this.empty : running || steps.length ? "" : "A hidden answer has no replay.";
    if (empty) return void this.root.replaceChildren(el("p", { class: "small dim" }, empty));
    const sends = captions[at]?.[2];
    const had = focused(this.root)?.dataset.key;
    const list = el(
      "ol",
      { class: "steps" },
      ...steps.map((title, i) =>
        el(
          "li",
          {},
          el(
            "button",
            {
              type: "button",
              "data-key": `s${i}`,
              "aria-current": i === at ? "step" : null,
              "aria-label": title,
              title,
              onclick: () => this.go(i),
            },
            el("span", { class: "num" }, String(i + 1)),
            el("span", { class: "name" }, title),
          ),
        ),
      ),
    );
    /** @param {IconName} shape @param {string} name @param {number} to @param {string} key */
    const arrow = (shape, name, to, key) => button(null, () => this.go(to), { kind: "quiet icon", icon: shape, name, "data-key": key });
    const back = arrow("left", "Step back (←)", at - 1, "back");
    const next = arrow("right", "Step on (→)", at + 1, "on");
    back.disabled = running || at <= 0;
    next.disabled = running || at >= steps.length - 1;
    const address = new URL(`${link}${at + 1}`, location.href.split("?")[0]).href;
    const here = /^(localhost|127\.|\[::1\])/.test(location.hostname); // 127.0.0.1 and its like
    const copied = here ? "Copied: it opens on this computer only" : "Copied";
    const share = brief("Copy link", "copy", (e) => copyText(address, e.currentTarget, copied), { title: "Copy the link to this step" });
    const play = brief(
      this.playing ? "Pause" : at === steps.length - 1 ? "Play again" : "Play",
      this.playing ? "pause" : "play",
      () => (this.playing ? this.pause() : this.play()),
      {
        "data-key": "play",
      },
    );
    play.classList.add("signed");
    play.disabled = running || !captions.length;
    /** @param {"save" | "prompt"} what opens a dialog, behind which nothing plays on */
    const open = (what) => {
      this.pause();
      this.send({ do: what, page: at });
    };
    const save = brief("Save", "drop", () => open("save"), { title: "Save the replay as one HTML file" });
    const prompt = brief("Prompt and reply", "ask", () => open("prompt"), { title: "What was sent in this step, and the reply" });
    this.root.replaceChildren(
      el("strong", { class: "small" }, "Replay"),
      play,
      back,
      list,
      next,
      el("span", { class: "sp" }),
      ...(sends ? [prompt] : []),
      share,
      save,
      this.caption,
    );
    this.fit();
    if (had) first(this.root, `[data-key="${had}"]`)?.focus({ preventScroll: true });
  }

  /** Leaves names out where they have no room, those farthest from the current step first, and brings it into view. */
  fit() {
    const list = first(this.root, ".steps");
    const at = this.state.step;
    if (!list) return;
    const items = [...list.children];
    for (const item of items) item.classList.remove("bare");
    for (const [, item] of [...items.entries()].sort(([a], [b]) => Math.abs(b - at) - Math.abs(a - at)))
      if (item !== items[at] && list.scrollWidth > list.clientWidth) item.classList.add("bare");
    const [now, ends] = [items[at]?.getBoundingClientRect(), list.getBoundingClientRect()];
    if (now) list.scrollLeft += (now.left + now.right - ends.left - ends.right) / 2;
  }
}

/**
 * A button that is its sign alone where the bar is narrow.
 * @param {string} label
 * @param {IconName} sign
 * @param {(event: PointerEvent & {currentTarget: HTMLElement}) => unknown} act
 * @param {Attributes} rest
 */
function brief(label, sign, act, rest = {}) {
  const made = button(null, /** @type {never} */ (act), { kind: "quiet slim brief", icon: sign, "aria-label": label, ...rest });
  made.append(el("span", {}, label));
  return made;
}

/** Whether the page or a part of Ask has the focus, and nothing there has used the key. @param {KeyboardEvent} event */
function hasFocus(event) {
  const path = event.composedPath();
  return (
    !event.defaultPrevented &&
    (path[0] === document.body ||
      path.some((node) => node instanceof HTMLElement && ["memory", "replay", "conversation"].includes(node.dataset.kind ?? "")))
  );
}
