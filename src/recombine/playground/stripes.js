// A decoder that renders each factor before it combines them; the twin of recombine's StripeDecoder with one channel:
// x chooses a profile along the columns, y one along the rows, and the same small perceptron (2 → 16 → 1) works at every
// pixel. Parameters in torch's order: both profile tables (side × side, out × in), then the perceptron.

import { key, torchGenerator } from "./draws.js";

const HIDDEN = 16;
export const stripeSize = (side) => 2 * side * side + 4 * HIDDEN + 1;

export function startStripes(side, seed, member) {
  const draw = torchGenerator(key(seed, member, "init") >> 1n), flat = new Float64Array(stripeSize(side)), square = 2 * side * side;
  for (let i = 0; i < flat.length; i++) {
    const bound = 1 / Math.sqrt(i < square ? side : i < square + 3 * HIDDEN ? 2 : HIDDEN);
    flat[i] = draw(-bound, bound);
  }
  return flat;
}

// Cells are y·side + x. The first half of the code is y, the row; the package's StripeDecoder is given (x, y).
function pixel(flat, at, u, v, hidden) {
  let out = flat[at + 4 * HIDDEN];
  for (let h = 0; h < HIDDEN; h++) {
    const sum = flat[at + 2 * h] * u + flat[at + 2 * h + 1] * v + flat[at + 2 * HIDDEN + h];
    hidden[h] = sum > 0 ? sum : 0;
    out += flat[at + 3 * HIDDEN + h] * hidden[h];
  }
  return out;
}

export function stripeAnswers(side, flat, cells) {
  const square = side * side, at = 2 * square, hidden = new Float64Array(HIDDEN), out = new Float64Array(cells.length * square);
  cells.forEach((cell, n) => {
    const y = Math.floor(cell / side), x = cell % side;
    for (let r = 0, p = n * square; r < side; r++)
      for (let c = 0; c < side; c++, p++) out[p] = pixel(flat, at, flat[c * side + x], flat[square + r * side + y], hidden);
  });
  return out;
}

export function stripeGradient(side, flat, cells, targets, grad) {
  grad.fill(0);
  const square = side * side, at = 2 * square, hidden = new Float64Array(HIDDEN), total = cells.length * square;
  let loss = 0;
  cells.forEach((cell, n) => {
    const y = Math.floor(cell / side), x = cell % side;
    for (let r = 0, p = n * square; r < side; r++)
      for (let c = 0; c < side; c++, p++) {
        const i = c * side + x, j = square + r * side + y, u = flat[i], v = flat[j];
        const off = pixel(flat, at, u, v, hidden) - targets[p], d = 2 * off / total;
        loss += off * off / total;
        grad[at + 4 * HIDDEN] += d;
        let du = 0, dv = 0;
        for (let h = 0; h < HIDDEN; h++) {
          if (hidden[h] <= 0) continue;
          grad[at + 3 * HIDDEN + h] += d * hidden[h];
          const e = d * flat[at + 3 * HIDDEN + h];
          grad[at + 2 * h] += e * u;
          grad[at + 2 * h + 1] += e * v;
          grad[at + 2 * HIDDEN + h] += e;
          du += e * flat[at + 2 * h];
          dv += e * flat[at + 2 * h + 1];
        }
        grad[i] += du;
        grad[j] += dv;
      }
  });
  return loss;
}
