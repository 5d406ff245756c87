// The script of a replay that was saved as a file: one button plays and pauses, the steps, the arrows and the space bar.
// Without it, where a viewer runs no script, all steps stand one below the other.

const bar = /** @type {HTMLElement} */ (document.querySelector(".bar"));
const said = /** @type {HTMLElement} */ (bar.querySelector(".said"));
const play = /** @type {HTMLButtonElement} */ (bar.querySelector(".play"));
const [label, sign] = [/** @type {HTMLElement} */ (play.querySelector("span")), /** @type {HTMLElement} */ (play.querySelector("b"))];
const scenes = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("main > section")]);
const steps = [...bar.querySelectorAll("li button")];
let at = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} the wait for the next step, while it plays */
let timer;

/** Shows a step, with what it is about in view. @param {number} to */
function show(to) {
  at = Math.max(0, Math.min(to, scenes.length - 1));
  for (const [i, scene] of scenes.entries()) scene.hidden = i !== at;
  for (const [i, step] of steps.entries()) i === at ? step.setAttribute("aria-current", "step") : step.removeAttribute("aria-current");
  said.textContent = scenes[at].querySelector(".caption")?.textContent ?? "";
  scrollTo({ top: 0 });
  const answer = scenes[at].querySelector(".said"); // read from its beginning
  const about = answer ? null : (scenes[at].querySelector("mark") ?? scenes[at].querySelector(".row.full, .row.marked"));
  const box = about?.getBoundingClientRect();
  if (box && box.bottom > innerHeight) {
    const top = Math.min(box.bottom - (2 * innerHeight) / 3, box.top - bar.offsetHeight - 16); // a long page from its beginning
    scrollTo({ top, behavior: "smooth" });
  }
  if (timer) go();
  draw();
}

/** Plays on from the step that is shown; from the first one after the last. */
function go() {
  clearTimeout(timer);
  timer = setTimeout(() => (at < scenes.length - 1 ? show(at + 1) : pause()), 1000 * Number(scenes[at].dataset.seconds));
}

function pause() {
  clearTimeout(timer);
  timer = undefined;
  draw();
}

function press() {
  if (timer) return pause();
  go();
  if (at === scenes.length - 1) return show(0);
  draw();
}

function draw() {
  label.textContent = timer ? "Pause" : at === scenes.length - 1 ? "Play again" : "Play";
  sign.textContent = timer ? "‖" : "▸";
}

document.body.classList.add("played");
bar.hidden = false;
play.addEventListener("click", press);
for (const [i, step] of steps.entries()) step.addEventListener("click", () => show(i));
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const used = event.target instanceof Element && event.target.closest("button, summary, a");
  if (event.key === " " && !used) press();
  else if (event.key === "ArrowRight" || event.key === "]") show(at + 1);
  else if (event.key === "ArrowLeft" || event.key === "[") show(at - 1);
  else return;
  event.preventDefault();
});
show(0);
