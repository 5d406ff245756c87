// Where the person is in the reader: which page stands at the reading line, going to another, keeping it.
// Knows the reader's leaves, scroller and map; what is searched or how a page looks is not its business.

const HOLD = 700; // ms in which pages around, drawn for the first time, may still push what was gone to away

const ABOVE = 60; // px of the reading line above which a paragraph has been read

class Place {
  constructor(reader) {
    this.reader = reader;
    this.here = 0; // the page at the reading line, 0 before there is one
    this.forced = null; // {page, top}: a page gone to stays the current one until the person scrolls
    this.wanted = null; // {page, paragraph, id}: to be gone to when it is there
    this.holding = 0; // until when the view is held at what was gone to, unless the person scrolls
    this.laid = 0; // until when it is held where the person stood, as the pages are laid out anew
    this.standing = {}; // where that is
    this.listen();
  }

  // Another book: nothing of the place in the one before holds; `start` is where to begin, if anywhere.
  begin(start) {
    this.here = 0;
    this.forced = this.aim = this.kept = this.unkept = null;
    this.standing = {};
    this.restored = false;
    this.wanted = start;
  }

  // What the server asks for, once for every `id`.
  ask(goto) {
    if (goto && goto.id !== this.reader.book.gone) this.wanted = goto;
    this.tryWanted();
  }

