// What Streamlit calls, again with every change of data, on the same element.

const KINDS = { read: Reader, outline: Outline, memory: Memory };
const LEAVING = new Set(["ask", "open"]); // what leads to another screen
const mounted = new WeakMap();

export default function ({ parentElement, data: [data], setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  let part = mounted.get(root);
  const api = {};
  if (!part) {
    root.dataset.kind = data.kind;
    part = new KINDS[data.kind](root, { send: (act) => part.api.send(act), keep: (name, value) => part.api.keep(name, value) });
    mounted.set(root, part);
  }
  api.send = (act) => {
    if (LEAVING.has(act.do)) globalThis.readAgentQuiet?.leave(); // see pulse.js
    setTriggerValue("act", act);
  };
  api.keep = (name, value) => {
    clearTimeout(part.late?.[name]);
    const quiet = globalThis.readAgentQuiet ?? {};
    const left = (quiet.away ?? 0) - performance.now();
    if (left <= 0) (quiet.told = performance.now()), setStateValue(name, value);
    else (part.late ??= {})[name] = setTimeout(() => part.api.keep(name, value), left); // a click leads away: see pulse.js
  };
  part.api = api;
  part.update(data);
  return () => {
    part.close?.();
    for (const timer of Object.values(part.late ?? {})) clearTimeout(timer);
    mounted.delete(root);
  };
}
