// The beat of a fragment: `seconds` after the server's last answer it is asked for again. A click that may lead to
// another screen makes every beat wait: one that follows it would take its place at the server.

const PATIENCE = 4; // seconds after which an answer that did not come is asked for again
const AWAY = 10; // seconds a link has to lead to another screen, where this beat ends
const MAYBE = 1.5; // and any other button
const ON_ITS_WAY = 0.1; // seconds until what was told has gone
const beats = new WeakMap(); // element -> {timer, asked: whether a beat is on its way}

if (!globalThis.readAgentQuiet) {
  // `away`, `maybe`: until when, in milliseconds of the page; `told`: when something was last told to the server
  const quiet = (globalThis.readAgentQuiet = { away: 0, maybe: 0, told: -Infinity });
  quiet.leave = () => {
    document.dispatchEvent(new Event("readagent-leave")); // the last moment to tell something
    quiet.away = performance.now() + 1000 * AWAY;
  };
  const touched = (event) => {
    if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
    const path = event.composedPath().filter((node) => node instanceof Element);
    if (path.some((node) => node.matches("a[href]"))) quiet.leave();
    else if (path.some((node) => node.matches('[data-testid="stChatInput"], .stBidiComponent'))) return;
    else if (path.some((node) => node.matches("button"))) quiet.maybe = performance.now() + 1000 * MAYBE;
  };
  for (const type of ["pointerdown", "click", "keydown"]) document.addEventListener(type, touched, { capture: true, passive: true });
  // what is told goes on its way a moment later: the click waits for it, for what comes after it would take its place
  const waits = (event) => {
    const link = event.composedPath().find((node) => node instanceof Element && node.matches("a[href]"));
    const plain = !event.button && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    const left = quiet.told + 1000 * ON_ITS_WAY - performance.now();
    if (!link || !plain || left <= 0) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    setTimeout(() => link.isConnected && link.click(), left);
  };
  document.addEventListener("click", waits, true);
}

export default function ({ parentElement, data: [data], setTriggerValue }) {
  const quiet = globalThis.readAgentQuiet;
  const known = beats.get(parentElement);
  if (!known) quiet.away = 0; // another screen: the click led here
  if (!known?.asked) quiet.maybe = 0; // this run was the click's, not a beat's
  clearTimeout(known?.timer);
  const mine = { timer: 0, asked: false };
  beats.set(parentElement, mine);
  const after = (seconds) => (mine.timer = setTimeout(beat, 1000 * seconds));
  const beat = () => {
    const left = (Math.max(quiet.away, quiet.maybe) - performance.now()) / 1000;
    if (left > 0) return void after(left);
    mine.asked = true;
    after(PATIENCE + data.seconds);
    setTriggerValue("beat", data.turn);
  };
  if (data.seconds) after(data.seconds);
  return () => clearTimeout(mine.timer);
}
