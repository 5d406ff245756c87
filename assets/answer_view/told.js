// What Ask shows, as the server told it last: kept once in this tab, by book, and heard by every part that draws of it.
// So an answer under way is one small message a time, and a step of the replay needs no server at all.
// `now`: {turn, exchange, running, order, records, steps, link, at, memory, views}; a view is what stands at one step.

const talks = (globalThis.readAgentTalks ??= new Map());

function talkOf(name) {
  if (!talks.has(name)) talks.set(name, Object.assign(new EventTarget(), { now: null, at: 0, mine: null }));
  return talks.get(name);
}

function tell(talk, now) {
  if (now.turn < (talk.now?.turn ?? 0)) return;
  const same = talk.now?.exchange === now.exchange && talk.now.steps.length === now.steps.length;
  if (!same || now.running || now.at === talk.mine) talk.mine = null;
  talk.now = now;
  talk.at = talk.mine ?? now.at; // a click that is still on its way stays shown
  talk.dispatchEvent(new Event("told"));
}

function goToStep(talk, at) {
  talk.at = talk.mine = at;
  talk.dispatchEvent(new Event("told"));
}

// Calls `does` now and at every change, until the function that is returned is called or `name` is another.
function hear(name, does) {
  const talk = talkOf(name);
  talk.addEventListener("told", does);
  if (talk.now) does();
  return () => talk.removeEventListener("told", does);
}
