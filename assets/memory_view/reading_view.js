// How the text is shown: in pages or scrolled, with or without gists, in which type. Has the flow, which moves the text.

import { applyLook } from "./look_panel.js";
import { Paged } from "./paged.js";
import { Scrolled } from "./scrolled.js";

/**
 * @import { Look, ReaderView } from "../protocol.js"
 * @import { Frame } from "./frame.js"
 * @import { Layer } from "./layer.js"
 * @import { FlowEvents } from "./paged.js"
 * @import { ReadingState, Send } from "./state.js"
 * @import { Units } from "./units.js"
 *
 * @typedef {object} ViewEvents
 * @property {FlowEvents["arrived"]} arrived
 * @property {FlowEvents["shown"]} shown
 * @property {FlowEvents["turned"]} turned
 * @property {() => boolean} placed whether the person is where they were; before that nothing is gone to
 * @property {() => boolean} notes whether the notes are open
 * @property {() => void} textLeft gists or chapters take its place
 * @property {() => void} textAgain
 * @property {(view: ReaderView) => void} changes it is going to be another one
 * @property {(view: ReaderView) => void} changed
 * @property {() => void} flows in pages now, or scrolled
 * @property {(narrow: boolean) => void} resized whether the view has become narrow, or wide
 * @property {(open: boolean) => void} beside whether the gists beside turned pages are open
 */

/** @type {ReaderView[]} */
const VIEWS = ["both", "text", "gists"];
const EDGE = 24; // px: what has less in view is not seen

export class ReadingView {
  /** @param {{state: ReadingState, frame: Frame, units: Units, layer: Layer, send: Send, on: ViewEvents}} needs */
  constructor({ state, frame, units, layer, send, on }) {
    this.state = state;
    this.frame = frame;
    this.send = send;
    this.on = on;
    this.kinds = ""; // the classes that are drawn
    const events = { arrived: on.arrived, shown: on.shown, turned: on.turned, resized: () => this.resized() };
    this.makeFlow = () => {
      const Flow = state.paged ? Paged : Scrolled;
      return new Flow({ state, frame, units, layer, on: events });
    };
    this.flow = this.makeFlow();
    // a typeface that comes late gives the text another layout
    this.fonts = () => on.placed() && this.flow.keepPlace(() => {});
    document.fonts.addEventListener("loadingdone", this.fonts);
  }

  close() {
    document.fonts.removeEventListener("loadingdone", this.fonts);
    this.flow.close();
  }

  /** The person chose a view. @param {ReaderView} view */
  choose(view) {
    this.set(view);
    this.send({ do: "view", text: view });
  }

  next() {
    const { state } = this;
    if (!state.gistsMade()) return this.frame.say("There are no gists yet.");
    const next = VIEWS[(VIEWS.indexOf(state.view) + 1) % VIEWS.length];
    this.choose(next === "text" && !this.gistInView ? "gists" : next); // one that would look the same is passed over
  }

  /** Whether a gist is in view: in a narrow window it comes after its page. */
  get gistInView() {
    const view = this.frame.room.getBoundingClientRect();
    return [...this.frame.room.querySelectorAll(".leaf, .beside-gists")].some((node) => {
      const { left, right, top, bottom } = node.getBoundingClientRect();
      const within = left < view.right && right > view.left && top < view.bottom - EDGE && bottom > view.top + EDGE;
      return (within || node.matches(".beside-gists")) && node.checkVisibility({ visibilityProperty: true });
    });
  }

  /** @param {ReaderView} view */
  set(view) {
    const { state } = this;
    const { place, paged, folded } = state;
    const change = () => {
      this.on.changes(view);
      state.view = view;
      this.on.changed(view);
      if (!state.book.known) return;
      this.chooseFlow();
      this.drawClasses();
    };
    if (!state.book.known || !this.on.placed()) return change();
    if (!folded) this.on.textLeft();
    if (paged) {
      change();
      this.flow.show(place);
    } else this.flow.keepPlace(change);
    if (folded && !state.folded) this.on.textAgain();
    this.showFold();
  }

  showFold() {
    if (this.state.folded && this.flow instanceof Scrolled) this.flow.showFold();
  }

  /** The person chose another look. @param {Look} look */
  changeLook(look) {
    const before = this.state.look;
    const names = /** @type {(keyof Look)[]} */ (Object.keys(look)).filter((name) => look[name] !== before[name]);
    const changed = Object.fromEntries(names.map((name) => [name, look[name]])); // another tab may have changed the rest
    this.drawLook(look);
    this.send({ do: "look", text: JSON.stringify(changed) });
  }

  /** The look as the server has it: another tab may have changed it. @param {Look} look */
  takeLook(look) {
    if (JSON.stringify(look) === JSON.stringify(this.state.look)) return;
    document.documentElement.dataset.theme = look.theme;
    this.drawLook({ ...look });
  }

  /** @param {Look} look */
  drawLook(look) {
    this.state.look = look;
    this.flow.keepPlace(() => {
      this.applyLook();
      this.chooseFlow();
    });
  }

  applyLook() {
    applyLook(this.frame.root.style, this.state.look);
    this.drawClasses();
  }

  drawClasses() {
    const { frame, state } = this;
    const { paged, look } = state;
    const kinds = [frame.isNarrow ? "slim" : "wide", `v-${state.view}`, paged ? "paged" : "scrolled", `f-${paged ? look.flow : "scroll"}`];
    if (state.view === "chapters") kinds.push("v-gists");
    if (look.justify === "on") kinds.push("justified");
    if (this.on.notes()) kinds.push("with-notes");
    if (state.vertical && paged) kinds.push("vertical");
    frame.room.className = `room ${kinds.join(" ")}`;
    frame.root.classList.toggle("narrow", frame.isNarrow);
    if (kinds.join() === this.kinds) return;
    this.kinds = kinds.join();
    this.on.beside(look.flow !== "spread" && !frame.isNarrow); // else it is a line that opens
  }

  /** Gists alone are a list, which is scrolled; vertical writing is turned in pages. */
  chooseFlow() {
    const { state } = this;
    const paged = !state.folded && (state.look.flow !== "scroll" || state.vertical);
    if (paged === state.paged) return this.drawClasses();
    const { place } = state;
    this.flow.close();
    state.paged = paged;
    this.on.flows();
    this.flow = this.makeFlow();
    this.drawClasses();
    if (this.on.placed()) this.flow.show(place);
  }

  resized() {
    const narrow = this.frame.root.classList.contains("narrow");
    this.drawClasses();
    this.on.resized(narrow !== this.frame.isNarrow);
  }
}
