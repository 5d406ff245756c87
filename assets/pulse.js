// The beat of a fragment: `seconds` after the server's last answer it is asked for again. A click that may lead to
// another screen makes every beat wait: one that follows it would take its place at the server.

const PATIENCE = 4; // seconds after which an answer that did not come is asked for again
const AWAY = 10; // seconds a link has to lead to another screen, where this beat ends
const MAYBE = 1.5; // and any other button
const beats = new WeakMap();

if (!globalThis.readAgentQuiet) {
  const quiet = (globalThis.readAgentQuiet = { until: 0, for: (s) => (quiet.until = performance.now() + 1000 * s) });
  const touched = (event) => {
    if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
    const path = event.composedPath().filter((node) => node instanceof Element);
    if (path.some((node) => node.matches('a[href]'))) quiet.for(AWAY);
    else if (path.some((node) => node.matches('[data-testid="stChatInput"], .stBidiComponent'))) return;
    else if (path.some((node) => node.matches("button"))) quiet.for(MAYBE);
  };
  for (const type of ["pointerdown", "click", "keydown"]) document.addEventListener(type, touched, { capture: true, passive: true });
}

export default function ({ parentElement, data, setTriggerValue }) {
  clearTimeout(beats.get(parentElement));
  const after = (seconds) => beats.set(parentElement, setTimeout(beat, 1000 * seconds));
  const beat = () => {
    const left = (globalThis.readAgentQuiet.until - performance.now()) / 1000;
    if (left > 0) return after(left);
    after(PATIENCE + data.seconds);
    setTriggerValue("beat", data.turn);
  };
  if (data.seconds) after(data.seconds);
  return () => clearTimeout(beats.get(parentElement));
}
