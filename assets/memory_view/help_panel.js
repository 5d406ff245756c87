// The keys of the reader, as a panel of its toolbar.

import { button, el } from "../shared/dom.js";

/** @type {[title: string, keys: [keys: string, what: string][]][]} */
const GROUPS = [
  [
    "Go",
    [
      ["j  k", "next page, previous page (also ← →); among lines of chapters the next line"],
      ["[  ]", "previous chapter, next chapter"],
      ["Home  End", "beginning, end"],
      ["Backspace", "back to where I was, after a jump"],
      ["o", "outline"],
      ["m", "map; then ↑ ↓"],
    ],
  ],
  [
    "Show",
    [
      ["g", "with gists, text, gists alone"],
      ["-  +", "shrink to the gists, back to the text; Enter opens the page in place, Enter or Esc closes it"],
      ["f", "full screen"],
      ["p", "the PDF's own page"],
    ],
  ],
  [
    "Find out",
    [
      ["/", "search; n N next hit, previous hit"],
      ["a", "ask beside the text"],
      ["x", "what you know of the next name on the screen (Shift x: the one before)"],
      ["w", "the book's world: who is who, what happened"],
    ],
  ],
  [
    "Mark and listen",
    [
      ["b", "bookmark"],
      ["i", "notes"],
      ["v", "select a sentence; then ← → by word, ↑ ↓ by sentence, Shift for its beginning, Enter for the menu"],
      ["1  2  3  4", "highlight what is selected; n note, a ask, e explain, d define, t translate, c copy"],
      ["l", "listen, pause"],
    ],
  ],
  [
    "Always",
    [
      ["Esc", "close what is open"],
      ["?", "this help"],
    ],
  ],
];

/** The panel's content. @param {() => void} close */
export function helpPanel(close) {
  const groups = GROUPS.map(([title, keys]) =>
    el(
      "section",
      {},
      el("h3", {}, title),
      el(
        "dl",
        { class: "keys" },
        ...keys.flatMap(([key, what]) => [el("dt", {}, ...key.split("  ").map((k) => el("kbd", {}, k))), el("dd", {}, what)]),
      ),
    ),
  );
  const around = () => {
    close();
    document.dispatchEvent(new Event("readagent-tour"));
  };
  return [
    el(
      "div",
      { class: "chead" },
      el("h2", {}, "Keyboard shortcuts"),
      el("div", { class: "erow" }, button("Show me around", around, { kind: "slim" }), button("Close", close, { kind: "slim" })),
    ),
    el("div", { class: "keygroups" }, ...groups),
  ];
}
