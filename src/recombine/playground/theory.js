// What the painted cells settle, and what exact learners answer, for two factors of `rows` and `columns` levels.
// A support is a Uint8Array over the cells (row by row), 1 where training sees the cell. Everything here has its twin in
// the package (recombine.checks, recombine.kernels), and the tests compare the two.

export const SEEN = 0, DETERMINED = 1, UNDETERMINED = 2, UNSEEN = 3;
export const STATUSES = ["seen", "determined", "undetermined", "unseen level"];

// Levels are nodes (those of the second factor come after those of the first), seen cells are edges.
function neighbours(seen, rows, columns) {
  const beside = Array.from({ length: rows + columns }, () => []);
  for (let a = 0; a < rows; a++)
    for (let b = 0; b < columns; b++)
      if (seen[a * columns + b]) { beside[a].push(rows + b); beside[rows + b].push(a); }
  return beside;
}

// The connected piece of each level; a level never seen is a piece of its own.
export function pieces(seen, rows, columns) {
  const beside = neighbours(seen, rows, columns), piece = new Int32Array(rows + columns).fill(-1);
  let count = 0;
  for (let root = 0; root < piece.length; root++) {
    if (piece[root] >= 0) continue;
    const queue = [root];
    piece[root] = count;
    while (queue.length) for (const next of beside[queue.pop()]) if (piece[next] < 0) { piece[next] = count; queue.push(next); }
    count++;
  }
  return { piece, count };
}

// With additive effects a cell is determined exactly where its two levels lie in one piece.
export function statuses(seen, rows, columns, found = pieces(seen, rows, columns)) {
  const beside = neighbours(seen, rows, columns), status = new Uint8Array(rows * columns);
  for (let a = 0; a < rows; a++)
    for (let b = 0; b < columns; b++) {
      const cell = a * columns + b;
      status[cell] = seen[cell] ? SEEN : !beside[a].length || !beside[rows + b].length ? UNSEEN
        : found.piece[a] === found.piece[rows + b] ? DETERMINED : UNDETERMINED;
    }
  return status;
}

// The fewest cells after which every cell is determined: each joins two pieces, the first that does is taken.
export function suggestions(seen, rows, columns, found = pieces(seen, rows, columns)) {
  const over = Int32Array.from({ length: found.count }, (_, i) => i), chosen = [];
  const top = (p) => { while (over[p] !== p) p = over[p] = over[over[p]]; return p; };
  for (let cell = 0; cell < seen.length; cell++) {
    const left = top(found.piece[Math.floor(cell / columns)]), right = top(found.piece[rows + (cell % columns)]);
    if (left !== right) { over[left] = right; chosen.push(cell); }
  }
  return chosen;
}

// A determined cell as a sum of seen ones with alternating signs: a shortest path between its two levels.
export function path(seen, rows, columns, cell) {
  const beside = neighbours(seen, rows, columns), before = new Int32Array(rows + columns).fill(-1);
  const source = Math.floor(cell / columns), goal = rows + (cell % columns), queue = [source];
  before[source] = source;
  for (let at = 0; at < queue.length; at++)
    for (const next of beside[queue[at]]) if (before[next] < 0) { before[next] = queue[at]; queue.push(next); }
  if (before[goal] < 0) return null;
  const terms = [];
  for (let node = goal, sign = 1; node !== source; node = before[node], sign = -sign) {
    const low = Math.min(node, before[node]), high = Math.max(node, before[node]);
    terms.push({ sign, cell: low * columns + high - rows });
  }
  return terms;
}

// Least squares of u_a + v_b on the seen cells: the answers where they are determined, NaN elsewhere.
export function additiveFit(seen, answers, rows, columns) {
  const found = pieces(seen, rows, columns), status = statuses(seen, rows, columns, found);
  const effects = additiveEffects(seen, answers, rows, columns, found);
  return Float64Array.from(status, (s, cell) =>
    s > DETERMINED ? NaN : effects[Math.floor(cell / columns)] + effects[rows + (cell % columns)]);
}

// One solution of the normal equations: the first level of each piece is held at 0.
function additiveEffects(seen, answers, rows, columns, found) {
  const nodes = rows + columns, place = new Int32Array(nodes).fill(-1), started = new Uint8Array(found.count);
  let size = 0;
  for (let node = 0; node < nodes; node++) {
    if (started[found.piece[node]]) place[node] = size++;
    started[found.piece[node]] = 1;
  }
  const matrix = new Float64Array(size * size), goal = new Float64Array(size);
  for (let cell = 0; cell < seen.length; cell++) {
    if (!seen[cell]) continue;
    const a = place[Math.floor(cell / columns)], b = place[rows + (cell % columns)];
    for (const i of [a, b]) if (i >= 0) { matrix[i * size + i]++; goal[i] += answers[cell]; }
    if (a >= 0 && b >= 0) { matrix[a * size + b]++; matrix[b * size + a]++; }
  }
  const solved = solve(matrix, [goal], size)[0];
  return Float64Array.from(place, (p) => (p < 0 ? 0 : solved[p]));
}

// The kernel machine K = S·(levels shared) + (1 − 2S)·(same cell), with a bias: least squares of smallest norm.
// Its answer is b + w_a + w_b, plus what it memorized at a seen cell; NaN where a level was never seen.
export function kernelFit(seen, answers, rows, columns, salience) {
  const found = pieces(seen, rows, columns), status = statuses(seen, rows, columns, found);
  const { effects, bias, kept } = salience >= 0.5
    ? additiveKernel(seen, answers, rows, columns, found)
    : memorizingKernel(seen, answers, rows, columns, salience);
  return Float64Array.from(status, (s, cell) => s === UNSEEN ? NaN
    : bias + effects[Math.floor(cell / columns)] + effects[rows + (cell % columns)] + (s === SEEN ? kept[cell] : 0));
}

