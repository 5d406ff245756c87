// The keys of the reader: which ones the browser is to scroll the text by.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readerCommands } from "../../assets/memory_view/commands.js";
import { readerKey } from "../../assets/memory_view/keys.js";

class Part {
  /** @param {string[]} within the selectors that it is in */
  constructor(...within) {
    this.within = within;
  }

  closest(selectors) {
    return this.within.some((one) => selectors.split(", ").includes(one)) ? this : null;
  }
}

const TEXT = new Part();

/** What a press on a key of a scrolled book does. @param {string} key @param {Part} at */
const pressed = (key, at) => {
  const done = [];
  const commands = {
    selecting: () => false,
    left: () => -1,
    turn: (step) => done.push(step),
    screen: (step) => done.push(`screen ${step}`),
    focusText: () => done.push("text"),
  };
  const event = { key, composedPath: () => [at], preventDefault: () => done.push("kept") };
  readerKey(event, commands, { map: new Part(), text: TEXT, paged: false });
  return done;
};

test("keys that scroll reach the text when nothing has the focus, or a button of the bar", () => {
  const body = new Part();
  Object.assign(globalThis, { Element: Part, document: { body, querySelector: () => null } });
  for (const key of ["ArrowDown", "ArrowUp"]) assert.deepEqual(pressed(key, body), ["text"], key);
  for (const at of [body, TEXT]) assert.deepEqual(pressed(" ", at), ["kept", "screen 1"]);
  const button = new Part("button", ".tbar");
  assert.deepEqual(pressed("PageUp", button), ["kept", "screen -1"]);
  assert.deepEqual(pressed(" ", button), []); // it presses the button
  assert.deepEqual(pressed("PageDown", new Part("input", ".tbar")), []);
  assert.deepEqual(pressed("PageDown", new Part()), []); // another part that scrolls has it
  assert.deepEqual(pressed("j", body), ["kept", 1]);
});

test("without furniture the search brings the bar with its field in place of the notes, and Escape first closes what is seen", () => {
  const open = ["notes", "opened page", "full screen", "voice"]; // a closed part says that it was closed already
  const done = [];
  const close = (part) => () => open.includes(part) && done.push(open.splice(open.indexOf(part), 1)[0]) > 0;
  const none = { escape: () => false, close: () => false, clear: () => false };
  const listen = { seen: false, close: close("voice") };
  const commands = readerCommands({
    annotations: { ...none, marks: {}, notes: { toggle: close("notes") }, listen },
    bare: { on: true, escape: close("full screen"), showBars: (shown) => done.push(`bars ${shown}`) },
    toolbar: { ...none, find: () => done.push("field") },
    gistSpeed: { escape: close("opened page") },
    ...{ world: none, card: none, original: none, foot: none, cited: none, beside: none },
  });
  commands.find();
  open.push("notes");
  for (let i = 0; i < 5; i++) commands.escape();
  assert.deepEqual(done, ["notes", "bars true", "field", "notes", "opened page", "full screen", "voice"]);
  open.push("full screen", "voice");
  listen.seen = true;
  commands.escape();
  assert.deepEqual(open, ["full screen"]);
});
