"use strict";
// What is asked comes from the server; the page shows it, and says what was chosen. Nothing is known here that a worker must not see.
// A page of one batch has the server's part in itself.
const alone = typeof window.vivaAsk === "function";
const base = alone ? "" : location.pathname.startsWith("/w/") ? location.pathname : null;
const main = document.querySelector("main");
const live = document.querySelector("#live");
// Single keys answer unless they are switched off, which who steers by voice may want.
let keys = (() => { try { return localStorage.getItem("viva-keys") !== "off"; } catch { return true; } })();
let now = null, ready = 0, timer = null, busy = false, shownFor = null, lookedFor = null, lookedFrom = null;

const make = (tag, props = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), props);
  for (const [name, value] of Object.entries(props)) if (name.startsWith("aria-") || name === "class") node.setAttribute(name, value);
  node.append(...children.filter(child => child !== null));
  return node;
};
const say = text => { live.textContent = ""; live.textContent = text; const line = document.querySelector(".said"); if (line) line.textContent = text; };

async function ask(path, body) {
  if (alone) return window.vivaAsk(path, body);
  const how = body === undefined ? {} : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const reply = await fetch(path, { ...how, cache: "no-store" });
  const json = await reply.json();
  if (!reply.ok) { const error = new Error(json.error || reply.statusText); error.status = reply.status; throw error; }
  return json;
}

// What is asked now, as soon as there is a connection.
async function askedNow() {
  for (let pause = 500; ; pause = Math.min(2 * pause, 8000)) {
    try { return await ask(base + "/state"); }
    catch (error) { if (error.status) throw error; }
    say("No connection: it is tried again.");
    await new Promise(done => setTimeout(done, pause));
  }
}

// A lost connection does no harm: the same is said again until the server has heard it, and it takes it once.
async function send(path, body) {
  if (busy) return;
  busy = true;
  let again = 2;
  for (let pause = 500; ; pause = Math.min(2 * pause, 8000)) {
    try { busy = true; const state = await ask(base + path, body); busy = false; return show(state); }
    catch (error) {
      if (error.status) {
        try {
          // A server that was started again has to be asked for the question before it takes the answer.
          if (error.status === 425 && path === "/answer" && again-- > 0) {
            const state = await askedNow();
            if (state.phase === "question" && state.number === body.question) {
              await new Promise(done => setTimeout(done, 1000 * state.left + 60));
              continue;
            }
          }
          if (error.status === 409) show(await askedNow());
        } catch { /* what was said first is what counts */ }
        busy = false;
        say(error.message);
        return;
      }
      say("No connection. Your answer is kept here and sent as soon as there is one.");
      await new Promise(done => setTimeout(done, pause));
    }
  }
}

const KEYS = "1234567890-=";
// Without n, for None, and u, which takes an answer back.
const LETTERS = "abcdefghijklmopqrstvwxyz";
function keyOf(state, i) {
  const name = state.choices[i];
  if (name === "None") return "n";
  if (state.choices.every(text => text === "None" || /^[0-9]$/.test(text))) return name;
  // A digit would be read as the class of that number.
  return state.choices.some(text => /^[0-9]+$/.test(text)) ? LETTERS[i] : KEYS[i];
}
// Of a picture with one before it, first the one before is judged, then the other.
function open(state) {
  const all = state.choices.map((_, i) => i);
  if (state.kind !== "keeps_label") return all;
  return state.accepted ? all.slice(0, 4) : all.slice(4);
}

function later() {
  clearTimeout(timer);
  // Pictures that came late were not looked at while they were on their way.
  if (lookedFrom === null && loaded()) {
    lookedFrom = performance.now();
    ready = Math.max(ready, lookedFrom + 1000 * (now.least || 0));
  }
  const left = ready - performance.now(), waits = left > 0 || !loaded();
  for (const button of document.querySelectorAll("button[data-choice]")) button.setAttribute("aria-disabled", waits ? "true" : "false");
  if (waits) timer = setTimeout(later, left > 0 ? Math.min(left, 200) : 200); else if (now && now.phase === "pause") refresh();
}
async function refresh(path = "/state") {
  try { show(await ask(base + path)); }
  catch (error) { say(error.status ? error.message : "No connection."); setTimeout(() => refresh(path), 2000); }
}

