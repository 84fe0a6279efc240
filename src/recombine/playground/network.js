// Perceptrons with ReLU between their layers, trained by gradient descent; the twin of recombine's Perceptron and train.
// A network is a list of parts whose answers are added: one part is a plain perceptron, a part per factor is a
// compositional network, several parts on the whole input are a glued one. All parameters of a member are one flat row,
// in torch's order (of each layer the weights, out × in, then the biases).

import { key, torchGenerator } from "./draws.js";

export function network(parts) {
  let size = 0;
  const laid = parts.map(({ from, to, widths }) => ({
    from, to, widths,
    layers: widths.slice(1).map((outputs, i) => {
      const layer = { inputs: widths[i], outputs, weights: size, biases: size + widths[i] * outputs };
      size = layer.biases + outputs;
      return layer;
    }),
  }));
  return { parts: laid, size, outputs: parts[0].widths.at(-1) };
}

// Member `member` as its own seed draws it; `way` "playground" is U[−½, ½] with biases of 0.1, else torch's own. With
// `apart` part p is drawn as member `member + p·apart`, as parts that are trained on their own are.
export function start(net, seed, member, scale = 1, way = "torch", apart = 0) {
  let draw = torchGenerator(key(seed, member, "init") >> 1n);
  const flat = new Float64Array(net.size);
  net.parts.forEach((part, p) => {
    if (p && apart) draw = torchGenerator(key(seed, member + p * apart, "init") >> 1n);
    for (const { inputs, outputs, weights, biases } of part.layers) {
      const bound = 1 / Math.sqrt(inputs);
      for (let i = weights; i < biases; i++) flat[i] = draw(-bound, bound);
      for (let i = biases; i < biases + outputs; i++) flat[i] = draw(-bound, bound);
      if (way === "playground") {
        for (let i = weights; i < biases; i++) flat[i] = draw(-0.5, 0.5);
        flat.fill(0.1, biases, biases + outputs);
      }
    }
  });
  return scale === 1 ? flat : flat.map((v) => Math.fround(v * Math.fround(scale)));
}

// Rows of inputs as their entries that are not zero: of one-hot codes there are two.
export function sparse(rows) {
  const starts = new Int32Array(rows.length + 1), at = [], value = [];
  rows.forEach((row, i) => {
    row.forEach((v, j) => { if (v) { at.push(j); value.push(v); } });
    starts[i + 1] = at.length;
  });
  return { count: rows.length, starts, at: Int32Array.from(at), value: Float64Array.from(value) };
}

export function codes(cells, rows, columns) {
  return sparse(cells.map((cell) => {
    const row = new Float32Array(rows + columns);
    row[Math.floor(cell / columns)] = row[rows + (cell % columns)] = 1;
    return row;
  }));
}

const room = new Map();
function buffer(name, size) {
  let found = room.get(name);
  if (!found || found.length < size) room.set(name, (found = new Float64Array(size)));
  return found;
}

// out[at + r·width + j] += Σ_k S[from + r·down + k·along] · M[first + k·width + j] for r < rows, k < inner, j < width.
// Four by four numbers at a time stay in registers: this loop is nearly all of training.
function addProduct(out, at, S, from, down, along, M, first, rows, inner, width) {
  const whole = width - (width % 4), full = rows - (rows % 4);
  for (let r = 0; r < full; r += 4) {
    const a = from + r * down, b = a + down, c = b + down, d = c + down;
    for (let j = 0; j < whole; j += 4) {
      let a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
      let c0 = 0, c1 = 0, c2 = 0, c3 = 0, d0 = 0, d1 = 0, d2 = 0, d3 = 0;
      for (let k = 0, m = first + j, s = 0; k < inner; k++, m += width, s += along) {
        const m0 = M[m], m1 = M[m + 1], m2 = M[m + 2], m3 = M[m + 3];
        const sa = S[a + s], sb = S[b + s], sc = S[c + s], sd = S[d + s];
        a0 += sa * m0; a1 += sa * m1; a2 += sa * m2; a3 += sa * m3;
        b0 += sb * m0; b1 += sb * m1; b2 += sb * m2; b3 += sb * m3;
        c0 += sc * m0; c1 += sc * m1; c2 += sc * m2; c3 += sc * m3;
        d0 += sd * m0; d1 += sd * m1; d2 += sd * m2; d3 += sd * m3;
      }
      let o = at + r * width + j;
      out[o] += a0; out[o + 1] += a1; out[o + 2] += a2; out[o + 3] += a3; o += width;
      out[o] += b0; out[o + 1] += b1; out[o + 2] += b2; out[o + 3] += b3; o += width;
      out[o] += c0; out[o + 1] += c1; out[o + 2] += c2; out[o + 3] += c3; o += width;
      out[o] += d0; out[o + 1] += d1; out[o + 2] += d2; out[o + 3] += d3;
    }
  }
  for (let r = 0; r < rows; r++)
    for (let j = r < full ? whole : 0; j < width; j++) {
      let sum = 0;
      for (let k = 0; k < inner; k++) sum += S[from + r * down + k * along] * M[first + k * width + j];
      out[at + r * width + j] += sum;
    }
}