  listen() {
    const { scroller, mapbox } = this.reader;
    let waiting = false;
    scroller.addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => ((waiting = false), this.settle()));
    }, { passive: true });
    document.addEventListener("readagent-leave", (this.leaving = () => this.flush()));
    // another width or height (or the first one) lays every page out anew
    this.refit = new ResizeObserver(() => this.fit());
    this.refit.observe(scroller);
    let dragging = false;
    const go = (event) => {
      const y = event.clientY - mapbox.firstChild.getBoundingClientRect().top;
      this.goto(Math.min(pageAt(this.reader.cells, y), this.reader.leaves.size));
    };
    mapbox.addEventListener("pointerdown", (event) => {
      if (!this.reader.leaves.size || !this.reader.cells) return;
      dragging = true;
      mapbox.setPointerCapture?.(event.pointerId);
      go(event);
    });
    mapbox.addEventListener("pointermove", (event) => dragging && go(event));
    for (const end of ["pointerup", "pointercancel"]) mapbox.addEventListener(end, () => (dragging = false));
    mapbox.addEventListener("wheel", (event) => {
      this.holding = this.laid = 0;
      scroller.scrollBy(0, event.deltaY);
      event.preventDefault();
    }, { passive: false });
    for (const own of ["wheel", "touchmove", "pointerdown", "keydown"])
      scroller.addEventListener(own, () => (this.holding = this.laid = 0), { passive: true });
  }

  close() {
    this.refit.disconnect();
    clearTimeout(this.keeping);
    document.removeEventListener("readagent-leave", this.leaving);
  }

  // Where the eye is supposed to be, a quarter down.
  line() {
    const box = this.reader.scroller.getBoundingClientRect();
    return box.top + Math.min(160, box.height / 4);
  }

  // The page whose text is at the reading line; found by halving, so 1000 pages cost nothing.
  settle() {
    const { leaves, scroller } = this.reader;
    if (!leaves.size || this.fit()) return;
    const line = this.line();
    let [low, high] = [1, leaves.size];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (leaves.get(middle).getBoundingClientRect().top <= line) low = middle;
      else high = middle - 1;
    }
    if (this.forced && Math.abs(scroller.scrollTop - this.forced.top) < 2) {
      const pushed = this.aim?.isConnected && Math.abs(this.offset(this.aim) - this.forced.off) > 2;
      if (pushed) return this.bring(this.aim, this.forced.page); // by what changed above it
      low = this.forced.page;
    } else if (this.forced && this.aim && performance.now() < this.holding) return this.bring(this.aim, this.forced.page);
    else this.forced = null;
    this.arrive(low, line);
  }

  arrive(page, line) {
    const { leaves, book, data } = this.reader;
    if (page !== this.here) {
      leaves.get(this.here)?.classList.remove("cur");
      leaves.get(page).classList.add("cur");
      this.here = page;
      this.reader.moved();
    }
    const piece = this.pieceAt(page, line);
    if (performance.now() > this.laid) {
      const read = piece ?? leaves.get(page); // below its last paragraph stands why the page ends there
      this.standing = { forced: this.forced, read, share: Math.max(0, this.share(read)) };
    }
    const paragraph = book.pages[page - 1].s + Number(piece?.dataset.i ?? 0);
    moveTo(data.scope, page, paragraph);
    if (this.restored && (this.kept?.page !== page || this.kept?.paragraph !== paragraph)) {
      clearTimeout(this.keeping);
      this.unkept = { page, paragraph };
      this.keeping = setTimeout(() => this.flush(), 700);
    }
  }

  // The paragraph of a page that is being read when the eye is at `line`.
  pieceAt(page, line) {
    const pieces = [...this.reader.leaves.get(page).querySelectorAll(".text [data-i]")];
    return pieces.find((p) => p.getBoundingClientRect().bottom > line - ABOVE);
  }

  // Whether the view has another size than it had: all is laid out anew. A scroll by the browser may tell it first.
  fit() {
    const { clientWidth, clientHeight } = this.reader.scroller;
    const size = `${clientWidth} ${clientHeight}`;
    if (size === this.size) return false;
    this.size = size;
    this.laying(() => {});
    return true;
  }

  // How much of a paragraph has been read; below 0 for one that is still to come.
  share(piece) {
    const box = piece.getBoundingClientRect();
    return (this.line() - ABOVE - box.top) / (box.height || 1);
  }

  // Does what lays every page out anew (letters of another size); what is read stays at the reading line. The pages
  // take their true heights one after the other, so it is looked at for a moment, unless the person scrolls.
  laying(change) {
    const { forced, read, share } = this.standing;
    change();
    const stay = () => {
      if (forced && this.aim?.isConnected) this.bring(this.aim, forced.page);
      else if (read?.isConnected) this.reader.scroller.scrollTop += (share - this.share(read)) * read.getBoundingClientRect().height;
    };
    const again = () => {
      if (performance.now() > this.laid) return;
      stay();
      requestAnimationFrame(again);
    };
    this.laid = performance.now() + HOLD;
    stay();
    requestAnimationFrame(again);
  }

  // A page drawn anew stands where the one before stood.
  replaces(node, old) {
    if (this.aim === old) this.aim = node;
    else if (old.contains(this.aim)) this.aim = node.querySelector(`.text [data-i="${this.aim.dataset.i}"]`);
  }

  // The place is told to the server a moment after the person stands still, or before anything else is.
  flush() {
    clearTimeout(this.keeping);
    if (this.unkept) this.reader.keep("at", (this.kept = this.unkept));
    this.unkept = null;
  }

  tryWanted() {
    const { leaves, book } = this.reader;
    if (!this.wanted) {
      if (leaves.size) this.restored = true;
      return;
    }
    const { page, paragraph, id } = this.wanted;
    if (!leaves.has(page)) return;
    book.gone = id;
    this.wanted = null;
    this.goto(page, { paragraph });
    this.kept = { page, paragraph };
    this.restored = true;
  }

  goto(page, { paragraph = null, focus = false } = {}) {
    const node = this.reader.leaves.get(page);
    if (!node) return;
    const inside = paragraph === null ? null
      : node.querySelector(`.text [data-i="${paragraph - this.reader.book.pages[page - 1].s}"]`);
    const target = inside && inside.dataset.i !== "0" ? inside : node;
    this.holding = performance.now() + HOLD;
    this.laid = 0;
    this.bring(target, page);
    // pages drawn for the first time take their true height now: aim once more
    requestAnimationFrame(() => {
      this.bring(target, page);
      if (focus) node.focus({ preventScroll: true });
    });
  }

  bring(target, page) {
    if (!target.isConnected) return;
    const { scroller } = this.reader;
    this.aim = target;
    if (target.matches("mark")) target.scrollIntoView({ block: "center" });
    else {
      scroller.scrollTop += this.offset(target) - (target.classList.contains("leaf") ? 0 : 60);
    }
    this.forced = { page, top: scroller.scrollTop, off: this.offset(target) };
    this.settle();
  }

  // How far below the upper edge of the view it stands.
  offset(node) {
    return node.getBoundingClientRect().top - this.reader.scroller.getBoundingClientRect().top;
  }

  // A found word into the middle of the view; its page is the current one, whatever else is to be seen.
  centre(mark, page) {
    this.holding = performance.now() + HOLD;
    this.laid = 0;
    this.bring(mark, page);
    requestAnimationFrame(() => this.aim === mark && this.bring(mark, page));
  }
}
