// Maps and curves on canvases, and the same maps as SVG. Colours are Okabe and Ito's or differ in lightness, and no
// difference is told by colour alone: what is undetermined is hatched, what was never seen is crossed.

import { DETERMINED, SEEN, UNDETERMINED, UNSEEN } from "./theory.js";

const STOPS = {
  light: { diverging: ["#b85f12", "#eaa767", "#f5f4f2", "#7fb0d2", "#0f5488"], rising: ["#f5f4f2", "#b9a5c9", "#5a2d79"] },
  dark: { diverging: ["#f2a05a", "#a8642a", "#22272d", "#3d7ba8", "#8cc8f2"], rising: ["#22272d", "#7d5b96", "#dcb9f2"] },
};
let dark = false;
export function watchScheme(changed) {
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  dark = scheme.matches;
  scheme.addEventListener("change", () => { dark = scheme.matches; changed(); });
}

const parse = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
const shades = new Map();
function shadesOf(kind) {
  const name = dark ? kind : `light ${kind}`;
  if (!shades.has(name)) {
    const stops = STOPS[dark ? "dark" : "light"][kind].map(parse);
    shades.set(name, Array.from({ length: 101 }, (_, k) => {
      const at = (k / 100) * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(at));
      return `rgb(${stops[i].map((v, c) => Math.round(v + (at - i) * (stops[i + 1][c] - v))).join(",")})`;
    }));
  }
  return shades.get(name);
}

// A colour for a value: `middle ± half` spans the diverging colours, 0 … half the rising ones.
export function shade(value, scale) {
  if (!Number.isFinite(value)) return null;
  const t = scale.rising ? value / scale.half : (value - scale.middle) / scale.half / 2 + 0.5;
  return shadesOf(scale.rising ? "rising" : "diverging")[Math.round(100 * Math.min(1, Math.max(0, t)))];
}

export function scaleOf(truth) {
  const known = truth.filter(Number.isFinite), low = known.reduce((a, b) => Math.min(a, b), Infinity), high = known.reduce((a, b) => Math.max(a, b), -Infinity);
  return known.length ? { middle: (low + high) / 2, half: (high - low) / 2 || 1 } : { middle: 0, half: 1 };
}

// The colours of style.css, for canvases and files.
const INKS = {
  light: { ink: "#1c2127", muted: "#59636e", grid: "#e3e6ea", paper: "#ffffff", wash: "#f0f2f5", blue: "#0072b2", orange: "#d55e00", green: "#00805e", pink: "#b0578a" },
  dark: { ink: "#e4e7eb", muted: "#a0abb6", grid: "#2d353e", paper: "#14181d", wash: "#1f262e", blue: "#4ea8de", orange: "#f0803c", green: "#2fbf95", pink: "#da92b9" },
};
const colours = () => INKS[dark ? "dark" : "light"];

// Asking for its width makes a browser lay the page out, so it is kept until it changes.
const widths = new WeakMap();
export function watchWidths(canvases, changed) {
  const observer = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) widths.set(target, contentRect.width);
    changed();
  });
  canvases.forEach((canvas) => observer.observe(canvas));
}
const widthOf = (canvas) => widths.get(canvas) || canvas.clientWidth || 240;