// The activations of one part on all rows: one array per layer, the last one the answers.
function forward(part, p, flat, x) {
  const acts = [];
  for (let l = 0; l < part.layers.length; l++) {
    const { inputs, outputs, weights, biases } = part.layers[l];
    const out = buffer(`${p}.${l}`, x.count * outputs), turned = buffer(`turned.${l}`, inputs * outputs);
    for (let o = 0; o < outputs; o++) for (let i = 0; i < inputs; i++) turned[i * outputs + o] = flat[weights + o * inputs + i];
    for (let n = 0, i = 0; n < x.count; n++) for (let o = 0; o < outputs; o++) out[i++] = flat[biases + o];
    if (l) addProduct(out, 0, acts[l - 1], 0, inputs, 1, turned, 0, x.count, inputs, outputs);
    else
      for (let n = 0; n < x.count; n++)
        for (let e = x.starts[n]; e < x.starts[n + 1]; e++) {
          const row = (x.at[e] - part.from) * outputs, value = x.value[e];
          if (row >= 0 && row < inputs * outputs)
            for (let o = 0; o < outputs; o++) out[n * outputs + o] += value * turned[row + o];
        }
    if (l < part.layers.length - 1) for (let i = 0; i < x.count * outputs; i++) out[i] = Math.max(out[i], 0);
    acts.push(out);
  }
  return acts;
}

// The answers (rows × outputs); `off` lists parts that are switched off.
export function answer(net, flat, x, off = []) {
  const total = new Float64Array(x.count * net.outputs);
  net.parts.forEach((part, p) => {
    if (off.includes(p)) return;
    const said = forward(part, p, flat, x).at(-1);
    for (let i = 0; i < total.length; i++) total[i] += said[i];
  });
  return total;
}

export const squaredError = (outputs, targets, slope, count) => {
  let loss = 0;
  for (let i = 0; i < targets.length; i++) {
    const off = outputs[i] - targets[i];
    loss += off * off;
    slope[i] = 2 * off / targets.length;
  }
  return loss / targets.length;
};

export const crossEntropy = (outputs, targets, slope, count) => {
  const classes = outputs.length / count;
  let loss = 0;
  for (let n = 0; n < count; n++) {
    const row = outputs.subarray(n * classes, (n + 1) * classes), top = Math.max(...row);
    let sum = 0;
    for (const v of row) sum += Math.exp(v - top);
    loss += top + Math.log(sum) - row[targets[n]];
    for (let c = 0; c < classes; c++) slope[n * classes + c] = (Math.exp(row[c] - top) / sum - (targets[n] === c)) / count;
  }
  return loss / count;
};

// The gradient of the loss into `grad`; returns the loss. With `apart` each part is trained on targets of its own.
export function gradient(net, flat, x, targets, grad, loss = squaredError, apart = null) {
  grad.fill(0);
  const acts = net.parts.map((part, p) => forward(part, p, flat, x)), width = x.count * net.outputs;
  const slope = buffer("slope", width).subarray(0, width);
  if (apart) {
    let sum = 0;
    net.parts.forEach((part, p) => {
      sum += loss(acts[p].at(-1).subarray(0, width), apart[p], slope, x.count);
      backward(part, flat, x, acts[p], slope, grad);
    });
    return sum;
  }
  let total = acts[0].at(-1).subarray(0, width);
  if (net.parts.length > 1) {
    total = buffer("total", width).subarray(0, width);
    total.fill(0);
    for (const act of acts) for (let i = 0; i < width; i++) total[i] += act.at(-1)[i];
  }
  const value = loss(total, targets, slope, x.count);
  net.parts.forEach((part, p) => backward(part, flat, x, acts[p], slope, grad));
  return value;
}

function backward(part, flat, x, acts, slope, grad) {
  let above = slope;
  for (let l = part.layers.length - 1; l >= 0; l--) {
    const { inputs, outputs, weights, biases } = part.layers[l];
    for (let n = 0; n < x.count; n++) for (let o = 0; o < outputs; o++) grad[biases + o] += above[n * outputs + o];
    if (!l) {
      for (let n = 0; n < x.count; n++)
        for (let e = x.starts[n]; e < x.starts[n + 1]; e++) {
          const i = x.at[e] - part.from;
          if (i >= 0 && i < inputs)
            for (let o = 0; o < outputs; o++) grad[weights + o * inputs + i] += above[n * outputs + o] * x.value[e];
        }
      return;
    }
    const before = acts[l - 1], below = buffer(`back.${l}`, x.count * inputs);
    addProduct(grad, weights, above, 0, 1, outputs, before, 0, outputs, x.count, inputs);
    below.fill(0, 0, x.count * inputs);
    addProduct(below, 0, above, 0, outputs, 1, flat, weights, x.count, outputs, inputs);
    for (let i = 0; i < x.count * inputs; i++) below[i] = before[i] > 0 ? below[i] : 0;
    above = below;
  }
}

// sgd: w ← w − lr·g; momentum: v ← 0.9·v + g first; adam: Kingma and Ba's, all as recombine.training.optim has them.
export function optimiser(name, lr, size) {
  const first = new Float64Array(name === "sgd" ? 0 : size), second = new Float64Array(name === "adam" ? size : 0);
  let step = 0;
  return (flat, grad) => {
    step++;
    if (name === "adam") {
      const rate = lr / (1 - 0.9 ** step), root = Math.sqrt(1 - 0.999 ** step);
      for (let i = 0; i < size; i++) {
        const g = grad[i];
        first[i] += 0.1 * (g - first[i]);
        second[i] = 0.999 * second[i] + 0.001 * g * g;
        flat[i] -= rate * first[i] / (Math.sqrt(second[i]) / root + 1e-8);
      }
    } else if (name === "momentum") {
      for (let i = 0; i < size; i++) { first[i] = 0.9 * first[i] + grad[i]; flat[i] -= lr * first[i]; }
    } else for (let i = 0; i < size; i++) flat[i] -= lr * grad[i];
  };
}
