// Where the conversation's column stands: at its newest exchange as that grows, or at the one that a link named,
// until the person scrolls it somewhere else. Knows nothing of what an exchange holds.

const END = "end";

class Thread {
  static of(root) {
    const box = root.getRootNode().host?.closest(".st-key-ask_thread");
    return box ? (box.readAgentThread ??= new Thread(box)) : null;
  }

  constructor(box) {
    this.box = box;
    this.at = END;
    this.growing = new ResizeObserver(() => this.settle());
    box.addEventListener("scroll", () => {
      if (Math.abs(box.scrollTop - this.top) > 2) this.at = this.nearEnd() ? END : null;
    }, { passive: true });
  }

  nearEnd() {
    return this.box.scrollHeight - this.box.clientHeight - this.box.scrollTop < 40;
  }

  // An exchange that was drawn for the first time; the one in the memory view decides where the column stands.
  add(root, { current, last }) {
    this.growing.observe(root);
    if (current) this.at = last ? END : root;
    this.settle();
  }

  drop(root) {
    this.growing.unobserve(root);
    if (this.at === root) this.at = null;
  }

  settle() {
    const { box, at } = this;
    if (at === END) box.scrollTop = box.scrollHeight;
    else if (at?.isConnected) box.scrollTop += at.getBoundingClientRect().top - box.getBoundingClientRect().top - 16;
    this.top = box.scrollTop;
  }
}
