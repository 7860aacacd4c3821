// Questions of an examination: a plot to go about in, a card that tells of one question, and a filter of the table of worst cases.
for (const place of document.querySelectorAll("[data-examination]")) {
  const source = place.querySelector(".numbers");
  if (!source) continue;
  const data = JSON.parse(source.textContent);
  const part = (name) => place.querySelector(name);
  const [viewer, canvas, card, shownNote] = [".viewer", "canvas", ".card", ".shown"].map(part);
  const [across, objects, failing, pictured] = ["across", "objects", "failing", "pictured"].map((n) => part(`[name=${n}]`));
  const rows = [...place.querySelectorAll("tr[data-object]")];
  const loss = data.losses.map(Number);
  const inTable = new Map([...place.querySelectorAll("img[data-picture]")].map((img) => [Number(img.dataset.picture), img]));
  const [HOLDS, FAILS, INK, SOFT, LINE] = ["#0072b2", "#c44601", "#262626", "#5a626c", "#d9dce0"];
  let shown = [];
  let at = null;
  let left = 0;
  const spots = new Map();

  const make = (kind, text, name) => {
    const element = document.createElement(kind);
    if (text !== undefined) element.textContent = text;
    if (name) element.className = name;
    return element;
  };
  const short = (x) => (typeof x === "number" && !Number.isInteger(x) ? String(Number(x.toPrecision(4))) : String(x));
  const factorText = (i, q) => {
    const { choices, unit } = data.factors[i];
    const x = data.settings[i][q];
    if (x === null) return "–";
    return choices && choices[x] !== undefined ? choices[x] : `${short(x)} ${unit}`.trim();
  };
  const where = (q) => {
    if (across.value === "number") return data.number[q];
    const x = data.settings[Number(across.value)][q];
    return x === null ? NaN : Number(x);
  };
  const address = (i) => (inTable.has(i) ? inTable.get(i).src : data.pictures[i]);

  const picture = (i, words) => {
    const img = make("img");
    img.src = address(i);
    img.alt = words;
    const scale = Math.max(1, Math.floor(192 / Math.max(data.width, data.height)));
    img.width = data.width * scale;
    img.height = data.height * scale;
    return img;
  };

  const tell = () => {
    card.replaceChildren();
    if (at === null) {
      card.append(make("p", "No question is shown.", "note"));
      return;
    }
    const q = at;
    const object = data.objects[data.object[q]];
    card.append(make("p", object.name, "name"));
    if (data.picture[q] === null) card.append(make("p", "This page holds no picture of this question.", "missing"));
    else card.append(picture(data.picture[q], `question ${data.number[q]} of ${object.name}`));
    const verdict = make("p", undefined, data.fails[q] ? "fails" : "holds");
    const read = data.answers[q] ? `${data.answers[q]}: ` : "";
    verdict.textContent = `question ${data.number[q]}, ${read}${data.fails[q] ? "× fails" : "○ does not fail"}`;
    card.append(verdict);
    const list = make("dl");
    const line = (name, text) => list.append(make("dt", name), make("dd", text));
    line(data.loss, short(data.losses[q]));
    data.factors.forEach((factor, i) => line(factor.name, factorText(i, q)));
    card.append(list);
    if (object.standing !== null) {
      const standing = make("div", undefined, "standing");
      standing.append(picture(object.standing, `${object.name} as it stands`), make("span", `as it stands, ${object.before}`));
      card.append(standing);
    }
  };

  const ticks = (lo, hi, most, whole) => {
    const raw = Math.max((hi - lo) / most, whole ? 1 : 0);
    const unit = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * unit).find((s) => s >= raw);
    const all = [];
    for (let t = Math.ceil(lo / step); t * step <= hi + step * 1e-9; t++) all.push(t * step);
    return all;
  };

  const draw = () => {
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (!width || !height) return;
    const dense = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * dense);
    canvas.height = Math.round(height * dense);
    const pen = canvas.getContext("2d");
    pen.scale(dense, dense);
    pen.fillStyle = "#fff";
    pen.fillRect(0, 0, width, height);
    pen.font = "13px system-ui, sans-serif";
    spots.clear();
    const ends = (all) => {
      const finite = all.filter(Number.isFinite);
      const lo = finite.reduce((a, b) => Math.min(a, b), Infinity);
      const hi = finite.reduce((a, b) => Math.max(a, b), -Infinity);
      const room = hi > lo ? (hi - lo) * 0.04 : 0.5;
      return hi >= lo ? [lo - room, hi + room] : [0, 1];
    };
    const factor = across.value === "number" ? null : data.factors[Number(across.value)];
    const choices = factor && factor.choices;
    const [x0, x1] = choices ? [-0.5, choices.length - 0.5] : ends(shown.map(where));
    const [y0, y1] = ends(shown.map((q) => loss[q]));
    const yTicks = ticks(y0, y1, Math.max(2, height / 60));
    const yRoom = Math.max(...yTicks.map((t) => pen.measureText(short(t)).width), 10);
    left = yRoom + 32;
    const [right, top, bottom] = [width - 10, 10, height - 42];
    const px = (x) => left + ((x - x0) / (x1 - x0)) * (right - left);
    const py = (y) => bottom - ((y - y0) / (y1 - y0)) * (bottom - top);
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    for (const t of yTicks) {
      pen.strokeStyle = LINE;
      pen.beginPath();
      pen.moveTo(left, py(t));
      pen.lineTo(right, py(t));
      pen.stroke();
      pen.fillStyle = INK;
      pen.textAlign = "right";
      pen.fillText(short(t), left - 6, py(t));
    }
    pen.textBaseline = "alphabetic";
    pen.textAlign = "center";
    if (choices) {
      const each = (right - left) / choices.length;
      choices.forEach((choice, i) => {
        let text = choice;
        while (text.length > 1 && pen.measureText(text).width > each - 4) text = `${text.slice(0, -2)}…`;
        pen.fillText(text, px(i), bottom + 17);
      });
    } else {
      for (const t of ticks(x0, x1, Math.max(2, width / 90), !factor)) pen.fillText(short(t), px(t), bottom + 17);
    }
    const unit = factor && factor.unit ? ` (${factor.unit})` : "";
    pen.fillText((factor ? factor.name : "question") + unit, (left + right) / 2, height - 7);
    pen.save();
    pen.translate(13, (top + bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(data.loss, 0, 0);
    pen.restore();
    pen.strokeStyle = SOFT;
    if (y0 < 0 && y1 > 0) {
      pen.beginPath();
      pen.moveTo(left, py(0));
      pen.lineTo(right, py(0));
      pen.stroke();
    }
    const mark = (q, size) => {
      const [x, y] = spots.get(q);
      pen.beginPath();
      if (data.fails[q]) {
        pen.moveTo(x - size, y - size);
        pen.lineTo(x + size, y + size);
        pen.moveTo(x + size, y - size);
        pen.lineTo(x - size, y + size);
      } else pen.arc(x, y, size, 0, 7);
      pen.stroke();
    };
    for (const q of shown) {
      // Choices lie beside each other, each question where its number says.
      const aside = choices ? (((q * 0.61803) % 1) - 0.5) * 0.6 : 0;
      const [x, y] = [where(q) + aside, loss[q]];
      if (Number.isFinite(x) && Number.isFinite(y)) spots.set(q, [px(x), py(y)]);
    }
    for (const bold of [false, true]) {
      for (const q of shown) {
        if (!spots.has(q) || (data.picture[q] !== null) !== bold) continue;
        pen.strokeStyle = data.fails[q] ? FAILS : HOLDS;
        pen.globalAlpha = bold ? 1 : 0.55;
        pen.lineWidth = bold ? 2.4 : 1;
        mark(q, bold ? 4.5 : 3);
      }
    }
    pen.globalAlpha = 1;
    if (at !== null && spots.has(at)) {
      const [x, y] = spots.get(at);
      pen.strokeStyle = INK;
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(x, y, 10, 0, 7);
      pen.stroke();
    }
  };

  const choose = (q) => {
    if (q === at) return;
    at = q;
    draw();
    tell();
  };

  const filter = () => {
    const only = objects.value === "all" ? null : Number(objects.value);
    shown = data.object
      .map((_, q) => q)
      .filter((q) => only === null || data.object[q] === only)
      .filter((q) => !failing.checked || data.fails[q])
      .filter((q) => !pictured.checked || data.picture[q] !== null);
    let kept = 0;
    for (const row of rows) {
      row.hidden = failing.checked && row.dataset.failing === "0";
      kept += row.hidden ? 0 : 1;
    }
    const outside = shown.filter((q) => !Number.isFinite(where(q)) || !Number.isFinite(loss[q])).length;
    shownNote.textContent =
      `${shown.length} of ${data.object.length} questions are drawn, ${kept} of ${rows.length} rows are listed.` +
      (outside ? ` ${outside} of them have no place in the plot.` : "");
    if (at === null || !shown.includes(at)) {
      at = shown.reduce((best, q) => (best === null || loss[q] > loss[best] ? q : best), null);
    }
    draw();
    tell();
  };

  const near = (event) => {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, far] = [null, 30 * 30];
    for (const [q, [px, py]] of spots) {
      const d = (px - x) ** 2 + (py - y) ** 2;
      if (d < far) [best, far] = [q, d];
    }
    if (best !== null) choose(best);
  };
  canvas.addEventListener("pointermove", near);
  canvas.addEventListener("pointerdown", near);
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowDown: [1, -1], ArrowUp: [1, 1], Home: [0, -Infinity], End: [0, Infinity] }[event.key];
    if (!by || !spots.size) return;
    event.preventDefault();
    const along = by[0] === 0 ? (q) => spots.get(q)[0] : (q) => -spots.get(q)[1];
    const order = [...spots.keys()].sort((a, b) => along(a) - along(b) || a - b);
    const next = Math.min(order.length - 1, Math.max(0, order.indexOf(at) + by[1]));
    choose(order[next]);
  });
  for (const input of [across, objects, failing, pictured]) input.addEventListener("change", filter);

  for (const row of rows) {
    const button = make("button", row.cells[0].textContent);
    button.type = "button";
    row.cells[0].replaceChildren(button);
    button.addEventListener("click", () => {
      objects.value = row.dataset.object;
      const own = Number(row.dataset.object);
      const worst = data.worst.findIndex((is, q) => is && data.object[q] === own);
      at = worst < 0 ? null : worst;
      filter();
      canvas.focus();
      viewer.scrollIntoView({ block: "nearest" });
    });
  }
  viewer.hidden = false;
  new ResizeObserver(draw).observe(canvas);
  filter();
}