function choose(i) {
  if (!now || now.phase !== "question" || busy) return;
  if (performance.now() < ready) { say("Look a little longer."); return; }
  if (!loaded()) { say("The pictures are still on their way."); return; }
  const looked = (performance.now() - (lookedFrom ?? performance.now())) / 1000;
  if (now.kind === "keeps_label" && i === -1) return send("/accept", { question: now.number, looked });
  send("/answer", { question: now.number, choice: i, looked });
}
function undo() { if (now && now.undo && !busy) send("/undo", { question: now.number - 1 }); }

// Its room is kept while it loads; one that got lost on its way is asked for again.
function image(src, alt) {
  const [width, height] = now.size && now.size[0] ? now.size : [1, 1];
  const node = make("img", { src, alt, width, height, draggable: false });
  node.addEventListener("load", later);
  if (!alone) node.addEventListener("error", () => setTimeout(() => { node.src = src; }, 1000));
  return node;
}
// Nobody can judge what is not there yet.
const loaded = () => [...main.querySelectorAll("img")].every(node => node.complete && node.naturalWidth > 0);
// Pixels that are enlarged stay what they are; more of them than there is room for are averaged.
const fine = widest => now.size && now.size[0] > widest ? " fine" : "";

function show(state) {
  now = state;
  ready = performance.now() + 1000 * (state.left || 0);
  // The same question, shown again, was looked at before.
  const asked = `${state.phase} ${state.number} ${state.accepted}`;
  if (asked !== lookedFor) { lookedFor = asked; lookedFrom = null; }
  const top = make("div", { class: "top" },
    make("span", {}, state.phase === "begin" ? "" : `${state.number} of ${state.of} answered`),
    state.undo ? make("button", { type: "button", onclick: undo }, "Undo", make("kbd", {}, "u")) : null);
  const bar = make("progress", { max: state.of, value: state.number, "aria-label": "answered" });
  const heading = make("h1", { tabIndex: -1 });
  const parts = [top, bar, heading];
  if (state.phase === "begin") {
    heading.textContent = "Before you begin";
    parts.push(make("ul", {}, ...state.instructions.map(line => make("li", {}, line))));
    if (state.study) {
      parts.push(make("p", {}, "These pictures are real. Look at them first."));
      const list = make("ul", { class: "pictures many" + fine(100) });
      for (let i = 0; i < state.study; i++) list.append(make("li", {}, image(alone ? window.vivaPicture(null, i) : `${base}/study/${i}`, `real picture ${i + 1}`)));
      parts.push(list);
    }
    const go = () => !loaded() ? say("The pictures are still on their way.") : performance.now() < ready ? say(`Look for ${Math.ceil((ready - performance.now()) / 1000)} seconds more.`) : send("/begin", {});
    parts.push(make("p", { class: "choices" }, make("button", { class: "go", type: "button", id: "go", onclick: go }, "Begin", make("kbd", {}, "space"))));
    parts.push(make("p", {}, "By keyboard: the number or letter on a button, u takes the last answer back. " + (alone ? "Keep this page open until all is answered." : "You may stop at any time and come back to this address.")));
  } else if (state.phase === "question") {
    heading.textContent = state.label ? (state.accepted ? `It was to show “\u2068${state.label}\u2069”. What does the changed picture, the second, show?`
      : `This picture is to show “\u2068${state.label}\u2069”. Does it?`) : state.question;
    const picks = state.kind === "odd_one_out" || state.kind === "pair";
    const list = make("ul", { class: "pictures" + (state.pictures > 2 ? " many" + fine(100) : state.pictures === 2 ? " two" + fine(250) : fine(280)) });
    for (let i = 0; i < state.pictures; i++) {
      const src = alone ? window.vivaPicture(state.number, i) : `${base}/picture/${state.number}/${i}`, alt = `picture ${i + 1} of ${state.pictures}`;
      list.append(make("li", {}, picks
        ? choice(i, image(src, alt), KEYS[i]) : image(src, alt)));
    }
    parts.push(list);
    if (!picks) {
      const row = make("div", { class: "choices" });
      if (state.kind === "keeps_label" && !state.accepted) row.append(choice(-1, "it does", "1"));
      open(state).forEach((i, at) => row.append(choice(i, state.choices[i], state.kind === "keeps_label" ? String(at + (state.accepted ? 1 : 2)) : keyOf(state, i))));
      parts.push(row);
    }
    if (state.rest) parts.push(make("p", {}, "A good moment for a break, if you like one: nothing is lost."));
  } else if (state.phase === "pause") {
    heading.textContent = "A moment …";
  } else {
    heading.textContent = "That was all. Thank you!";
    if (!alone && state.completion) parts.push(completion(state.completion));
    if (!alone) parts.push(make("p", {}, "You may close this page."));
  }
  parts.push(make("p", { class: "said" }));
  if (state.phase === "begin" || state.phase === "question") parts.push(make("p", { class: "foot" }, keySwitch()));
  main.replaceChildren(...parts);
  if (alone && state.phase === "done") window.vivaDone(main);
  const key = `${state.phase} ${state.number} ${state.accepted}`;
  if (key !== shownFor) {
    shownFor = key;
    heading.focus({ preventScroll: true });
    window.scrollTo(0, 0);
    live.textContent = state.phase === "question" ? `Question ${state.number + 1} of ${state.of}. ${heading.textContent}` : heading.textContent;
  }
  later();
  // What comes next is asked for while there is time.
  if (state.phase === "begin") { clearTimeout(timer); later(); }
}
function keySwitch() {
  const button = make("button", { type: "button", id: "keys", "aria-pressed": String(keys) }, "Single keys answer");
  document.body.classList.toggle("keyless", !keys);
  button.addEventListener("click", () => {
    keys = !keys;
    try { localStorage.setItem("viva-keys", keys ? "on" : "off"); } catch { /* then it holds for this page */ }
    button.setAttribute("aria-pressed", String(keys));
    document.body.classList.toggle("keyless", !keys);
  });
  return button;
}
function completion(address) {
  return make("p", {}, make("a", { class: "go", href: address, id: "completion", rel: "noreferrer" }, "Tell the platform that you are done"));
}
function choice(i, content, key) {
  // Names of classes may be written from right to left.
  const named = typeof content === "string" ? make("span", { dir: "auto" }, content) : content;
  const button = make("button", { type: "button", onclick: () => choose(i) }, named, key ? make("kbd", { "aria-hidden": "true" }, key) : null);
  button.dataset.choice = i;
  if (key) { button.dataset.key = key; button.setAttribute("aria-keyshortcuts", key); }
  return button;
}

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || !now || !keys) return;
  const key = event.key.toLowerCase();
  if (key === "u") return undo();
  if (key === " " && now.phase === "begin" && event.target.tagName !== "BUTTON") { event.preventDefault(); document.querySelector("#go").click(); return; }
  const button = [...document.querySelectorAll("button[data-key]")].find(button => button.dataset.key === key);
  if (button) { event.preventDefault(); choose(Number(button.dataset.choice)); }
});
// A page that comes back out of the browser's own store may be of long ago.
window.addEventListener("pageshow", event => { if (event.persisted && base !== null) refresh(); });

