// What trains in the worker: eight networks on the painted cells, on the continuous toy, or as decoders of bumps.
// A learner has `epoch`, `step()` and `report()`; a report is plain data: maps to draw and one point of each curve.

import { dataStream, purpose, uniforms } from "./draws.js";
import { answer, codes, crossEntropy, gradient, network, optimiser, sparse, start } from "./network.js";
import { bump } from "./presets.js";
import { judged } from "./theory.js";
import { startStripes, stripeAnswers, stripeGradient, stripeSize } from "./stripes.js";

export const MEMBERS = 8;

export function parts({ model, width, layers, rows, columns }) {
  const hidden = Array(layers).fill(width), all = rows + columns;
  if (model === "one") return [{ from: 0, to: all, widths: [all, ...hidden, 1] }];
  if (model === "composed") return [{ from: 0, to: rows, widths: [rows, ...hidden, 1] }, { from: rows, to: all, widths: [columns, ...hidden, 1] }];
  return [0, 1].map(() => ({ from: 0, to: all, widths: [all, ...hidden, 1] }));
}

// Answers are divided by the largest seen one while training, so that one learning rate suits every rule.
export function unitOf(seen, truth) {
  let unit = 0;
  for (let cell = 0; cell < seen.length; cell++) if (seen[cell]) unit = Math.max(unit, Math.abs(truth[cell]));
  return unit || 1;
}

function moments(rows) {
  const mean = new Float64Array(rows[0].length), spread = new Float64Array(rows[0].length);
  for (let i = 0; i < mean.length; i++) {
    for (const row of rows) mean[i] += row[i] / rows.length;
    for (const row of rows) spread[i] += (row[i] - mean[i]) ** 2 / (rows.length - 1);
    spread[i] = Math.sqrt(spread[i]);
  }
  return { mean, spread };
}

// The mean answer of each row and of each column, without the constant.
function effects(values, rows, columns) {
  const first = new Float64Array(rows), second = new Float64Array(columns);
  let mean = 0;
  for (let c = 0; c < values.length; c++) mean += values[c] / values.length;
  for (let c = 0; c < values.length; c++) {
    first[Math.floor(c / columns)] += (values[c] - mean) / columns;
    second[c % columns] += (values[c] - mean) / rows;
  }
  return [first, second];
}

export function gridLearner(spec) {
  const { rows, columns, seen, truth, seed, scale, lr } = spec;
  const cells = Array.from({ length: rows * columns }, (_, c) => c), unit = unitOf(seen, truth);
  const train = cells.filter((c) => seen[c]), asked = spec.asked.filter((c) => Number.isFinite(truth[c]));
  const net = network(parts(spec)), x = codes(train, rows, columns), every = codes(cells, rows, columns);
  const targets = Float64Array.from(train, (c) => truth[c] / unit), grad = new Float64Array(net.size);
  const wanted = effects(Float64Array.from(truth, (v) => (Number.isFinite(v) ? v : 0)), rows, columns);
  let apart = null;
  if (spec.model === "planted") {
    const known = truth.filter(Number.isFinite), whole = known.reduce((a, b) => a + b, 0) / known.length / unit;
    apart = [Float64Array.from(train, (c) => wanted[0][Math.floor(c / columns)] / unit + whole / 2),
      Float64Array.from(train, (c) => wanted[1][c % columns] / unit + whole / 2)];
  }
  const members = Array.from({ length: MEMBERS }, (_, m) => ({
    flat: start(net, seed, m, scale, "torch", apart ? MEMBERS : 0), update: optimiser(spec.optimiser, lr, net.size),
  }));
  return {
    epoch: 0,
    members,
    step() {
      if (!train.length) return;
      for (const { flat, update } of members) { gradient(net, flat, x, targets, grad, undefined, apart); update(flat, grad); }
      this.epoch++;
    },
    report(off = []) {
      const said = members.map(({ flat }) => answer(net, flat, every, off).map((v) => v * unit));
      const { mean, spread } = moments(said);
      const left = effects(mean, rows, columns).map((found, k) => {
        const top = found.reduce((sum, v, i) => sum + v * wanted[k][i], 0), bottom = wanted[k].reduce((sum, v) => sum + v * v, 0);
        return bottom > 1e-12 ? top / bottom : NaN;
      });
      const errors = (where) => said.map((row) => judged(row, truth, where).error);
      return { epoch: this.epoch, mean, spread, left, together: [train, asked].map((where) => judged(mean, truth, where)),
        curves: { seen: errors(train), unseen: errors(asked) } };
    },
  };
}

// X_i = Y_i − U[0, 1] with Y₁, Y₂ ∈ {0, 1}; the answer is Y₁. Batches are those of recombine's ToyTask.
export const TOY = { widths: [2, 8, 8, 8, 2], batch: 10, side: 36 };

