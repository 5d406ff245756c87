// Everything of Streamlit's page that is not part of its public interface and may change with a release.
// pages/parts/shared/streamlit_private.py has the Python side; tests/app/test_streamlit_private.py checks both.

export const CHAT_INPUT = '[data-testid="stChatInput"]';
export const COMPONENT = ".stBidiComponent";
/** The element with a component's shadow root, which it gets once it is in the page. */
export const COMPONENT_HOST = '[data-testid="stBidiComponentIsolated"]';
/** What is scrolled on every screen but Read and Ask. */
export const MAIN = '[data-testid="stMain"]';
export const DIALOG = '[role="dialog"]';
export const DIALOG_CLOSE = '[aria-label="Close"]';
/** Fields for words, of a series too; not those of a date or a choice, which unfold when they have the focus. */
export const WORD_FIELDS = 'textarea, .stTextInput input, [class*="st-key-series_"] input';

/** Streamlit's links to the screens: in the line at the top, or on a narrow screen in the sidebar. */
export const NAVIGATION_LINK = '[data-testid="stTopNavLink"], [data-testid="stSidebarNavLink"]';
/** The buttons that show and hide the sidebar; of the first there is one only while it is hidden. */
export const SIDEBAR_OPENER = '[data-testid="stExpandSidebarButton"]';
export const SIDEBAR_CLOSER = '[data-testid="stSidebarCollapseButton"] button';
/** The app after a run of its script. */
export const APP_DONE = '.stApp[data-test-script-state="notRunning"]';
/** What is over the page while it is open, and the button that opened it. */
export const POPOVER = '[data-testid="stPopoverBody"]';
export const POPOVER_OPEN = '[data-testid="stPopoverButton"][aria-expanded="true"]';
/** What opens or shows something and changes nothing: the tab that is shown, and the buttons of popovers and folds. */
export const OPENER = '[role="tab"][aria-selected="true"], [data-testid="stPopoverButton"], summary';
const TAB_STOPS = ':is(a[href], button, input:not([type="radio"]:not(:checked)), textarea, summary, [tabindex]):not(:disabled)';
export const UPLOADER = '[data-testid="stFileUploaderDropzone"]';
/** The box in the place of an element whose script is on its way. */
export const SKELETON = '[data-testid="stSkeleton"], [data-testid="stAppSkeleton"]';
const NAME_FIELDS = ".stSelectbox input, .stMultiSelect input";
const MODEL_BOX = '[class*="_model_"]'; // of Settings
const NEW_NAME = "Add: "; // before what was typed, in the first option of a box that takes new names
const TYPED_FIELDS = `${NAME_FIELDS}, .stTextInput input, .stTextArea textarea, .stNumberInput input`;
const SENT_MS = 30; // after which what was typed in a field that was left is sent
const WIDGET = '[data-testid="stElementContainer"]';
/** The start of the names under which Streamlit stores a theme that was chosen in its own menu. */
export const STORED_THEME = "stActiveTheme";
/** The start of the name under which it stores whether the sidebar is open. */
export const STORED_SIDEBAR = "stSidebarCollapsed";

/** The element of `st.container(key=…)`. @param {string} key */
export const container = (key) => `.st-key-${key}`;

/** Spares Streamlit two questions to the server before it connects: where it is, and which other sites may embed it.
 * Its dialogs about errors are not shown: they are about Streamlit; `onTrouble` is told. */
export function connectAtOnce() {
  const base = new URL(".", location.href).href;
  const config = { allowedOrigins: [location.origin], useExternalAuthToken: false, blockErrorDialogs: true };
  /** @type {Window & {__streamlit?: object}} */
  const page = window;
  page.__streamlit = { BACKEND_BASE_URL: base, HOST_CONFIG: config };
}

/** Streamlit takes what was typed into a field as the focus leaves it, but not where Tab goes to the eye of a key's, nor
 * when it leaves that: then the field is told to. So it is of what was pasted, which is whole. */
export function takeTypedKeys() {
  addEventListener("paste", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !target.closest(".st-key-settings .stTextInput")) return;
    setTimeout(() => target.dispatchEvent(new FocusEvent("focusout", { bubbles: true })));
  });
  addEventListener("focusout", ({ target, relatedTarget }) => {
    const field = target instanceof Element && target.closest(".stTextInput");
    if (!field) return;
    const inside = relatedTarget instanceof Node && field.contains(relatedTarget);
    if (target instanceof HTMLInputElement !== inside) return; // else it went to the eye, or came from it
    field.querySelector("input")?.dispatchEvent(new FocusEvent("focusout", { bubbles: true }));
  });
}

/** A box to choose from takes a name that was typed at Enter alone. Leaving the box then is as good as Enter, where it
 * takes new names, or has this one. A listed name in another letter case is no new one; nor is a part of one name alone
 * in the box of models, whose names are long. */
