// The page: one state, one `refresh` that works everything out of it, and panels that draw what was worked out.

import { DOORS } from "./doors.js";
import { asSvg, drawCurves, drawMap, place, scaleOf, shade, short, statusFill, watchScheme, watchWidths } from "./drawing.js";
import { asCommand, asCsv, asPython } from "./export.js";
import { MEMBERS, TOY } from "./learners.js";
import { paintGrid } from "./paint.js";
import { RULES, SUPPORTS, bump, support } from "./presets.js";
import { FEWEST, LARGEST, MOST, fresh, fromFragment, levelName, toFragment, truthOf } from "./state.js";
import { columnsOf, pasted } from "./table.js";
import { DETERMINED, STATUSES, additiveFit, judged, kernelFit, path, pieces, salienceOfDepth, statuses, suggestions } from "./theory.js";

const byId = (id) => document.getElementById(id);

export function begin() {
  let state = fresh(), found = {}, chosen = -1, report = null, curves = {}, running = false, ended = false, off = [], number = 0, given = null, grid = null;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const worker = new Worker(URL.createObjectURL(new Blob([byId("code").textContent], { type: "text/javascript" })));
  byId("still").hidden = true;
  byId("live").hidden = false;

  function problem(sentence) {
    byId("problem").textContent = sentence;
    byId("problem").hidden = !sentence;
  }

  // --- what follows from the state

  function workOut() {
    const { seen, rows, columns } = state, truth = truthOf(state), all = pieces(seen, rows, columns);
    const status = statuses(seen, rows, columns, all), S = state.by === "depth" ? salienceOfDepth(state.depth) : state.salience;
    const asked = [...status.keys()].filter((c) => status[c] === DETERMINED || status[c] === UNDETERMINED);
    found = {
      truth, status, pieces: all, S, asked, scale: scaleOf(truth), wanted: suggestions(seen, rows, columns, all),
      additive: additiveFit(seen, truth, rows, columns), kernel: kernelFit(seen, truth, rows, columns, S),
    };
    if (state.world === "bumps") Object.assign(found, pictureFits(S));
    found.judged = state.world === "bumps" ? found.judged
      : { kernel: judged(found.kernel, truth, asked), additive: judged(found.additive, truth, asked) };
  }

  // Of pictures every pixel is an answer of its own.
  function pictureFits(S) {
    const { seen, rows: side } = state, pixels = side * side, pictures = Array.from({ length: pixels }, (_, c) => bump(c, side));
    const kernel = new Float64Array(pixels * pixels), additive = new Float64Array(pixels * pixels);
    for (let p = 0; p < pixels; p++) {
      const truth = Float64Array.from(pictures, (picture) => picture[p]);
      kernelFit(seen, truth, side, side, S).forEach((v, c) => { kernel[c * pixels + p] = v; });
      additiveFit(seen, truth, side, side).forEach((v, c) => { additive[c * pixels + p] = v; });
    }
    const blank = pictures[Math.floor(side / 2) * side + Math.floor(side / 2)].reduce((sum, v) => sum + v * v, 0) / pixels;
    const over = (said) => {
      let sum = 0, n = 0;
      seen.forEach((on, c) => {
        if (on || !Number.isFinite(said[c * pixels])) return;
        n++;
        for (let p = 0; p < pixels; p++) sum += (said[c * pixels + p] - pictures[c][p]) ** 2;
      });
      return { error: n ? sum / n / pixels / blank : NaN, slope: NaN };
    };
    return { pictures, kernels: kernel, additives: additive, judged: { kernel: over(kernel), additive: over(additive) } };
  }

  // --- changes

  // `changes` enter the state; where training depends on them it starts anew.
  function set(changes, { keepDoor = true, retrain = true } = {}) {
    problem("");
    const size = "rows" in changes || "columns" in changes;
    if (!keepDoor) state.door = "";
    Object.assign(state, changes);
    if (size || (changes.support && changes.support !== "painted") || "share" in changes) {
      if (size && !("seen" in changes) && state.support === "painted") state.support = "anchors";
      if (size && state.rule === "own" && !("values" in changes)) state.rule = "sum";
      if (size && !("levels" in changes)) state.levels = null;
      if (size && state.world !== "grid" && !("world" in changes)) state.world = "grid";
      if (!("seen" in changes)) state.seen = support(state.support, state.rows, state.columns, state.share, state.seed);
    }
    if (state.rule === "own" && state.values) state.seen = state.seen.map((on, c) => (Number.isFinite(state.values[c]) ? on : 0));
    refresh(retrain);
  }

  let queued = false, settling = 0, stale = true;
  function refresh(retrain) {
    if (chosen >= state.rows * state.columns) chosen = -1;
    if (chosen < 0 && state.world === "bumps") chosen = Math.floor(state.rows / 2) * state.columns + Math.floor(state.columns / 2);
    workOut();
    if (retrain) {
      running ||= ended && !calm;  // what was trained to its end is trained again; what was paused stays so
      restart();
    }
    controls();
    schedule();
    // Browsers refuse an address that changes with every cell of a stroke.
    clearTimeout(settling);
    settling = setTimeout(address, 250);
  }

  const address = () => history.replaceState(null, "", `#${toFragment(state)}`);

  // What is drawn in the next frame: everything, or what the networks say alone.
  function schedule(everything = true) {
    stale ||= everything;
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => { queued = false; draw(stale); stale = false; });
  }

  function restart() {
    report = null;
    ended = false;
    curves = {};
    number++;
    const { world, rows, columns, model, width, layers, scale, lr, optimiser, seed } = state;
    const spec = { world, rows, columns, model, width, layers, scale, lr, optimiser, seed, seen: state.seen, truth: found.truth, asked: found.asked };
    worker.postMessage({ do: "start", spec, number, running, until: state.epochs, off, calm });
  }

  worker.onmessage = ({ data }) => {
    if (data.number !== number) return;
    report = data;
    running = data.running;
    ended = !running && data.epoch >= state.epochs;
    for (const { epoch, curves: point } of data.points)
      for (const [name, values] of Object.entries(point)) {
        const known = values.filter(Number.isFinite);
        (curves[name] ||= []).push([epoch, known.reduce((a, b) => a + b, 0) / known.length, Math.min(...known), Math.max(...known)]);
      }
    schedule(false);
  };
  worker.onerror = () => problem("Training could not be started in this browser; everything else works.");

  // --- drawing

  const maps = {};
  function mapOf(values, scale, extra = {}) {
    return { rows: state.rows, columns: state.columns, chosen, fill: (c) => shade(values[c], scale), status: found.status, dots: (c) => state.seen[c], faint: true, ...extra };
  }

  function draw(everything) {
    const { rows, columns } = state, pictured = state.world === "bumps", toy = state.world === "toy";
    const letters = Array.from(found.pieces.piece, (p) => (found.pieces.count > 1 ? String.fromCharCode(65 + (p % 26)) : ""));
    const route = chosen >= 0 && found.status[chosen] === DETERMINED ? path(state.seen, rows, columns, chosen) : null;
    maps.settled = { rows, columns, chosen, fill: statusFill(found.status), status: found.status, letters, path: route, wanted: found.wanted, dots: (c) => state.seen[c] };
    const ink = { middle: 0, half: 1 }, plain = { status: null, chosen: -1, dots: null }, spot = chosen < 0 ? 0 : chosen;
    const picture = (all) => (all ? all.subarray(spot * rows * columns, (spot + 1) * rows * columns) : new Float64Array(rows * columns).fill(NaN));
    maps.truth = mapOf(found.truth, found.scale, { status: null, faint: false });
    if (pictured) {
      maps.kernel = mapOf(picture(found.kernels), ink, plain);
      maps.additive = mapOf(picture(found.additives), ink, plain);
      maps.mean = mapOf(picture(report?.pictures), ink, plain);
      maps.spread = mapOf(picture(report?.rendered), ink, plain);
    } else {
      const soft = { status: found.status.map((s) => (s > DETERMINED ? s : 0)) };
      maps.kernel = mapOf(found.kernel, found.scale, soft);
      maps.additive = mapOf(found.additive, found.scale, soft);
      const none = new Float64Array(rows * columns).fill(NaN);
      if (toy) {
        const fine = { rows: TOY.side, columns: TOY.side, chosen: -1, status: null, dots: null };
        maps.mean = mapOf(report?.share || [], { middle: 0.5, half: 0.5 }, fine);
        maps.spread = mapOf(report?.spread || [], { rising: true, half: 0.5 }, fine);
      } else {
        maps.mean = mapOf(report?.mean || none, found.scale, { status: null });
        maps.spread = mapOf(report?.spread || none, { rising: true, half: found.scale.half / 2 }, { status: null });
      }
    }
    for (const name of everything ? ["settled", "kernel", "additive", "mean", "spread"] : ["mean", "spread"]) drawMap(byId(name), maps[name]);
    if (everything) grid.show(state, found.truth, pictured ? found.pictures[spot] : found.truth, pictured ? ink : found.scale, chosen);
    say();
    drawCurves(byId("curves"), curveData());
    if (byId("answers").open) fillTable();
    worker.postMessage({ do: "drawn" });
  }

  function curveData() {
    const line = (name, colour, dash) => ({ name, colour, dash, points: curves[name] || [] });
    const series = [line("seen", "blue", []), line("unseen", "orange", [6, 3])];
    if (state.world === "bumps") series.push(line("rendered", "pink", [2, 2]));
    const levels = state.world === "toy" ? [] : [
      { value: found.judged.kernel.error, colour: "green", dash: [9, 3, 2, 3] }, { value: found.judged.additive.error, colour: "muted", dash: [2, 2] }];
    return { series, levels, until: Math.max(state.epochs, report?.epoch || 0) };
  }

  const whole = (v) => (Number.isFinite(v) ? Math.round(v) || 0 : "–");
  const be = (n) => `${n} ${n === 1 ? "is" : "are"}`;
  const counted = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const cellName = (c) => `${state.names[0]} ${levelName(state, 0, Math.floor(c / state.columns))}, ${state.names[1]} ${levelName(state, 1, c % state.columns)}`;

  const told = new Map();
  function tell(id, text, canvas) {
    if (told.get(id) === text) return;
    told.set(id, text);
    byId(id).textContent = text;
    if (canvas) byId(canvas).setAttribute("aria-label", `${byId(`t-${canvas}`).textContent}. ${text}`);
  }

  function say() {
    const counts = [0, 0, 0, 0];
    for (const s of found.status) counts[s]++;
    const open = counts[2] + counts[3], pictured = state.world === "bumps", toy = state.world === "toy";
    const settled = `${counts[0]} seen${counts[1] + open ? `; of ${counts[1] + open} unseen, ${be(counts[1])} determined${counts[2] ? `, ${be(counts[2])} not` : ""}${counts[3] ? `, ${counts[3]} ${counts[3] === 1 ? "has" : "have"} a level never seen` : ""}. ` : ". "}`
      + (open ? `${counted(found.pieces.count, "piece")}: ${counted(found.wanted.length, "further cell")} (dashed) would tie them together.` : counts[1] ? "One piece: if effects add up, the seen cells settle every other one." : "Nothing is left to ask: take some away, and see what the others say of them.");
    tell("said-settled", settled, "settled");
    tell("names", state.levels ? `Rows are ${state.names[0]}, columns ${state.names[1]}${state.rule === "own" ? `; the answer is ${state.target}` : ""}.` : "");
    const words = ({ error, slope, cells }) => !Number.isFinite(error) ? "No unseen cell has an answer to judge it by."
      : pictured ? `Error on unseen places: ${short(error)} of that of an empty picture.` : `Error on ${counted(cells, "unseen cell")} ${short(error)}${Number.isFinite(slope) ? `, slope against the truth ${short(slope)}` : ""}.`;
    tell("said-kernel", `${pictured ? `Its drawing at ${cellName(Math.max(chosen, 0))}. ` : ""}S = ${found.S.toFixed(3)}. ${words(found.judged.kernel)}`, "kernel");
    const { error: kept } = pictured ? { error: NaN } : judged(found.additive, found.truth, [...state.seen.keys()].filter((c) => state.seen[c]));
    const apart = kept > 1e-6 * found.scale.half ? `No sum gives the seen cells: their error is ${short(kept)}. ` : Number.isFinite(kept) ? "Error on seen cells 0. " : "";
    tell("said-additive", `${pictured ? "Sums of what each factor alone explains. " : apart}${words(found.judged.additive)}${open && !pictured ? " Hatched: no additive answer exists." : ""}`, "additive");
    const last = (name) => { const all = (report?.curves[name] || []).filter(Number.isFinite); return all.reduce((a, b) => a + b, 0) / all.length; };
    const broke = report && !toy && !pictured && !report.mean.every(Number.isFinite);
    byId("t-mean").textContent = pictured ? "A decoder, live" : `${MEMBERS} networks, live`;
    byId("t-spread").textContent = pictured ? "A decoder that renders first, live" : "How far the networks differ";
    if (!state.seen.some(Boolean)) tell("said-mean", "Nothing to train on: paint a cell.", "mean");
    else if (!report) tell("said-mean", "Press Train.", "mean");
    else if (broke) tell("said-mean", "They have diverged: lower the learning rate or the initial scale.", "mean");
    else if (toy) tell("said-mean", `Share of networks that answer 1 at each place; the first input grows downwards, the second to the right. Wrong in the corners (0,0), (0,1), (1,0), (1,1): ${report.quarters.map((q) => `${Math.round(100 * q)} %`).join(", ")}.`, "mean");
    else if (pictured) tell("said-mean", `Its drawing at the same place, after ${counted(report.epoch, "epoch")}. Error on unseen places: ${short(last("unseen"))} of that of an empty picture.`, "mean");
    else {
      const [on, away] = report.together, sides = (one, other) => `on seen cells ${short(one)}${Number.isFinite(other) ? `, on ${away.cells} unseen ${short(other)}` : ""}`;
      tell("said-mean", `Their mean answer. Its error ${sides(on.error, away.error)}${Number.isFinite(away.slope) ? `, slope ${short(away.slope)}` : ""}. Error of one network, on average: ${sides(last("seen"), last("unseen"))}.`, "mean");
    }
    tell("said-spread", pictured ? `Each factor becomes stripes before they meet. Error on unseen places: ${short(last("rendered"))} of that of an empty picture.`
      : toy ? "Darkest where half of the networks answer 1." : `Standard deviation over the ${MEMBERS} networks; darkest from ${short(found.scale.half / 2)} on.`, "spread");
    byId("said-curves").innerHTML = `<span class="key blue"></span>seen <span class="key dash orange"></span>unseen${pictured ? ' <span class="key dot pink"></span>unseen, rendered first' : ""}${toy ? ", share answered wrongly" : ' <span class="key dash green"></span>kernel, unseen <span class="key dot"></span>additive, unseen'}. Mean and range; epochs on a logarithmic axis.`;
    byId("curves").setAttribute("aria-label", `Error over epochs. Seen ${short(last("seen"))}, unseen ${short(last("unseen"))}${toy ? "" : `; kernel on unseen ${short(found.judged.kernel.error)}, additive fit ${short(found.judged.additive.error)}`}.`);
    tell("epoch", report ? `${counted(report.epoch, toy ? "update" : "epoch")}${running ? `, ${Math.round(report.rate)} a second` : ""}` : "");
    byId("run").textContent = running ? "Pause" : "Train";
    byId("run").setAttribute("aria-pressed", running);
    if (report?.left && ["planted", "joint"].includes(state.model))
      tell("left", `Left of the rule's first half: ${whole(100 * report.left[0])} %, of its second: ${whole(100 * report.left[1])} %.`);
    else tell("left", "");
    if (chosen >= 0) readout();
    else tell("readout", "Choose a cell: its answers stand here.");
  }

  function readout() {
    const c = chosen, { rows, columns } = state, status = found.status[c], bits = [`${cellName(c)}: ${STATUSES[status]}.`];
    if (state.world !== "bumps") {
      bits.push(`Truth ${short(found.truth[c])}, kernel ${short(found.kernel[c])}, additive ${short(found.additive[c])}${report?.mean ? `, networks ${short(report.mean[c])} ± ${short(report.spread[c])}` : ""}.`);
      if (status === DETERMINED) {
        const terms = path(state.seen, rows, columns, c);
        bits.push(`Settled by ${terms.map(({ sign, cell }, i) => `${sign > 0 ? (i ? "+ " : "") : "− "}(${levelName(state, 0, Math.floor(cell / columns))}, ${levelName(state, 1, cell % columns)})`).join(" ")}.`);
      }
    }
    if (status > DETERMINED) bits.push("Two rules agree with everything seen and differ here.");
    byId("readout").setAttribute("aria-live", running ? "off" : "polite");  // else every epoch would be read out
    tell("readout", bits.join(" "));
  }

  function fillTable() {
    const head = [...state.names, "seen", "status", "truth", "kernel", "additive", "networks", "spread"], table = byId("table");
    const row = (kind, texts) => {
      const line = document.createElement("tr");
      texts.forEach((text, i) => {
        const field = document.createElement(kind === "th" || i < 2 ? "th" : "td");
        if (field.tagName === "TH") field.scope = kind === "th" ? "col" : "row";
        field.textContent = text;
        line.append(field);
      });
      return line;
    };
    const top = document.createElement("thead"), body = document.createElement("tbody");
    top.append(row("th", head));
    for (let c = 0; c < state.seen.length; c++) {
      const at = (values) => (values && state.world !== "bumps" ? short(values[c]) : "–");
      body.append(row("td", [levelName(state, 0, Math.floor(c / state.columns)), levelName(state, 1, c % state.columns), state.seen[c] ? "yes" : "no",
        STATUSES[found.status[c]], at(found.truth), at(found.kernel), at(found.additive), at(report?.mean), at(state.world === "toy" ? null : report?.spread)]));
    }
    table.replaceChildren(top, body);
  }

  // --- controls

  function controls() {
    for (const id of ["rows", "columns", "share", "rule", "support", "model", "width", "layers", "lr", "optimiser", "seed", "epochs", "depth"])
      if (document.activeElement !== byId(id)) byId(id).value = state[id];
    byId("scale").value = Math.log10(state.scale);
    byId("salience").value = found.S;
    byId("scale-is").textContent = short(state.scale);
    byId("depth-is").textContent = state.by === "depth" ? state.depth : "–";
    byId("salience-is").textContent = found.S.toFixed(3);
    byId("share-of").hidden = state.support !== "random";
    byId("collect").disabled = !found.wanted.length || state.rule === "own";
    byId("switches").hidden = state.world !== "grid" || !["planted", "joint"].includes(state.model);
    const fixed = state.world !== "grid";
    for (const id of ["rows", "columns", "rule", "model", "layers", "optimiser", "brush"]) byId(id).disabled = fixed;
    byId("width").disabled = state.world === "toy";
    for (const button of byId("doors").querySelectorAll("button")) button.setAttribute("aria-current", button.dataset.door === state.door);
    showDoor();
  }

  function showDoor() {
    const door = DOORS[state.door], section = byId("door");
    section.hidden = !door;
    if (!door || section.dataset.door === state.door) return;
    section.dataset.door = state.door;
    const texts = [["Look at this.", door.look], ["What surprises.", door.surprise]].map(([head, text]) => {
      const line = document.createElement("p"), strong = document.createElement("b");
      strong.textContent = `${head} `;
      line.append(strong, text);
      return line;
    });
    const tries = document.createElement("div");
    tries.className = "row";
    for (const [label, changes] of door.tries) {
      const button = document.createElement("button");
      button.textContent = label;
      button.onclick = () => { running = true; set(changes); };
      tries.append(button);
    }
    section.replaceChildren(...texts, tries);
  }

  function open(name) {
    off = [];
    chosen = -1;
    running = !calm;
    byId("door").dataset.door = "";
    state = fresh({ ...DOORS[name].state, door: name });
    switched();
    set({});
  }

  function switched() {
    for (const p of [0, 1]) {
      byId(`off-${p}`).setAttribute("aria-pressed", off.includes(p));
      byId(`off-${p}`).textContent = `Switch part ${p + 1} ${off.includes(p) ? "on" : "off"}`;
    }
  }

  function choose(cell, quiet) {
    if (cell === chosen || cell < 0) return;
    chosen = cell;
    if (!quiet) schedule();
  }

  function wire() {
    for (const [name, door] of Object.entries(DOORS)) {
      const item = document.createElement("li"), button = document.createElement("button"), small = document.createElement("small");
      button.dataset.door = name;
      small.textContent = door.paper;
      button.append(door.title, small);
      button.onclick = () => open(name);
      item.append(button);
      byId("doors").append(item);
    }
    for (const [name, [label]] of Object.entries(SUPPORTS)) byId("support").add(new Option(label, name));
    byId("support").add(new Option("painted by hand", "painted"));
    for (const [name, [label]] of Object.entries(RULES)) byId("rule").add(new Option(label, name));
    const ranged = (id, low, high, extra = {}) => { byId(id).onchange = ({ target }) => {
      const value = Number(target.value);
      if (Number.isInteger(value) && value >= low && value <= high) set({ [id]: value }, extra);
      else { problem(`${target.parentElement.textContent.trim()} takes a whole number from ${low} to ${high}.`); target.value = state[id]; }
    }; };
    ranged("rows", FEWEST, MOST, { keepDoor: false });
    ranged("columns", FEWEST, MOST, { keepDoor: false });
    ranged("width", 1, 128);
    ranged("layers", 1, 4);
    ranged("seed", 0, 2 ** 31 - 1);
    byId("epochs").onchange = ({ target }) => { const v = Number(target.value); if (Number.isInteger(v) && v >= 1 && v <= 1e6) { set({ epochs: v }, { retrain: false }); worker.postMessage({ do: "run", running, until: v }); } else target.value = state.epochs; };
    byId("lr").onchange = ({ target }) => { const v = Number(target.value); if (v >= 1e-5 && v <= 10) set({ lr: v }); else { problem("The learning rate is a number from 0.00001 to 10."); target.value = state.lr; } };
    byId("share").onchange = ({ target }) => { const v = Number(target.value); if (v > 0 && v <= 1) set({ share: v }); else target.value = state.share; };
    for (const id of ["model", "optimiser"]) byId(id).onchange = ({ target }) => { off = []; switched(); set({ [id]: target.value }); };
    byId("support").onchange = ({ target }) => set({ support: target.value });
    byId("rule").onchange = ({ target }) => {
      const own = target.value === "own" ? { values: state.values || Float64Array.from(found.truth) } : { values: null };
      set({ rule: target.value, ...own }, { keepDoor: false });
      if (target.value === "own") { byId("brush").value = "value"; byId("value").hidden = false; }
    };
    byId("brush").onchange = ({ target }) => { byId("value").hidden = target.value !== "value"; };
    byId("depth").oninput = ({ target }) => set({ by: "depth", depth: Number(target.value) }, { retrain: false });
    byId("salience").oninput = ({ target }) => set({ by: "salience", salience: Number(target.value) }, { retrain: false });
    byId("scale").oninput = ({ target }) => set({ scale: Number((10 ** Number(target.value)).toPrecision(3)) });
    byId("run").onclick = () => {
      running = !running;
      if (running && report && report.epoch >= state.epochs) restart(); else worker.postMessage({ do: "run", running, until: state.epochs });
      schedule();
    };
    byId("step").onclick = () => { running = false; worker.postMessage({ do: "step" }); };
    byId("reset").onclick = () => { running = false; restart(); };
    for (const p of [0, 1]) byId(`off-${p}`).onclick = () => {
      off = off.includes(p) ? off.filter((q) => q !== p) : [...off, p];
      switched();
      worker.postMessage({ do: "off", off });
    };
    byId("collect").onclick = () => {
      const seen = Uint8Array.from(state.seen);
      for (const c of found.wanted) seen[c] = 1;
      set({ seen, support: "painted" });
    };
    wireTable();
    byId("answers").ontoggle = () => byId("answers").open && fillTable();
    for (const name of ["settled", "kernel", "additive", "mean", "spread"])
      byId(name).onpointermove = (event) => { if (state.world === "grid" || name === "settled") choose(place(byId(name), event, state.rows, state.columns)); };
    byId("settled").onclick = (event) => { const c = place(byId("settled"), event, state.rows, state.columns); if (c >= 0) { chosen = c; schedule(); } };
    wireTaking();
    watchScheme(() => schedule());
    watchWidths(document.querySelectorAll("canvas"), () => schedule());
    addEventListener("hashchange", () => read(location.hash));
    grid = paintGrid(byId("paint"), { choose, paint });
  }

  function wireTable() {
    const box = byId("paste"), columns = [0, 1, 2].map((k) => byId(`column-${k}`));
    const offer = () => {
      const { names, guess } = columnsOf(box.value);
      byId("columns-of").hidden = names.length < 3;
      columns.forEach((select, k) => { select.replaceChildren(...names.map((name, i) => new Option(name, i))); select.value = guess[k]; });
    };
    // A browser takes seconds to insert some thousand lines into a box, and none to set them.
    const take = (text) => { box.value = text; offer(); };
    box.onpaste = (event) => { event.preventDefault(); take(event.clipboardData.getData("text")); };
    box.oninput = offer;
    byId("file").onchange = async ({ target }) => { if (target.files[0]) take(await target.files[0].text()); };
    byId("use").onclick = () => {
      const chosen = byId("columns-of").hidden ? undefined : columns.map((select) => Number(select.value));
      try { set({ world: "grid", ...pasted(box.value, chosen) }, { keepDoor: false }); } catch (error) { problem(error.message); }
    };
  }

  // One stroke of the brush: `cells` are painted as the first of them was turned.
  function paint(cell, on) {
    if (byId("brush").value === "value" && state.world === "grid") {
      const v = Number(byId("value").value);
      if (!Number.isFinite(v) || Math.abs(v) > LARGEST) return problem(`A value is a number of at most ${LARGEST.toExponential(0)}.`);
      const values = Float64Array.from(found.truth);
      values[cell] = v;
      return set({ rule: "own", values }, { keepDoor: false });
    }
    if (!Number.isFinite(found.truth[cell])) return problem("This cell has no answer to train on; paint a value first.");
    if (state.seen[cell] === (on ? 1 : 0)) return undefined;
    const seen = Uint8Array.from(state.seen);
    seen[cell] = on ? 1 : 0;
    return set({ seen, support: "painted" });
  }

  function wireTaking() {
    const copy = async (what, text) => {
      byId("copy").value = text;
      byId("copy").hidden = false;
      try { await navigator.clipboard.writeText(text); tell("copied", `${what} is copied.`); } catch { byId("copy").select(); tell("copied", `${what} stands below, to be copied by hand.`); }
    };
    const save = (name, text, type) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type }));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      tell("copied", `${name} is saved.`);
    };
    byId("copy-link").onclick = () => { address(); copy("The link", location.href); };
    byId("copy-python").onclick = () => copy("The program", asPython(state));
    byId("copy-command").onclick = () => copy("The command, for the downloaded play.csv,", asCommand(state));
    byId("save-csv").onclick = () => save("play.csv", asCsv(state), "text/csv");
    byId("save-svg").onclick = () => save("play.svg", asSvg([["truth", "Truth and training"], ["settled", "Settled"], ["kernel", "Kernel"], ["additive", "Additive"], ["mean", "Networks"], ["spread", "Spread"]]
      .map(([name, title]) => ({ title, map: maps[name] })), DOORS[state.door]?.title || "recombine playground"), "image/svg+xml");
  }

  function read(fragment) {
    if (fragment.replace(/^#/, "") === toFragment(state)) return;
    const { state: next, problem: sentence } = fromFragment(fragment);
    state = next;
    off = [];
    chosen = -1;
    running = !calm;
    switched();
    set({});
    problem(sentence);
  }

  wire();
  given = JSON.parse(byId("given").textContent);
  if (location.hash.length > 1) read(location.hash);
  else if (given) {
    const values = given.values && Float64Array.from(given.values, (v) => (v === null ? NaN : v));
    state = fresh({ ...given, values, seen: Uint8Array.from(given.seen), support: "painted" });
    running = !calm;
    set({});
  } else open("leak");
}

if (typeof document !== "undefined" && document.getElementById("code")) begin();
