// Supports and rules by name: which cells training sees, and what the true answer at each cell is.

import { key, uniforms } from "./draws.js";

const middle = (n) => Math.floor(n / 2);
const inHole = (i, n) => { const side = Math.max(1, Math.round(n / 3)), low = Math.floor((n - side) / 2); return i >= low && i < low + side; };

// Of a cell (i, j) on a grid of R × C, whether training sees it.
export const SUPPORTS = {
  full: ["everything", () => true],
  band: ["diagonal band", (i, j, R, C) => Math.abs(i / (R - 1) - j / (C - 1)) * (Math.max(R, C) - 1) <= 1.001],
  plane: ["two planes (a cross)", (i, j, R, C) => i === middle(R) || j === middle(C)],
  ell: ["L", (i, j) => i === 0 || j === 0],
  stair: ["stair", (i, j, R, C) => { const step = (C - 1) / (R - 1); return j >= Math.floor(i * step) && j <= Math.floor((i + 1) * step); }],
  random: ["random share", null],
  anchors: ["two anchors", (i, j, R, C) => i === 0 || j === 0 || i === R - 1 || j === C - 1],
  donut: ["donut", (i, j, R, C) => !(inHole(i, R) && inHole(j, C))],
  leave: ["leave one out", (i, j, R, C) => !(i === R - 1 && j === C - 1)],
  blocks: ["two blocks", (i, j, R, C) => (i < R / 2) === (j < C / 2)],
};

export function support(name, rows, columns, share = 0.3, seed = 0) {
  const size = rows * columns, cells = Array.from({ length: size }, (_, c) => c);
  if (name !== "random") {
    const inside = SUPPORTS[name][1];
    return Uint8Array.from(cells, (c) => (inside(Math.floor(c / columns), c % columns, rows, columns) ? 1 : 0));
  }
  // An order from the seed alone: a larger share contains a smaller one.
  const order = uniforms(key(seed, "support"), size);
  cells.sort((a, b) => order[a] - order[b]);
  const seen = new Uint8Array(size);
  for (const cell of cells.slice(0, Math.max(1, Math.round(share * size)))) seen[cell] = 1;
  return seen;
}

const centred = (i, n) => i - (n - 1) / 2;

export const RULES = {
  sum: ["sum", (i, j, R, C) => centred(i, R) + centred(j, C)],
  product: ["product", (i, j, R, C) => centred(i, R) * centred(j, C)],
  context: ["context-dependent", (i, j, R, C) => (i < R / 2 ? 1 : -1) * centred(j, C)],
  equivalence: ["equivalence", (i, j, R, C) => ((i < R / 2) === (j < C / 2) ? 1 : -1)],
  modular: ["modular sum", (i, j, R, C) => { const n = Math.max(R, C); return centred((i + j) % n, n); }],
  first: ["first factor alone", (i, j, R) => centred(i, R)],
  own: ["own values", null],
};

export function rule(name, rows, columns) {
  return Float64Array.from({ length: rows * columns }, (_, c) => RULES[name][1](Math.floor(c / columns), c % columns, rows, columns));
}

// A bump on the picture of `side` × `side` pixels, centred at cell (y, x).
export function bump(cell, side, sigma = 1) {
  const y = Math.floor(cell / side), x = cell % side;
  return Float64Array.from({ length: side * side }, (_, p) =>
    Math.exp(-((Math.floor(p / side) - y) ** 2 + ((p % side) - x) ** 2) / (2 * sigma * sigma)));
}