export function takeTypedNames() {
  let moved = false; // to an option, by an arrow key
  /** @returns {[field: HTMLInputElement, offered: HTMLElement[]] | null} the field whose list is open, and what is in it */
  const openField = () => {
    const field = document.activeElement;
    if (!(field instanceof HTMLInputElement) || !field.matches(NAME_FIELDS) || field.getAttribute("aria-expanded") !== "true") return null;
    return [field, [...document.querySelectorAll('[role="listbox"] [role="option"]')].filter((option) => option instanceof HTMLElement)];
  };
  /** The listed name that is meant, where what was typed would be a new one. */
  const meant = () => {
    const [field, offered] = openField() ?? [];
    if (!field || !offered || moved || !field.value.trim() || offered[0]?.textContent !== NEW_NAME + field.value) return null;
    const typed = field.value.trim().toLowerCase();
    const holding = offered.slice(1).filter((option) => option.textContent.toLowerCase().includes(typed));
    const same = holding.find((option) => option.textContent.toLowerCase() === typed);
    return same ?? (holding.length === 1 && field.closest(MODEL_BOX) ? holding[0] : null);
  };
  const take = () => {
    const named = meant();
    const [field, offered] = openField() ?? [];
    if (named) named.click();
    else if (field && offered?.some(({ textContent }) => [field.value, NEW_NAME + field.value].includes(textContent)))
      for (const type of ["keydown", "keyup"]) field.dispatchEvent(new KeyboardEvent(type, { key: "Enter", bubbles: true }));
  };
  /** @param {KeyboardEvent} event */
  const takeAtEnter = (event) => {
    const named = event.key === "Enter" && event.isTrusted && meant();
    if (!named) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    named.click();
  };
  addEventListener("input", () => (moved = false), true);
  addEventListener("keydown", ({ key }) => (moved ||= key === "ArrowDown" || key === "ArrowUp"), true);
  addEventListener("keydown", takeAtEnter, true);
  /** @param {Event} event */
  const isOutside = ({ target }) =>
    target instanceof Element && !target.closest('[role="listbox"]') && !document.activeElement?.closest(WIDGET)?.contains(target);
  addEventListener("keydown", ({ key }) => key === "Tab" && take(), true);
  addEventListener("pointerdown", (event) => isOutside(event) && take(), true);
}

/** A press on a button takes the focus from a field. What was typed there is then drawn, and the button may move away
 * before it is released; so the field keeps the focus until then. The button is pressed once what was typed is sent: the
 * message of a press that is followed by another one is lost where the server has not begun with it. */
export function takeTypedAtPress() {
  /** @param {MouseEvent} event @returns {[field: HTMLElement, pressed: HTMLElement] | null} */
  const fieldAndPressed = (event) => {
    const pressed = event.composedPath().find((node) => node instanceof HTMLElement && node.matches("button, label"));
    const field = document.activeElement;
    if (!(pressed instanceof HTMLElement) || !(field instanceof HTMLElement) || !field.matches(TYPED_FIELDS)) return null;
    return field.closest(WIDGET)?.contains(pressed) ? null : [field, pressed];
  };
  addEventListener("mousedown", (event) => fieldAndPressed(event) && event.preventDefault(), true);
  /** @param {MouseEvent} event */
  const release = (event) => {
    const [field, pressed] = fieldAndPressed(event) ?? [];
    if (!field || !pressed) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    field.blur();
    pressed.focus();
    setTimeout(() => pressed.click(), SENT_MS);
  };
  addEventListener("click", release, true);
}

/** Escape closes the list of a box to choose from, and leaves what is chosen: Streamlit clears it, where it can be. */
export function keepChosenAtEscape() {
  /** @param {KeyboardEvent} event */
  const leave = (event) => {
    const { key, target } = event;
    if (key !== "Escape" || !(target instanceof HTMLInputElement) || !target.matches(NAME_FIELDS)) return;
    const open = target.getAttribute("aria-expanded") === "true";
    if (!open && target.closest(`${DIALOG}, ${POPOVER}`)) return; // which it closes
    event.stopImmediatePropagation();
    if (!open) return;
    target.blur();
    target.focus();
  };
  addEventListener("keydown", leave, true);
}

/** Escape closes what was opened with the field in it, before Streamlit has taken what was typed there. */
export function takeTypedAtEscape() {
  /** @param {KeyboardEvent} event */
  const leave = ({ key, target }) => {
    if (key === "Escape" && target instanceof HTMLTextAreaElement && target.closest(POPOVER)) target.blur();
  };
  addEventListener("keydown", leave, true);
}

/** Tab goes from the button of a popover into it, and from its end to what follows the button: it stands at the page's end. */
export function followPopovers() {
  /** @param {KeyboardEvent} event */
  const follow = (event) => {
    const [opener, popover] = [POPOVER_OPEN, POPOVER].map((part) => document.querySelector(part));
    if (event.key !== "Tab" || !(opener instanceof HTMLElement) || !popover) return;
    const stops = [...popover.querySelectorAll(TAB_STOPS)].filter((stop) => stop instanceof HTMLElement && stop.tabIndex >= 0);
    const [first, last, at] = [stops[0], stops.at(-1), document.activeElement];
    if (!(first instanceof HTMLElement)) return;
    if (at === last && !event.shiftKey) {
      opener.focus(); // Tab goes on from there
      opener.click();
    } else if (at === opener && !event.shiftKey) {
      first.focus();
      event.preventDefault();
    } else if (event.shiftKey && at && popover.contains(at) && stops.indexOf(at) < 1) {
      opener.focus();
      event.preventDefault();
    }
  };
  addEventListener("keydown", follow, true);
}

/**
 * @param {(unreachable: boolean) => void} trouble Called when Streamlit met an error that a person should know of;
 *   `unreachable`: the server does not answer, and is asked again and again.
 * @param {() => void} connected Called when the server answers.
 */
export function onTrouble(trouble, connected) {
  addEventListener("message", ({ source, data }) => {
    if (source !== window || data?.stCommVersion !== 1) return;
    if (data.type === "CLIENT_ERROR_DIALOG") trouble(data.error === "Connection error");
    if (data.type === "WEBSOCKET_CONNECTED") connected();
  });
}
