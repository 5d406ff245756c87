// The books of this browser tab: pages by scope, kept once and shared by every part that draws them.
// Parcels arrive in any order and may repeat; only pages that changed are told to listeners.

const shelf = (globalThis.readAgentShelf ??= new Map());

function bookOf(scope) {
  if (!shelf.has(scope)) shelf.set(scope, Object.assign(new EventTarget(), { pages: [], at: null, view: null }));
  return shelf.get(scope);
}

function keepParcel({ scope, from, pages }) {
  const book = bookOf(scope);
  const changed = [];
  pages.forEach((record, i) => {
    const at = from - 1 + i;
    const text = JSON.stringify(record);
    if (book.pages[at]?.text === text) return;
    book.pages[at] = { ...record, text };
    changed.push(record.n);
  });
  if (changed.length) book.dispatchEvent(new CustomEvent("pages", { detail: changed }));
}

// Tells every other part (map, outline) where the person is; `page` is a number from 1.
function moveTo(scope, page, paragraph) {
  const book = bookOf(scope);
  if (book.at?.page === page && book.at?.paragraph === paragraph) return;
  book.at = { page, paragraph };
  book.dispatchEvent(new CustomEvent("at", { detail: book.at }));
}

function sectionStarts(book, sections) {
  // sections: [title, level, first paragraph]; the page each starts on, null while unread
  const known = book.pages.filter(Boolean);
  const lastFrom = (paragraph) => {
    // the last page that begins at the paragraph or before it; by halving, as both can be thousands
    let [low, high] = [0, known.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (known[middle].s <= paragraph) low = middle + 1;
      else high = middle;
    }
    return known[low - 1];
  };
  return sections.map(([title, level, start], i) => {
    const next = sections[i + 1]?.[2] ?? Infinity;
    const holds = (p) => (p && p.s + p.t.length > start ? p : null);
    const page = holds(lastFrom(start));
    const last = holds(lastFrom(next - 1)) ?? page;
    return { title, level, start, next, page: page?.n ?? null, last: page ? (last?.n ?? null) : null };
  });
}

// `does` once a frame, with everything it was called with since; a thousand pages come in many parcels.
function onceAFrame(does) {
  let held = null;
  return (items = []) => {
    if (held) return void held.push(...items);
    held = [...items];
    requestAnimationFrame(() => {
      const all = held;
      held = null;
      does(all);
    });
  };
}