if (base !== null) refresh("/opened");
else {
  // Platforms say whom they send; that one has the same place again, on whichever machine.
  const asked = new URLSearchParams(location.search);
  const platform = ["PROLIFIC_PID", "workerId"].map(name => asked.get(name)).find(name => name);
  const kept = (() => { try { return platform ? null : localStorage.getItem("viva-place"); } catch { return null; } })();
  const join = async () => {
    // A double click is one person.
    if (busy) return;
    busy = true;
    try {
      const place = await ask("/join", platform ? { platform } : {});
      try { localStorage.setItem("viva-place", place.to); } catch { /* then the address has to be kept by hand */ }
      location.assign(place.to);
    } catch (error) { busy = false; say(error.message); }
  };
  const parts = [make("h1", {}, "Looking at pictures")];
  parts.push(make("p", {}, "You will be asked about pictures. You may stop at any time. " + (platform
    ? "Your answers are kept with the number that the platform gave you." : "Your answers are kept without your name.")));
  // The place may be of another task that was asked here.
  if (kept && /^\/w\/[0-9a-f]{32}$/.test(kept)) fetch(kept, { method: "HEAD", cache: "no-store" }).then(reply => {
    if (!reply.ok) return;
    const goOn = make("p", { class: "choices" }, make("button", { class: "go", id: "go-on", onclick: () => location.assign(kept) }, "Go on where I was"));
    const button = document.querySelector("#join");
    button.className = "";
    button.parentNode.before(goOn);
  }, () => {});
  parts.push(make("p", { class: "choices" }, make("button", { class: "go", id: "join", onclick: join }, "Take part")));
  parts.push(make("p", { class: "said" }));
  main.replaceChildren(...parts);
}
