// Where the conversation's column stands: at the exchange that the memory shows, its question at the top as the answer
// grows below it (or as near to the top as there is text to fill the column), until the person scrolls it somewhere
// else; at the end, it grows with it. Knows nothing of what an exchange holds.

const END = "end";

class Thread {
  static of(root) {
    const box = root.getRootNode().host?.closest(".st-key-ask_thread");
    return box ? (box.readAgentThread ??= new Thread(box)) : null;
  }

  constructor(box) {
    this.box = box;
    this.at = END; // or an exchange; null: where the person left it
    this.top = box.scrollTop;
    this.growing = new ResizeObserver(() => this.settle());
    this.growing.observe(box);
    box.addEventListener("scroll", () => {
      const by = box.scrollTop - this.top;
      if (Math.abs(by) <= 2) return;
      this.top = box.scrollTop;
      if (!this.nearEnd()) this.at = null;
      else if (by > 0) this.at = END; // where it lies higher than before, it came there by itself
    }, { passive: true });
  }

  nearEnd() {
    return this.box.scrollHeight - this.box.clientHeight - this.box.scrollTop < 40;
  }

  // An exchange that was drawn for the first time; the one in the memory view decides where the column stands.
  add(root, { current }) {
    this.growing.observe(root);
    if (current) this.at = root;
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
