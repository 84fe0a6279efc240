// Everything that the page shows follows from one state, and the state is the fragment of its address.
// Whatever comes from outside — a fragment, a pasted text, a table — is checked here, and refused in one sentence.

import { RULES, SUPPORTS, rule, support } from "./presets.js";

export const FEWEST = 2, MOST = 24, LARGEST = 1e9, LONGEST = 40;
const MODELS = ["one", "composed", "planted", "joint"], OPTIMISERS = ["sgd", "momentum", "adam"];

export function fresh(changes = {}) {
  const state = {
    door: "", world: "grid", rows: 9, columns: 9, names: ["a", "b"], target: "y", levels: null, rule: "sum", values: null,
    support: "anchors", share: 0.3, seen: null, by: "depth", depth: 1, salience: 0.4, model: "one", width: 64, layers: 1,
    scale: 1, lr: 0.3, optimiser: "sgd", seed: 0, epochs: 2000, ...changes,
  };
  state.seen = state.seen || support(state.support, state.rows, state.columns, state.share, state.seed);
  return state;
}

export const truthOf = (state) => (state.rule === "own" ? state.values : rule(state.rule, state.rows, state.columns));
export const levelName = (state, factor, i) => (state.levels ? state.levels[factor][i] : String(i));

const NUMBERS = {  // name in the fragment: [name in the state, lowest, highest, whole]
  a: ["rows", FEWEST, MOST, true], b: ["columns", FEWEST, MOST, true], share: ["share", 0, 1], depth: ["depth", 0, 20, true],
  s: ["salience", 0.01, 0.5], width: ["width", 1, 128, true], layers: ["layers", 1, 4, true], scale: ["scale", 0.001, 10],
  lr: ["lr", 1e-5, 10], seed: ["seed", 0, 2 ** 31, true], epochs: ["epochs", 1, 1e6, true],
};
const CHOICES = {
  rule: ["rule", Object.keys(RULES)], support: ["support", [...Object.keys(SUPPORTS), "painted"]], by: ["by", ["depth", "salience"]],
  model: ["model", MODELS], opt: ["optimiser", OPTIMISERS], world: ["world", ["grid", "toy", "bumps"]],
  door: ["door", ["", "leak", "redundant", "support", "rendering", "parts"]],
};

function bitsToText(seen) {
  const bytes = new Uint8Array(Math.ceil(seen.length / 8));
  seen.forEach((on, i) => { if (on) bytes[i >> 3] |= 1 << (i & 7); });
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function textToBits(text, size) {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) throw new Error("what training sees is damaged");
  const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  if (bytes.length !== Math.ceil(size / 8)) throw new Error("what training sees does not fit the grid");
  return Uint8Array.from({ length: size }, (_, i) => (bytes.charCodeAt(i >> 3) >> (i & 7)) & 1);
}

export function toFragment(state) {
  const query = new URLSearchParams(), plain = fresh();
  for (const [short, [name]] of Object.entries(NUMBERS)) if (state[name] !== plain[name] || name === "rows" || name === "columns") query.set(short, state[name]);
  for (const [short, [name]] of Object.entries(CHOICES)) if (state[name] !== plain[name]) query.set(short, state[name]);
  query.set("seen", bitsToText(state.seen));
  if (state.rule === "own") query.set("values", Array.from(state.values, (v) => (Number.isFinite(v) ? String(v) : "")).join(","));
  if (state.levels) query.set("levels", JSON.stringify([state.names, state.target, ...state.levels]));
  query.set("v", "1");
  return query.toString();
}

// The state of a fragment, and a sentence where some of it could not be used (then the rest counts).
export function fromFragment(text) {
  const changes = {}, query = new URLSearchParams(text.replace(/^#/, "").slice(0, 100000));
  let problem = "";
  const refuse = (why) => { problem = problem || `The link is not complete: ${why}. What could be read of it is shown.`; };
  for (const [short, [name, low, high, whole]] of Object.entries(NUMBERS)) {
    if (!query.has(short)) continue;
    const value = Number(query.get(short) || NaN);
    if (Number.isFinite(value) && value >= low && value <= high && (!whole || Number.isInteger(value))) changes[name] = value;
    else refuse(`${short} must be a ${whole ? "whole " : ""}number from ${low} to ${high}`);
  }
  for (const [short, [name, known]] of Object.entries(CHOICES)) {
    if (!query.has(short)) continue;
    if (known.includes(query.get(short))) changes[name] = query.get(short);
    else refuse(`${short} is none of ${known.filter(Boolean).join(", ")}`);
  }
  if (text.length > 1 && query.get("v") !== "1") refuse("its end is missing");
  const rows = changes.rows || 9, columns = changes.columns || 9;
  if (changes.world === "toy" && (rows !== 2 || columns !== 2)) { delete changes.world; refuse("the toy has two levels for each factor"); }
  if (changes.world === "bumps" && rows !== columns) { delete changes.world; refuse("pictures are square"); }
  try {
    if (query.has("levels")) Object.assign(changes, readLevels(JSON.parse(query.get("levels")), rows, columns));
  } catch { refuse("the names of its levels are damaged"); }
  if (changes.rule === "own") {
    try {
      const texts = (query.get("values") || "").split(",");
      if (texts.length !== rows * columns) throw new Error("the values do not fit the grid");
      changes.values = Float64Array.from(texts, (t) => (t === "" ? NaN : checkedNumber(t)));
    } catch (error) { delete changes.rule; refuse(error.message); }
  }
  try {
    if (query.has("seen")) changes.seen = textToBits(query.get("seen"), rows * columns);
  } catch (error) { refuse(error.message); }
  if (changes.support === "painted" && !changes.seen) delete changes.support;
  if (changes.seen && changes.values) changes.seen = changes.seen.map((on, c) => (Number.isFinite(changes.values[c]) ? on : 0));
  return { state: fresh(changes), problem };
}

function readLevels(read, rows, columns) {
  const [names, target, first, second] = read, texts = [...names, target, ...first, ...second];
  if (names.length !== 2 || first.length !== rows || second.length !== columns || texts.some((t) => typeof t !== "string")) throw new Error();
  return { names: names.map(tidy), target: tidy(target), levels: [first.map(tidy), second.map(tidy)] };
}

// A name as text of one short line: what a file holds may be anything.
export function tidy(text) {
  const line = String(text).replace(/[\p{C}\s]+/gu, " ").trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line || "(empty)";
}

// The same names, a number behind one that is there already.
export function distinct(names) {
  const taken = new Set();
  return names.map((name) => {
    let free = name;
    for (let n = 2; taken.has(free); n++) free = `${name} (${n})`;
    taken.add(free);
    return free;
  });
}

export function checkedNumber(text) {
  const value = Number(String(text).trim() || NaN);
  if (!Number.isFinite(value)) throw new Error(`“${tidy(text)}” is not a finite number`);
  if (Math.abs(value) > LARGEST) throw new Error(`${tidy(text)} is larger than ${LARGEST.toExponential(0)}, the most this page draws`);
  return value;
}
