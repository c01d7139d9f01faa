"use strict";
(() => {
  const PANES = [["python", "Python"], ["ir", "IR"], ["metal", "Metal"]];
  const VIEWS = [["both", "old and new"], ["new", "new"], ["old", "old"]];
  const WORDS = {
    python: /(?<c>#.*)|(?<s>"[^"]*"|'[^']*')|(?<n>\b\d[\w.]*)|(?<w>\b(?:def|return|for|in|if|elif|else|while|break|continue|and|or|not|is|lambda|assert|pass|with|from|import|class|True|False|None)\b)/g,
    ir: /(?<s>"[^"]*")|(?<n>%[\w.]+)|(?<w>\b(?:kernel|if|else|for|while|do|yield|load|store|atomic|barrier|alloc|carrying|where|from)\b)/g,
    metal: /(?<c>\/\/.*|#.*)|(?<n>\b\d[\w.]*)|(?<w>\b(?:kernel|void|device|threadgroup|constant|thread|const|inline|for|while|if|else|return|break|continue|float|half|bfloat|int|uint|long|ulong|short|ushort|char|uchar|bool|float2|float4|uint3|simdgroup_\w+8x8)\b)/g,
  };
  const $ = (id) => document.getElementById(id);
  const overview = $("overview"), kernel = $("kernel"), search = $("search"), help = $("help");
  const links = [...document.querySelectorAll("nav a[data-number]")];
  let data = null, here = -1, view = "both", only = false, pane = 0, at = -1;
  let rows = [[], [], []], texts = [];

  function make(tag, classes, text) {
    const element = document.createElement(tag);
    if (classes) element.className = classes;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function code(text, language) {
    const span = make("span", "code");
    const indent = text.length - text.trimStart().length;
    text = text.slice(indent);
    let from = 0;
    for (const match of text.matchAll(WORDS[language])) {
      if (match.index > from) span.append(text.slice(from, match.index));
      const kind = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
      span.append(make("span", kind, match[0]));
      from = match.index + match[0].length;
    }
    span.append(text.slice(from) || (from ? "" : " "));
    span.style.paddingLeft = `${indent + 4}ch`;
    return span;
  }

  function showOverview() {
    here = -1;
    kernel.hidden = true;
    overview.hidden = false;
    mark();
  }

  function mark() {
    for (const link of links) {
      const isHere = Number(link.dataset.number) === here;
      link.parentElement.classList.toggle("here", isHere);
      if (isHere) {
        link.setAttribute("aria-current", "true");
        const group = link.closest("details");
        if (group) group.open = true;
        link.parentElement.scrollIntoView({ block: "nearest" });
      } else link.removeAttribute("aria-current");
    }
  }

  function show(number) {
    if (!data || !data.kernels[number]) return showOverview();
    here = number;
    const each = data.kernels[number];
    overview.hidden = true;
    kernel.hidden = false;
    kernel.replaceChildren(title(each), ...remarks(each), costs(each), bar(each), panes(each));
    applyView();
    document.querySelector("main").scrollTop = 0;
    if (document.activeElement !== search) kernel.querySelector("h2").focus({ preventScroll: true });
    mark();
    const changed = PANES.map(([name]) => each[name].some((row) => row[0] !== "="));
    pane = Math.max(changed.lastIndexOf(true), 0);
    at = -1;
    rows.forEach((list, number) => {
      const first = list.find((entry) => entry.sign !== "=");
      if (first) texts[number].scrollTop = Math.max(first.row.offsetTop - 60, 0);
    });
  }

  function title(each) {
    const head = make("div", "title");
    const name = make("h2", "", each.name);
    name.tabIndex = -1;
    head.append(name);
    head.append(make("span", "status " + each.status, data.statuses[each.status]));
    const path = each.from ? `${each.from} → ${each.key}` : each.key;
    head.append(make("span", "path", path), make("span", "space"));
    const back = make("button", "", "Overview ");
    back.append(make("kbd", "", "o"));
    back.addEventListener("click", () => go(-1));
    head.append(back);
    return head;
  }

  function remarks(each) {
    const found = [];
    if (each.note) found.push(make("p", "note", each.note));
    each.errors.forEach((error, side) => {
      if (error) found.push(make("p", "fault", `${side ? "new" : "old"}: ${error}`));
    });
    return found;
  }

  function costs(each) {
    const list = make("dl", "costs");
    for (const [key, old, now, direction, percent, isSlight] of each.rows) {
      const isSame = old === now || !old || !now;
      const item = make("div", isSame ? "same" : direction + (isSlight ? " slight" : ""));
      item.title = data.labels[key][1];
      const sign = isSame ? "" : { more: "▲ ", less: "▼ ", other: "● " }[direction] || "";
      item.append(make("dt", "", sign + data.labels[key][0]));
      const value = make("dd");
      if (isSame) value.append(now || old);
      else value.append(`${old} → `, make("b", "", now), percent ? ` ${percent}` : "");
      item.append(value);
      list.append(item);
    }
    return list;
  }

  function bar(each) {
    const line = make("div", "bar");
    line.setAttribute("role", "group");
    line.setAttribute("aria-label", "Versions");
    for (const [name, label] of VIEWS) {
      const button = make("button", "", label);
      button.dataset.view = name;
      button.addEventListener("click", () => { view = name; applyView(); });
      line.append(button);
    }
    const near = make("button", "near", "only around changes");
    near.addEventListener("click", () => { only = !only; applyView(); });
    line.append(near, make("span", "", "Point at a line: what belongs to it lights up."));
    return line;
  }

  function applyView() {
    const box = kernel.querySelector(".panes");
    if (!box) return;
    box.className = `panes view-${view}${only ? " only" : ""}`;
    for (const button of kernel.querySelectorAll("[data-view]"))
      button.setAttribute("aria-pressed", String(button.dataset.view === view));
    kernel.querySelector(".near").setAttribute("aria-pressed", String(only));
  }

  function panes(each) {
    const box = make("div", "panes");
    rows = [[], [], []];
    texts = PANES.map(([name, label], number) => {
      const whole = make("section", "pane " + name);
      const head = make("h3", "", label);
      head.id = "head-" + name;
      const changes = each[name].filter((row) => row[0] !== "=").length;
      const what = changes ? `${changes} changed line${changes > 1 ? "s" : ""}` : "";
      head.append(make("span", "", each[name].length ? what || "no change" : ""));
      const text = make("div", "lines");
      text.tabIndex = 0;
      text.setAttribute("role", "listbox");
      text.setAttribute("aria-labelledby", head.id);
      text.addEventListener("focus", () => { pane = number; });
      fill(text, each, name, number);
      whole.append(head, text);
      box.append(whole);
      return text;
    });
    return box;
  }

  function fill(text, each, name, number) {
    if (!each[name].length) {
      const why = { python: "The Python of this kernel is not in the tree.", ir: "No IR is stored.", metal: "There is no Metal text." };
      text.append(make("div", "empty", why[name]));
      return;
    }
    const near = distances(each[name]);
    const heads = name === "python" ? fileHeads(each) : new Map();
    const counts = [0, 0];
    each[name].forEach(([sign, line, old, now], index) => {
      if (sign !== "+") counts[0]++;
      if (sign !== "-") counts[1]++;
      const place = sign === "-" ? 0 : 1;
      const own = name === "python" ? each.numbers[place][place ? now : old] : counts[place];
      const file = heads.get(`${place}:${place ? now : old}`);
      if (file) {
        const head = make("div", "file", file);
        head.setAttribute("role", "presentation");
        text.append(head);
      }
      const row = make("div", "row" + ({ "+": " add", "-": " del", "=": "" })[sign]);
      row.id = `${name}-${index}`;
      row.setAttribute("role", "option");
      if (near[index] > 3) row.classList.add("far");
      else if (index && near[index - 1] > 3) row.classList.add("gap");
      row.append(make("span", "mark", sign === "=" ? "" : sign === "-" ? "−" : "+"));
      row.append(make("span", "place", String(own)), code(line, name));
      const entry = { row, sign, old: sign === "+" ? -1 : old, now: sign === "-" ? -1 : now };
      const position = rows[number].length;
      row.addEventListener("mouseenter", () => light(number, position, false));
      row.addEventListener("click", () => { choose(number, position); text.focus({ preventScroll: true }); });
      rows[number].push(entry);
      text.append(row);
    });
    text.addEventListener("mouseleave", () => (at >= 0 ? light(pane, at, false) : dark()));
  }

  function fileHeads(each) {
    const heads = new Map();
    each.files.forEach((parts, side) => {
      let first = 0;
      for (const [file, , count] of parts) {
        heads.set(`${side}:${first}`, file);
        first += count;
      }
    });
    return heads;
  }

  function distances(lines) {
    const far = lines.map(() => Infinity);
    let last = Infinity;
    for (let i = 0; i < lines.length; i++) { last = lines[i][0] === "=" ? last + 1 : 0; far[i] = last; }
    last = Infinity;
    for (let i = lines.length - 1; i >= 0; i--) {
      last = lines[i][0] === "=" ? last + 1 : 0;
      far[i] = Math.min(far[i], last);
    }
    return far.every((each) => each === Infinity) ? far.map(() => 0) : far;
  }

  function dark() {
    for (const list of rows) for (const { row } of list) row.classList.remove("lit", "at");
  }

  function light(number, position, isScrolled) {
    const chosen = rows[number][position];
    if (!chosen) return;
    for (let other = 0; other < rows.length; other++) {
      let first = null;
      for (const entry of rows[other]) {
        const isOld = chosen.old >= 0 && entry.old === chosen.old;
        const isNow = chosen.now >= 0 && entry.now === chosen.now;
        entry.row.classList.toggle("lit", isOld || isNow);
        entry.row.classList.remove("at");
        if ((isOld || isNow) && !first && entry.row.offsetParent) first = entry.row;
      }
      if (isScrolled && first && other !== number) bring(texts[other], first);
    }
    chosen.row.classList.add("at");
    if (isScrolled) bring(texts[number], chosen.row);
  }

  function bring(text, row) {
    const top = row.offsetTop, bottom = top + row.offsetHeight;
    if (top < text.scrollTop + 20) text.scrollTop = top - 40;
    else if (bottom > text.scrollTop + text.clientHeight - 20) text.scrollTop = bottom - text.clientHeight + 40;
  }

  function choose(number, position) {
    pane = number;
    for (const list of rows) for (const { row } of list) row.removeAttribute("aria-selected");
    at = position;
    const entry = rows[pane][at];
    if (!entry) return;
    entry.row.setAttribute("aria-selected", "true");
    texts[pane].setAttribute("aria-activedescendant", entry.row.id);
    light(pane, at, true);
  }

  function step(by, isWanted) {
    const list = rows[pane];
    for (let next = at + by; next >= 0 && next < list.length; next += by)
      if (list[next].row.offsetParent && isWanted(list[next], list[next - 1])) return choose(pane, next);
  }

  function changePane(by) {
    const next = pane + by;
    if (next < 0 || next > 2 || !rows[next].length) return;
    const chosen = rows[pane][at];
    const same = (entry) => chosen && ((chosen.now >= 0 && entry.now === chosen.now) || (chosen.old >= 0 && entry.old === chosen.old));
    const found = rows[next].findIndex((entry) => entry.row.offsetParent && same(entry));
    choose(next, Math.max(found, 0));
    texts[next].focus({ preventScroll: true });
  }

  function visibleNumbers() {
    return links.filter((link) => !link.parentElement.hidden).map((link) => Number(link.dataset.number));
  }

  function move(by) {
    const numbers = visibleNumbers();
    const next = here < 0 ? (by > 0 ? 0 : numbers.length - 1) : numbers.indexOf(here) + by;
    if (numbers[next] !== undefined) go(numbers[next]);
  }

  function go(number) { location.hash = number < 0 ? "" : String(number); }

  function filter() {
    const wanted = search.value.trim().toLowerCase();
    for (const link of links) {
      const each = `${link.textContent} ${link.title}`.toLowerCase();
      link.parentElement.hidden = !each.includes(wanted);
    }
    for (const group of document.querySelectorAll("nav details")) {
      const hits = group.querySelectorAll("li:not([hidden])").length;
      group.hidden = !hits;
      if (wanted && hits) group.open = true;
    }
    for (const row of document.querySelectorAll("#overview tr[data-number]"))
      row.hidden = !row.querySelector("a").textContent.toLowerCase().includes(wanted);
  }

  const KEYS = {
    j: () => move(1), k: () => move(-1), o: () => go(-1),
    ArrowDown: () => step(1, () => true), ArrowUp: () => step(-1, () => true),
    ArrowRight: () => changePane(1), ArrowLeft: () => changePane(-1),
    n: () => step(1, (entry, before) => entry.sign !== "=" && (!before || before.sign === "=")),
    p: () => step(-1, (entry, before) => entry.sign !== "=" && (!before || before.sign === "=")),
    v: () => { view = { both: "new", new: "old", old: "both" }[view]; applyView(); },
    c: () => { only = !only; applyView(); },
    "/": () => { search.focus(); search.select(); },
    "?": () => help.showModal(),
  };
  const NEED_KERNEL = new Set(["ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft", "n", "p", "v", "c"]);

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (event.target === search) {
      if (event.key === "Escape") { search.value = ""; filter(); search.blur(); }
      if (event.key === "Enter") { const [first] = visibleNumbers(); if (first !== undefined) { search.blur(); go(first); } }
      return;
    }
    const handler = KEYS[event.key];
    if (!handler || (NEED_KERNEL.has(event.key) && here < 0)) return;
    event.preventDefault();
    handler();
  });
  search.addEventListener("input", filter);
  $("help-button").addEventListener("click", () => help.showModal());
  window.addEventListener("hashchange", open);

  function open() {
    const number = location.hash.slice(1);
    if (/^\d+$/.test(number)) show(Number(number));
    else showOverview();
  }

  async function unpack() {
    const bytes = Uint8Array.from(atob($("texts").textContent), (each) => each.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    data = JSON.parse(await new Response(stream).text());
    document.documentElement.dataset.ready = "true";
    open();
  }

  unpack().catch((error) => {
    overview.append(make("p", "note", `The texts cannot be shown in this browser: ${error}`));
  });
})();