export function toyLearner({ seen, seed, lr, scale }) {
  const net = network([{ from: 0, to: 2, widths: TOY.widths }]), grad = new Float64Array(net.size);
  const trained = [0, 1, 2, 3].filter((c) => seen[c]);
  const members = Array.from({ length: MEMBERS }, (_, m) => ({ flat: start(net, seed, m, scale, "playground"), update: optimiser("sgd", lr, net.size) }));
  const places = [];
  for (let r = 0; r < TOY.side; r++) for (let c = 0; c < TOY.side; c++) places.push([2 * (r + 0.5) / TOY.side - 1, 2 * (c + 0.5) / TOY.side - 1]);
  const map = sparse(places), quarter = places.map(([x1, x2]) => (x1 > 0 ? 2 : 0) + (x2 > 0 ? 1 : 0));
  return {
    epoch: 0,
    members,
    step() {
      if (!trained.length) return;
      members.forEach(({ flat, update }, m) => {
        const { inputs, targets } = toyBatch(seed, m, this.epoch, trained);
        gradient(net, flat, sparse(inputs), targets, grad, crossEntropy);
        update(flat, grad);
      });
      this.epoch++;
    },
    report() {
      const choices = members.map(({ flat }) => {
        const said = answer(net, flat, map);
        return Float64Array.from(places, (_, p) => (said[2 * p + 1] > said[2 * p] ? 1 : 0));
      });
      const wrong = (inside) => choices.map((row) => {
        let n = 0, bad = 0;
        row.forEach((v, p) => { if (inside(quarter[p])) { n++; bad += v !== (quarter[p] > 1 ? 1 : 0); } });
        return n ? bad / n : NaN;
      });
      const mean = moments(choices).mean;
      return { epoch: this.epoch, share: mean, spread: mean.map((p) => Math.sqrt(p * (1 - p))),
        quarters: [0, 1, 2, 3].map((q) => wrong((at) => at === q).reduce((a, b) => a + b, 0) / MEMBERS),
        curves: { seen: wrong((q) => seen[q]), unseen: wrong((q) => !seen[q]) } };
    },
  };
}

export function toyBatch(seed, member, step, trained) {
  const stream = dataStream(seed, member, step);
  const chosen = uniforms(purpose(stream, "combination"), TOY.batch), noise = uniforms(purpose(stream, "noise"), 2 * TOY.batch, 24);
  const inputs = [], targets = [];
  chosen.forEach((u, n) => {
    const cell = trained[Math.floor(u * trained.length)], y = [cell >> 1, cell & 1];
    inputs.push([y[0] - noise[2 * n], y[1] - noise[2 * n + 1]]);
    targets.push(y[0]);
  });
  return { inputs, targets };
}

// Decoders: from the codes of a place to the picture of a bump there, as a perceptron and by rendering each factor first.
export function bumpLearner({ rows: side, seen, seed, lr, scale, width }) {
  const cells = Array.from({ length: side * side }, (_, c) => c), pixels = side * side;
  const train = cells.filter((c) => seen[c]), asked = cells.filter((c) => !seen[c]);
  const net = network([{ from: 0, to: 2 * side, widths: [2 * side, width, pixels] }]);
  const x = codes(train, side, side), every = codes(cells, side, side), pictures = cells.map((c) => bump(c, side));
  const targets = new Float64Array(train.length * pixels);
  train.forEach((c, n) => targets.set(pictures[c], n * pixels));
  const count = 2, blank = pictures[Math.floor(pixels / 2) + Math.floor(side / 2)].reduce((sum, v) => sum + v * v, 0) / pixels;
  const plain = Array.from({ length: count }, (_, m) => ({ flat: start(net, seed, m, scale), update: optimiser("adam", lr, net.size) }));
  const drawn = Array.from({ length: count }, (_, m) => ({ flat: startStripes(side, seed, m), update: optimiser("adam", lr, stripeSize(side)) }));
  const grad = new Float64Array(net.size), stripeGrad = new Float64Array(stripeSize(side));
  const errors = (all, where) => all.map((said) => {
    let sum = 0;
    for (const c of where) for (let p = 0; p < pixels; p++) sum += (said[c * pixels + p] - pictures[c][p]) ** 2;
    return where.length ? sum / where.length / pixels / blank : NaN;
  });
  return {
    epoch: 0,
    members: plain,
    step() {
      if (!train.length) return;
      for (const { flat, update } of plain) { gradient(net, flat, x, targets, grad); update(flat, grad); }
      for (const { flat, update } of drawn) { stripeGradient(side, flat, train, targets, stripeGrad); update(flat, stripeGrad); }
      this.epoch++;
    },
    report() {
      const said = plain.map(({ flat }) => answer(net, flat, every)), rendered = drawn.map(({ flat }) => stripeAnswers(side, flat, cells));
      return { epoch: this.epoch, pictures: moments(said).mean, rendered: moments(rendered).mean,
        curves: { seen: errors(said, train), unseen: errors(said, asked), rendered: errors(rendered, asked) } };
    },
  };
}

export const LEARNERS = { grid: gridLearner, toy: toyLearner, bumps: bumpLearner };
