// The pictures of a book: in the text, enlarged in a dialog, and in a list for the sidebar. Their sizes are known before
// they come, so nothing moves. Captions are paragraphs of the text (units.js).

import { button, el, icon } from "../shared/dom.js";

/**
 * @import { BookOutline } from "../protocol.js"
 * @import { Attributes } from "../shared/dom.js"
 *
 * @typedef {object} Figure
 * @property {number} paragraph
 * @property {boolean} after
 * @property {string} alt
 * @property {number | null} caption
 * @property {string} picture
 * @property {number} width
 * @property {number} height
 * @property {boolean} light
 * @property {string} label
 */

const MISSING = "The picture could not be read";
/** @typedef {{all: Figure[], places: Map<string, Figure[]>, captions: Set<number | null>}} Figures */

/** @type {WeakMap<BookOutline, Figures>} outline -> its figures, and those of each paragraph */
const records = new WeakMap();

/** @param {BookOutline} outline */
function figuresOf(outline) {
  const known = records.get(outline);
  if (known) return known;
  const all = outline.figures.map(([paragraph, after, alt, caption, picture, width, height, light, label]) => ({
    paragraph,
    after,
    alt,
    caption,
    picture,
    width,
    height,
    light,
    label,
  }));
  /** @type {Figures} */
  const made = { all, places: new Map(), captions: new Set(all.map((figure) => figure.caption)) };
  for (const figure of all) {
    const key = `${figure.paragraph} ${figure.after}`;
    made.places.set(key, [...(made.places.get(key) ?? []), figure]);
  }
  records.set(outline, made);
  return made;
}

/** @param {BookOutline} outline @param {{picture: string}} figure */
const addressOf = (outline, figure) => new URL(outline.pictures + figure.picture, document.baseURI).href;

/** Whether a paragraph is the caption of a picture. @param {BookOutline} outline @param {number} paragraph */
export const isCaption = (outline, paragraph) => figuresOf(outline).captions.has(paragraph);

/** How many pictures there are from one paragraph to another. @param {BookOutline} outline @param {number} from @param {number} to */
export const figuresBetween = (outline, from, to) =>
  figuresOf(outline).all.filter(({ paragraph }) => paragraph >= from && paragraph < to).length;

/**
 * The elements of the pictures before a paragraph, or after it.
 * @param {BookOutline} outline
 * @param {number} paragraph
 * @param {boolean} after
 */
export function drawFigures(outline, paragraph, after) {
  return (figuresOf(outline).places.get(`${paragraph} ${after}`) ?? []).map((figure) => drawFigure(outline, figure));
}

/** @param {BookOutline} outline @param {Figure} figure */
function drawFigure(outline, figure) {
  const { width, height } = figure;
  const node = el("figure", {
    class: `fig${figure.light ? " light" : ""}${figure.after ? "" : " lead"}`,
    style: width ? `--w:${width};--h:${height}` : null,
  });
  if (!figure.picture) node.append(missing(figure));
  else node.append(openButton(node, outline, figure));
  return node;
}

/** @param {Element} node @param {BookOutline} outline @param {Figure} figure */
function openButton(node, outline, figure) {
  const image = pictureOf(outline, figure, { loading: "lazy", onerror: () => node.replaceChildren(missing(figure)) });
  const name = `Enlarge the picture${figure.label ? `: ${figure.label}` : ""}`;
  return el(
    "button",
    {
      type: "button",
      class: "pic",
      "aria-label": name,
      onclick: (event) => enlarge(/** @type {HTMLElement} */ (event.currentTarget), outline, figure),
    },
    image,
    el("span", { class: "grow", "aria-hidden": "true" }, icon("grow")),
  );
}

/** @param {BookOutline} outline @param {Figure} figure @param {Attributes} rest */
const pictureOf = (outline, { alt, width, height, ...figure }, rest) =>
  el("img", { src: addressOf(outline, figure), alt, width, height, decoding: "async", draggable: "false", ...rest });

/** @param {Figure} figure */
const missing = (figure) =>
  el(
    "div",
    { class: "pic nopic" },
    el("span", { lang: "en", dir: "ltr" }, MISSING),
    figure.alt ? el("span", { class: "dim", dir: "auto" }, figure.alt) : null,
  );

/**
 * Escape closes a dialog, and the browser gives the focus back to the picture.
 * @param {HTMLElement} pressed
 * @param {BookOutline} outline
 * @param {Figure} figure
 */
function enlarge(pressed, outline, figure) {
  const close = () => dialog.close();
  /** @type {HTMLDialogElement} */
  const dialog = el(
    "dialog",
    {
      class: `zoomed${figure.light ? " light" : ""}`,
      "aria-label": figure.label || "Picture",
      style: `--w:${figure.width};--h:${figure.height}`,
      onclose: () => {
        dialog.remove();
        pressed.focus({ preventScroll: true });
      },
      onclick: (event) => {
        if (!(event.target instanceof Element && event.target.closest("img, p"))) close();
      },
      onkeydown: (event) => event.stopPropagation(),
    },
    button("", close, { kind: "icon", icon: "close", name: "Close" }),
    el("div", { class: "plate" }, pictureOf(outline, figure, {})),
    figure.label ? el("p", { lang: outline.language, dir: "auto" }, figure.label) : null,
  );
  pressed.closest(".root")?.append(dialog);
  dialog.showModal();
}

/**
 * The pictures as items of a list for the sidebar; `go` is called with a paragraph.
 * @param {BookOutline} outline
 * @param {(paragraph: number) => () => void} go
 */
export function listFigures(outline, go) {
  const shown = figuresOf(outline).all.filter((figure) => figure.picture);
  return shown.map((figure, i) =>
    el(
      "li",
      {},
      el(
        "button",
        { type: "button", onclick: go(figure.paragraph) },
        el("span", { class: `thumb${figure.light ? " light" : ""}` }, pictureOf(outline, { ...figure, alt: "" }, { loading: "lazy" })),
        el("span", { class: "figname", lang: outline.language, dir: "auto" }, figure.label || `Picture ${i + 1}`),
      ),
    ),
  );
}