// K = S E Eᵀ + c I is inverted through the small matrix Eᵀ E (Woodbury), which is the graph's signless Laplacian.
function memorizingKernel(seen, answers, rows, columns, salience) {
  const nodes = rows + columns, c = 1 - 2 * salience, matrix = new Float64Array(nodes * nodes);
  const ofAnswers = new Float64Array(nodes), ofOnes = new Float64Array(nodes);
  for (let i = 0; i < nodes; i++) matrix[i * nodes + i] = c / salience;
  for (let cell = 0; cell < seen.length; cell++) {
    if (!seen[cell]) continue;
    const a = Math.floor(cell / columns), b = rows + (cell % columns);
    for (const i of [a, b]) { matrix[i * nodes + i]++; ofAnswers[i] += answers[cell]; ofOnes[i]++; }
    matrix[a * nodes + b]++; matrix[b * nodes + a]++;
  }
  const [y, one] = solve(matrix, [ofAnswers, ofOnes], nodes);
  const dual = (z, value) => (cell) => (value(cell) - z[Math.floor(cell / columns)] - z[rows + (cell % columns)]) / c;
  const plain = dual(y, (cell) => answers[cell]), constant = dual(one, () => 1);
  let top = 0, bottom = 0;
  for (let cell = 0; cell < seen.length; cell++) if (seen[cell]) { top += plain(cell); bottom += constant(cell); }
  const bias = bottom ? top / bottom : 0, kept = new Float64Array(seen.length), effects = new Float64Array(nodes);
  for (let cell = 0; cell < seen.length; cell++) {
    if (!seen[cell]) continue;
    const alpha = plain(cell) - bias * constant(cell);
    kept[cell] = c * alpha;
    effects[Math.floor(cell / columns)] += salience * alpha;
    effects[rows + (cell % columns)] += salience * alpha;
  }
  return { effects, bias, kept };
}

// S = ½ memorizes nothing: of all additive fits the one with the smallest effects, the bias being free.
function additiveKernel(seen, answers, rows, columns, found) {
  const first = additiveEffects(seen, answers, rows, columns, found), nodes = rows + columns;
  const touched = new Uint8Array(nodes);
  for (let cell = 0; cell < seen.length; cell++)
    if (seen[cell]) touched[Math.floor(cell / columns)] = touched[rows + (cell % columns)] = 1;
  // What no training answer tells: a number added to one side of a piece and taken from the other.
  const without = (vector) => {
    const sum = new Float64Array(found.count), size = new Float64Array(found.count);
    for (let i = 0; i < nodes; i++) { sum[found.piece[i]] += (i < rows ? 1 : -1) * vector[i]; size[found.piece[i]]++; }
    return vector.map((v, i) => touched[i] ? v - (i < rows ? 1 : -1) * sum[found.piece[i]] / size[found.piece[i]] : 0);
  };
  const u = without(first), half = without(new Float64Array(nodes).fill(0.5));
  let top = 0, bottom = 0;
  for (let i = 0; i < nodes; i++) { top += u[i] * half[i]; bottom += half[i] * half[i]; }
  const bias = bottom > 1e-12 ? top / bottom : 0;
  return { effects: u.map((v, i) => v - bias * half[i]), bias, kept: new Float64Array(seen.length) };
}

// S(1;2) of a wide ReLU network with this many hidden layers on one-hot codes (arc-cosine kernels).
export function salienceOfDepth(depth) {
  let similar = [0, 0.5, 1];
  for (let layer = 0; layer < depth; layer++)
    similar = similar.map((x) => (Math.sqrt(Math.max(0, 1 - x * x)) + (Math.PI - Math.acos(Math.min(1, x))) * x) / Math.PI);
  return (similar[1] - similar[0]) / (similar[2] - similar[0]);
}

// Root of the mean squared error over some cells, and the slope of the answers against the truth there.
export function judged(answers, truth, cells) {
  let squares = 0, n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const cell of cells) {
    if (!Number.isFinite(truth[cell]) || !Number.isFinite(answers[cell])) continue;
    n++; squares += (answers[cell] - truth[cell]) ** 2;
    x += truth[cell]; y += answers[cell]; xx += truth[cell] ** 2; xy += truth[cell] * answers[cell];
  }
  const spread = xx - x * x / n;
  return { error: n ? Math.sqrt(squares / n) : NaN, slope: n && spread > 1e-12 * (1 + xx) ? (xy - x * y / n) / spread : NaN, cells: n };
}

// Positive definite systems with several right-hand sides, by Cholesky's factors; `matrix` is overwritten.
function solve(matrix, goals, size) {
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * size + j];
      for (let k = 0; k < j; k++) sum -= matrix[i * size + k] * matrix[j * size + k];
      matrix[i * size + j] = i === j ? Math.sqrt(sum) : sum / matrix[j * size + j];
    }
  }
  return goals.map((goal) => {
    const x = Float64Array.from(goal);
    for (let i = 0; i < size; i++) {
      for (let k = 0; k < i; k++) x[i] -= matrix[i * size + k] * x[k];
      x[i] /= matrix[i * size + i];
    }
    for (let i = size - 1; i >= 0; i--) {
      for (let k = i + 1; k < size; k++) x[i] -= matrix[k * size + i] * x[k];
      x[i] /= matrix[i * size + i];
    }
    return x;
  });
}
