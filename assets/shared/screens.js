// The links to the screens that are in the page before Streamlit is: the name at the top left, and on a phone the bar
// at the bottom, which hides while the person reads downwards.

import { NAVIGATION_LINK } from "./streamlit.js";

const HIDE_PX = 12; // a finger moves as far before the bar hides or returns

/** The screen in the address: "" for the library, "read", "ask" … */
export const screen = () => location.pathname.replace(/^.*\//, "");

/** Screens without a link, and the screen that leads to each. @type {Record<string, string | undefined>} */
const LED_TO = { catalogue: "", gists: "", act: "ask" };

/** Makes our links work as Streamlit's, which change the screen without loading the page again. */
export function connectLinks() {
  document.addEventListener("click", (event) => {
    /** @type {HTMLAnchorElement | null} */
    const link = event.target instanceof Element ? event.target.closest("a[data-screen]") : null;
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    /** @type {HTMLElement | null} */ (link.closest("[popover]"))?.hidePopover();
    /** @type {NodeListOf<HTMLAnchorElement>} */
    const links = document.querySelectorAll(NAVIGATION_LINK);
    const theirs = [...links].find((other) => other.pathname === link.pathname);
    if (!theirs) return; // Streamlit has not drawn them yet: the page is loaded
    event.preventDefault();
    theirs.click();
  });
  const mark = () => {
    /** @type {NodeListOf<HTMLAnchorElement>} */
    const links = document.querySelectorAll("a[data-screen]");
    const within = LED_TO[screen()];
    document.documentElement.toggleAttribute("data-in-library", within === ""); // for Streamlit's own link (streamlit.css)
    document.documentElement.toggleAttribute("data-in-ask", within === "ask");
    document.documentElement.toggleAttribute("data-in-read", screen() === "read"); // tokens.css, frame.css
    document.documentElement.toggleAttribute("data-no-side", !["read", "ask"].includes(screen())); // of the sidebar too
    for (const link of links) {
      if (link.dataset.screen === screen()) link.setAttribute("aria-current", "page");
      else if (within === link.dataset.screen) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    const more = document.querySelector("button[popovertarget='more']");
    if (document.querySelector("#more [aria-current]")) more?.setAttribute("aria-current", "true");
    else more?.removeAttribute("aria-current");
  };
  // not every browser has the Navigation API yet; the title changes a moment before or after the address
  globalThis.navigation?.addEventListener("currententrychange", mark);
  new MutationObserver(mark).observe(document.querySelector("title") ?? document.head, { childList: true });
  mark();
}

/** Hides the bar while a finger or a wheel moves the text up; shows it when it moves down, or on a tap. Read has its own way (bare.js). */
export function hideBarWhileReading() {
  const root = document.documentElement;
  let from = 0; // where the finger touched
  /** @param {boolean} shown */
  const show = (shown) => root.toggleAttribute("data-bar-hidden", !shown);
  /** @param {number} up */
  const moved = (up) => {
    if (Math.abs(up) >= HIDE_PX) show(up < 0);
  };
  /** @type {<T extends keyof DocumentEventMap>(type: T, act: (event: DocumentEventMap[T]) => void) => void} */
  const listen = (type, act) => document.addEventListener(type, act, { capture: true, passive: true });
  listen("touchstart", (event) => {
    from = event.touches[0].clientY;
  });
  listen("touchmove", (event) => moved(from - event.touches[0].clientY));
  listen("wheel", (event) => moved(event.deltaY));
  listen("click", () => show(true));
  listen("focusin", (event) => {
    if (event.target instanceof Element && event.target.closest("nav.bar")) show(true);
  });
}
