// What Streamlit calls, again with every change of data, on the same element.

const KINDS = { talk: Talk, replay: Replay, conversations: Conversations, suggestions: Suggestions };
const mounted = new WeakMap();

export default function ({ parentElement, data: [data], setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  let part = mounted.get(root);
  if (!part) {
    root.dataset.kind = data.kind;
    part = new KINDS[data.kind](root, {
      send: (act) => part.trigger("act", act),
      keep: (name, value) => part.state(name, value),
    });
    mounted.set(root, part);
  }
  part.trigger = setTriggerValue;
  part.state = setStateValue;
  part.update(data);
  return () => {
    part.close?.();
    mounted.delete(root);
  };
}