// A canvas as sharp as the screen; returns its context in CSS pixels.
export function prepared(canvas, ratio) {
  const width = widthOf(canvas), height = Math.round(width * ratio), dense = Math.min(3, devicePixelRatio || 1);
  if (canvas.width !== Math.round(width * dense) || canvas.height !== Math.round(height * dense)) {
    canvas.width = Math.round(width * dense);
    canvas.height = Math.round(height * dense);
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(dense, 0, 0, dense, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { pen, width, height };
}

const MARGIN = 14;
export const place = (canvas, event, rows, columns) => {
  const box = canvas.getBoundingClientRect(), size = (box.width - MARGIN) / columns;
  const c = Math.floor((event.clientX - box.left - MARGIN) / size), r = Math.floor((event.clientY - box.top - MARGIN) / size);
  return r >= 0 && c >= 0 && r < rows && c < columns ? r * columns + c : -1;
};

// Cells by colour, with what marks them. `map`: {rows, columns, fill(cell), status?, letters?, chosen, path?, wanted?, dots?, faint?}
export function drawMap(canvas, map) {
  const { rows, columns } = map, wide = widthOf(canvas), side = (wide - MARGIN) / columns;
  const { pen } = prepared(canvas, (MARGIN + side * rows) / wide), c = colours(), gap = columns > 24 ? 0 : side > 9 ? 1 : 0.5;
  const box = (cell) => [MARGIN + (cell % columns) * side, MARGIN + Math.floor(cell / columns) * side];
  const lines = { hatch: new Path2D(), cross: new Path2D() };
  for (let cell = 0; cell < rows * columns; cell++) {
    const [x, y] = box(cell), fill = map.fill(cell), status = map.status ? map.status[cell] : SEEN;
    pen.fillStyle = fill || c.wash;
    pen.fillRect(x, y, side - gap + (gap ? 0 : 0.5), side - gap + (gap ? 0 : 0.5));
    if (!fill || status === UNDETERMINED || status === UNSEEN) {
      const path = lines[status === UNSEEN ? "cross" : "hatch"], e = side - gap;
      path.moveTo(x, y + e); path.lineTo(x + e, y);
      if (side > 11 && status !== UNSEEN) { path.moveTo(x, y + e / 2); path.lineTo(x + e / 2, y); path.moveTo(x + e / 2, y + e); path.lineTo(x + e, y + e / 2); }
      if (status === UNSEEN) { path.moveTo(x, y); path.lineTo(x + e, y + e); }
    }
  }
  pen.lineWidth = 1;
  pen.strokeStyle = c.muted;
  pen.stroke(lines.hatch);
  pen.stroke(lines.cross);
  if (map.dots) for (let cell = 0; cell < rows * columns; cell++) if (map.dots(cell)) {
    const [x, y] = box(cell);
    pen.beginPath();
    pen.arc(x + (side - gap) / 2, y + (side - gap) / 2, Math.min(9, Math.max(1, side / (map.faint ? 14 : 6.5))), 0, 7);
    pen.fillStyle = c.ink;
    pen.fill();
  }
  if (map.letters) {
    pen.fillStyle = c.muted;
    pen.font = `${Math.min(10, Math.max(6, side * 0.8))}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (let r = 0; r < rows; r++) pen.fillText(map.letters[r], MARGIN / 2, MARGIN + (r + 0.5) * side);
    for (let k = 0; k < columns; k++) pen.fillText(map.letters[rows + k], MARGIN + (k + 0.5) * side, MARGIN / 2);
  }
  for (const cell of map.wanted || []) {
    const [x, y] = box(cell);
    pen.strokeStyle = c.green;
    pen.lineWidth = 2;
    pen.setLineDash([3, 2]);
    pen.strokeRect(x + 1, y + 1, side - gap - 2, side - gap - 2);
    pen.setLineDash([]);
  }
  if (map.path) drawPath(pen, map.path, box, side, c);
  if (map.chosen >= 0) {
    const [x, y] = box(map.chosen);
    pen.strokeStyle = c.ink;
    pen.lineWidth = 2;
    pen.strokeRect(x, y, side - gap, side - gap);
  }
}

function drawPath(pen, path, box, side, c) {
  pen.beginPath();
  path.forEach(({ cell }, i) => { const [x, y] = box(cell); pen[i ? "lineTo" : "moveTo"](x + side / 2, y + side / 2); });
  pen.strokeStyle = c.ink;
  pen.lineWidth = 1.5;
  pen.stroke();
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.font = `bold ${Math.min(14, Math.max(8, side * 0.6))}px system-ui, sans-serif`;
  for (const { cell, sign } of path) {
    const [x, y] = box(cell), r = Math.max(5, Math.min(9, side * 0.36));
    pen.beginPath();
    pen.arc(x + side / 2, y + side / 2, r, 0, 7);
    pen.fillStyle = c.paper;
    pen.fill();
    pen.stroke();
    pen.fillStyle = c.ink;
    pen.fillText(sign > 0 ? "+" : "−", x + side / 2, y + side / 2 + 0.5);
  }
}

export const statusFill = (status) => (cell) => colours()[["grid", "blue", "orange", "wash"][status[cell]]];

// Errors over epochs. `series`: [{name, colour, dash, points: [[epoch, mean, low, high]]}], `levels`: [{name, value, colour, dash}]
export function drawCurves(canvas, { series, levels, until }) {
  const { pen, width, height } = prepared(canvas, widthOf(canvas) > 800 ? 0.26 : widthOf(canvas) > 500 ? 0.42 : 0.62), c = colours();
  const left = 38, right = width - 8, top = 8, bottom = height - 22, finite = [];
  for (const { points } of series) for (const [, , low, high] of points) finite.push(low, high);
  for (const { value } of levels) finite.push(value);
  const most = Math.max(1e-9, ...finite.filter(Number.isFinite)) * 1.06, last = Math.max(10, until);
  const x = (epoch) => left + (right - left) * Math.log1p(epoch) / Math.log1p(last), y = (v) => bottom - (bottom - top) * Math.min(1, v / most);
  pen.font = "11px system-ui, sans-serif";
  pen.lineWidth = 1;
  for (let k = 0; k <= 3; k++) {
    const v = (most * k) / 3 / 1.06;
    pen.strokeStyle = c.grid;
    pen.beginPath(); pen.moveTo(left, y(v)); pen.lineTo(right, y(v)); pen.stroke();
    pen.fillStyle = c.muted; pen.textAlign = "right"; pen.textBaseline = "middle";
    pen.fillText(short(v), left - 5, y(v));
  }
  pen.textAlign = "center"; pen.textBaseline = "top";
  for (let e = 1; e <= last; e *= 10) pen.fillText(e.toLocaleString("en"), x(e), bottom + 6);
  for (const { value, colour, dash } of levels) {
    if (!Number.isFinite(value)) continue;
    pen.strokeStyle = c[colour]; pen.setLineDash(dash); pen.lineWidth = 1.5;
    pen.beginPath(); pen.moveTo(left, y(value)); pen.lineTo(right, y(value)); pen.stroke();
  }
  pen.setLineDash([]);
  for (const { points, colour, dash } of series) {
    const seen = points.filter((p) => Number.isFinite(p[1]));
    if (!seen.length) continue;
    pen.fillStyle = c[colour]; pen.globalAlpha = 0.15;
    pen.beginPath();
    seen.forEach((p, i) => pen[i ? "lineTo" : "moveTo"](x(p[0]), y(p[3])));
    [...seen].reverse().forEach((p) => pen.lineTo(x(p[0]), y(p[2])));
    pen.fill();
    pen.globalAlpha = 1;
    pen.strokeStyle = c[colour]; pen.lineWidth = 2; pen.setLineDash(dash);
    pen.beginPath();
    seen.forEach((p, i) => pen[i ? "lineTo" : "moveTo"](x(p[0]), y(p[1])));
    pen.stroke();
    pen.setLineDash([]);
  }
}

export const short = (v) => (!Number.isFinite(v) ? "–" : Math.abs(v) < 1e-9 ? "0" : v !== 0 && (Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3) ? v.toExponential(1) : String(+v.toPrecision(3)));

const escaped = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

// The maps as one picture, dark on white: [{title, map}].
export function asSvg(panels, heading) {
  const side = 14, gap = 26, parts = [], was = dark;
  let x = 10, height = 0;
  dark = false;
  for (const { title, map } of panels) {
    parts.push(`<g transform="translate(${x},44)"><text y="-8" font-size="11">${escaped(title)}</text>`);
    for (let cell = 0; cell < map.rows * map.columns; cell++) {
      const at = `x="${(cell % map.columns) * side}" y="${Math.floor(cell / map.columns) * side}" width="${side - 1}" height="${side - 1}"`;
      const fill = map.fill(cell), status = map.status ? map.status[cell] : SEEN;
      parts.push(`<rect ${at} fill="${fill || "#f5f6f8"}"/>`);
      if (!fill || status > DETERMINED) parts.push(`<rect ${at} fill="url(#${status === UNSEEN ? "cross" : "hatch"})"/>`);
      if (map.dots && map.dots(cell)) parts.push(`<circle cx="${(cell % map.columns) * side + 6.5}" cy="${Math.floor(cell / map.columns) * side + 6.5}" r="2" fill="#1c2127"/>`);
    }
    parts.push("</g>");
    x += Math.max(map.columns * side, 6.2 * title.length) + gap;
    height = Math.max(height, map.rows * side);
  }
  dark = was;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.round(x)}" height="${height + 56}" font-family="Helvetica, Arial, sans-serif" fill="#1c2127">`
    + `<title>${escaped(heading)}</title><defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V5" stroke="#59636e"/></pattern>`
    + `<pattern id="cross" width="7" height="7" patternUnits="userSpaceOnUse"><path d="M0 0L7 7M7 0L0 7" stroke="#59636e" stroke-width=".7"/></pattern></defs>`
    + `<rect width="100%" height="100%" fill="#fff"/><text x="10" y="18" font-size="13" font-weight="bold">${escaped(heading)}</text>${parts.join("")}</svg>`;
}
