"use strict";
// An element names its own keys (data-key) and those that it lights (data-lights). A line of the
// mapping lights whatever lights it.
const keysOf = (element, name) => (element.dataset[name] || "").split(" ").filter(Boolean);
const byKey = new Map();
const byLight = new Map();
const note = (map, key, element) => map.set(key, [...(map.get(key) || []), element]);
for (const element of document.querySelectorAll("[data-key], [data-lights]")) {
  for (const key of keysOf(element, "key")) note(byKey, key, element);
  for (const key of keysOf(element, "lights")) note(byLight, key, element);
}

let lit = [];
function light(element, scrolls) {
  for (const each of lit) each.classList.remove("lit");
  if (!element) { lit = []; return; }
  const found = new Set([element]);
  for (const key of keysOf(element, "lights")) for (const each of byKey.get(key) || []) found.add(each);
  for (const key of keysOf(element, "key")) for (const each of byLight.get(key) || []) found.add(each);
  lit = [...found];
  for (const each of lit) each.classList.add("lit");
  if (scrolls) for (const each of lit) if (each !== element) show(each);
}

// Scrolls a listing, never the page, so that a lit line of it is seen.
function show(element) {
  const list = element.closest(".code");
  if (!list) return;
  const top = element.offsetTop - list.offsetTop;
  if (top < list.scrollTop || top + element.offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = top - list.clientHeight / 3;
  }
}

const source = (event) => event.target.closest && event.target.closest("[data-key], [data-lights]");
document.addEventListener("pointerover", (event) => { const at = source(event); if (at) light(at, false); });
document.addEventListener("click", (event) => { const at = source(event); if (at) light(at, true); });
document.addEventListener("focusin", (event) => { const at = source(event); if (at) light(at, true); });

// A listing is one stop of the Tab key; the arrows move in it.
for (const list of document.querySelectorAll(".code")) {
  const lines = [...list.querySelectorAll("[tabindex]")];
  if (lines.length) lines[0].tabIndex = 0;
  const move = (from, to) => {
    if (!lines[to]) return;
    if (from >= 0) lines[from].tabIndex = -1;
    lines[to].tabIndex = 0;
    lines[to].focus({ preventScroll: true });
    show(lines[to]);
  };
  list.addEventListener("keydown", (event) => {
    const at = lines.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: lines.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    move(at, to);
  });
  list.addEventListener("click", (event) => {
    const line = event.target.closest("[tabindex]");
    if (line) move(lines.findIndex((each) => each.tabIndex === 0), lines.indexOf(line));
  });
}
document.addEventListener("keydown", (event) => { if (event.key === "Escape") light(null, false); });

// Tests wait for this.
document.documentElement.dataset.ready = "true";
