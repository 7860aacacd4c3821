"use strict";
// The server's part, in the page itself: one worker's questions, answered where no server is. What is right is not in here.
const batch = JSON.parse(document.querySelector("#batch").textContent);
const params = new URLSearchParams(location.search);
const preview = params.get("assignmentId") === "ASSIGNMENT_ID_NOT_AVAILABLE";
const place = { answers: [], next: 0, begun: false, shown: null, studied: null, accepted: null, looked: 0, last: null, pause: 0, undo: false };
const random = () => "r-" + [...crypto.getRandomValues(new Uint8Array(8))].map(byte => byte.toString(16).padStart(2, "0")).join("");
let worker = params.get("workerId") || params.get("PROLIFIC_PID") || random();
// Answers outlive a reload, where the browser lets a page keep anything; whoever has no name keeps the one drawn.
const shelf = `viva ${batch.task} ${batch.slot} ${params.get("workerId") || params.get("PROLIFIC_PID") || ""} ${params.get("assignmentId") || ""}`;
try {
  const kept = JSON.parse(localStorage.getItem(shelf));
  if (kept && Array.isArray(kept.answers) && kept.answers.length <= batch.questions.length && kept.answers.every((given, i) => given.item === batch.questions[i].item)) {
    worker = kept.worker;
    Object.assign(place, { answers: kept.answers, next: kept.answers.length, begun: kept.answers.length > 0, looked: kept.answers.length > 0 ? null : 0 });
  }
} catch { /* then the page has to stay open */ }
const keep = () => { try { localStorage.setItem(shelf, JSON.stringify({ worker, answers: place.answers })); } catch { /* as above */ } };
const clock = () => performance.now() / 1000;
const refuse = (status, error) => { throw Object.assign(new Error(error), { status }); };

window.vivaAsk = async (path, body) => {
  const now = clock(), of = batch.questions.length;
  const state = () => {
    if (preview) return { phase: "begin", number: 0, of, instructions: ["This is a preview: accept the work to begin."].concat(batch.instructions), study: 0, left: 1e6 };
    if (place.next === of) return { phase: "done", number: of, of, undo: place.undo };
    if (!place.begun) {
      place.studied ??= now;
      return { phase: "begin", number: 0, of, instructions: batch.instructions, study: batch.study.length, size: batch.size, left: Math.max(0, place.studied + batch.studySeconds - now) };
    }
    if (place.pause > now) return { phase: "pause", number: place.next, of, left: place.pause - now, undo: place.undo };
    place.shown ??= now;
    const question = batch.questions[place.next];
    return {
      phase: "question", number: place.next, of, kind: batch.kind, question: batch.question, choices: batch.choices,
      pictures: batch.kind === "keeps_label" && place.accepted === null ? 1 : question.pictures.length, size: batch.size, accepted: place.accepted !== null, label: question.label,
      left: Math.max(0, (place.accepted ?? place.shown) + batch.wait - now), least: batch.wait, undo: place.undo, rest: place.next > 0 && place.next % 25 === 0,
    };
  };
  // For how long the question was looked at, in all; null where the page was opened anew before it was answered.
  const looked = () => {
    const here = Math.min(body.looked ?? Infinity, now - (place.accepted ?? place.shown));
    if (place.shown === null || here + 0.05 < batch.wait) refuse(425, "too fast");
    return place.looked === null ? null : place.looked + here;
  };
  const what = path.split("/").pop();
  if (what === "begin") {
    if (preview || place.studied + batch.studySeconds > now) refuse(425, "look a little longer");
    place.begun = true;
  } else if (what === "accept") {
    if (place.accepted === null) Object.assign(place, { looked: looked(), accepted: now });
  } else if (what === "answer") {
    if (body.question !== place.next) refuse(409, "another question is asked by now");
    if (batch.kind === "keeps_label" && (body.choice < 4) !== (place.accepted !== null)) refuse(409, "that is not what is asked");
    const all = looked(), seconds = all === null ? null : Math.round(1000 * all) / 1000;
    place.answers[place.next] = { question: place.next, item: batch.questions[place.next].item, choice: body.choice, seconds };
    Object.assign(place, { next: place.next + 1, shown: null, accepted: null, looked: 0, last: all, undo: true, pause: now + batch.pause });
    keep();
  } else if (what === "undo") {
    if (!place.undo || body.question + 1 !== place.next) refuse(409, "only the last answer can be taken back, and once");
    place.answers.pop();
    Object.assign(place, { next: body.question, shown: null, accepted: null, looked: place.last, undo: false, pause: 0 });
    keep();
  }
  return state();
};
window.vivaPicture = (question, i) => batch.images[(question === null ? batch.study : batch.questions[question].pictures)[i]];

// All answers, handed in at once: to the platform that sent the worker, or as a file.
window.vivaDone = main => {
  const text = JSON.stringify({ task: batch.task, slot: batch.slot, worker, answers: place.answers });
  const make = (tag, props, ...children) => { const node = Object.assign(document.createElement(tag), props); node.append(...children); return node; };
  const done = () => { if (batch.completion && !document.querySelector("#completion")) main.append(completion(batch.completion)); };
  const to = params.get("turkSubmitTo");
  if (params.get("assignmentId") && /^https:\/\/[a-z]+\.mturk\.com$/.test(to || "https://www.mturk.com")) {
    const form = make("form", { method: "POST", action: (to || "https://www.mturk.com") + "/mturk/externalSubmit" });
    form.append(make("input", { type: "hidden", name: "assignmentId", value: params.get("assignmentId") }));
    form.append(make("input", { type: "hidden", name: "viva", value: text }));
    form.append(make("button", { className: "go", type: "submit" }, "Hand in"));
    return main.append(form);
  }
  const link = make("a", { href: URL.createObjectURL(new Blob([text + "\n"], { type: "application/json" })), download: `answers-${batch.slot}.json`, id: "save", onclick: done }, "Save the answers");
  main.append(make("p", {}, "Save the answers, and hand the file to whoever asked you:"), make("p", {}, link));
};
