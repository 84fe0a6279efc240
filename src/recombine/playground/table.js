// A pasted text as a grid: CSV with a header (two factors and the answer), or a bare matrix of numbers.

import { FEWEST, MOST, checkedNumber, distinct, tidy } from "./state.js";

const MOST_LETTERS = 2_000_000, COMMA = /^\s*[-+]?\d+,\d+\s*$/;

// Rows of fields; commas, semicolons or tabs between them, double quotes around a field that holds one. Between
// semicolons 5,5 is a number, unless others are written with a point.
export function fields(text) {
  const first = text.split("\n", 1)[0], between = ["\t", ";", ","].find((sign) => first.includes(sign)) || ",";
  const rows = [[]];
  let field = "", quoted = false;
  for (let i = 0; i < text.length; i++) {
    const sign = text[i];
    if (quoted) {
      if (sign === '"' && text[i + 1] === '"') { field += '"'; i++; }
      else if (sign === '"') quoted = false;
      else field += sign;
    } else if (sign === '"' && field === "") quoted = true;
    else if (sign === between) { rows.at(-1).push(field); field = ""; }
    else if (sign === "\n") { rows.at(-1).push(field); field = ""; rows.push([]); }
    else if (sign !== "\r") field += sign;
  }
  rows.at(-1).push(field);
  const decimal = between === ";" && !rows.some((row) => row.some((f) => /^\s*[-+]?\d*\.\d+\s*$/.test(f)));
  const told = decimal ? rows.map((row) => row.map((f) => (COMMA.test(f) ? f.replace(",", ".") : f))) : rows;
  return told.filter((row) => row.some((f) => f.trim() !== ""));
}

const isNumber = (text) => text.trim() !== "" && Number.isFinite(Number(text));

// The columns of a pasted table by name, and which three of them look like two factors and the answer: the last with
// numbers (or else with two words), and the first others whose levels come back. No columns for a bare matrix.
export function columnsOf(text) {
  const [header = [], ...body] = fields(text.slice(0, MOST_LETTERS));
  if (header.every(isNumber)) return { names: [], guess: [0, 1, 2] };
  const kinds = header.map((_, k) => [...new Set(body.map((row) => (row[k] || "").trim()).filter((t) => t && t.toLowerCase() !== "nan"))]);
  const numeric = kinds.findLastIndex((found) => found.length && found.every(isNumber));
  const last = numeric >= 0 ? numeric : kinds.findLastIndex((found) => found.length === 2);
  const answer = header.length <= 3 ? 2 : last < 0 ? header.length - 1 : last;
  const others = [...header.keys()].filter((k) => k !== answer);
  const fits = others.filter((k) => kinds[k].length >= FEWEST && kinds[k].length <= MOST && kinds[k].length < body.length);
  const [a, b] = header.length > 3 ? [...fits, ...others.filter((k) => !fits.includes(k))] : [0, 1];
  return { names: header.map(tidy), guess: [a, b, answer] };
}

// What a person pasted as changes of the state; an error says in one sentence what cannot be used.
export function pasted(text, chosen) {
  if (text.length > MOST_LETTERS) throw new Error(`The text has ${text.length.toLocaleString("en")} letters, more than the ${MOST_LETTERS.toLocaleString("en")} this page reads; use “recombine check” on the file.`);
  const rows = fields(text);
  if (!rows.length) throw new Error("Nothing was pasted: give a table with a header and two factors, or a matrix of numbers.");
  return rows.every((row) => row.every((f) => isNumber(f) || f.trim() === "")) && rows[0].length > 1 ? matrix(rows) : long(rows, chosen || columnsOf(text).guess);
}

function matrix(rows) {
  const columns = rows[0].length;
  limited(rows.length, "row");
  limited(columns, "column");
  const odd = rows.findIndex((row) => row.length !== columns);
  if (odd >= 0) throw new Error(`Row ${odd + 1} of the matrix has ${several(rows[odd].length, "number")}, the first has ${columns}.`);
  const values = Float64Array.from(rows.flat(), (f) => (f.trim() === "" ? NaN : sentence(f)));
  return { rows: rows.length, columns, levels: null, names: ["a", "b"], target: "y", ...ownValues(values) };
}

function long([header, ...all], [a, b, y]) {
  if (header.length > 2 && new Set([a, b, y]).size < 3) throw new Error("The two factors and the answer are three different columns.");
  const pick = (row) => [a, b, y].filter((k) => k < header.length).map((k) => row[k]), body = all.map(pick), count = header.length;
  header = pick(header);
  if (count < 2) throw new Error("The table needs a header and at least two columns, which are the factors; a third is the answer.");
  if (!body.length) throw new Error("The table has a header but no rows.");
  const short = body.findIndex((row) => row.includes(undefined));
  if (short >= 0) throw new Error(`Row ${short + 1} has ${several(all[short].length, "field")}, the header has ${count}.`);
  const levels = [0, 1].map((k) => sorted(new Set(body.map((row) => row[k].trim()))));
  levels.forEach((found, k) => limited(found.length, "level", ` in “${tidy(header[k])}”`));
  const place = levels.map((found) => new Map(found.map((level, i) => [level, i])));
  const [R, C] = levels.map((found) => found.length), sum = new Float64Array(R * C), rows = new Float64Array(R * C);
  const answers = header.length > 2 ? numbers(body.map((row) => row[2].trim()), tidy(header[2])) : null;
  body.forEach((row, n) => {
    if (answers && Number.isNaN(answers[n])) return;
    const cell = place[0].get(row[0].trim()) * C + place[1].get(row[1].trim());
    sum[cell] += answers ? answers[n] : 0;
    rows[cell]++;
  });
  const named = { rows: R, columns: C, names: [tidy(header[0]), tidy(header[1])], target: tidy(header[2] || "y"), levels: levels.map((l) => distinct(l.map(tidy))) };
  if (!answers) return { ...named, rule: "sum", values: null, support: "painted", seen: Uint8Array.from(rows, (n) => (n ? 1 : 0)) };
  return { ...named, ...ownValues(sum.map((s, c) => (rows[c] ? s / rows[c] : NaN))) };
}

// Numbers as they are; two words as −1 and +1, as recombine check has them.
function numbers(texts, name) {
  const told = texts.filter((t) => t !== "" && t.toLowerCase() !== "nan");
  if (!told.length) throw new Error(`The answers in “${name}” are all missing.`);
  const kinds = sorted(new Set(told));
  if (kinds.length === 2 && (!kinds.every(isNumber) || (Number(kinds[0]) === 0 && Number(kinds[1]) === 1)))
    return texts.map((t) => (t === kinds[0] ? -1 : t === kinds[1] ? 1 : NaN));
  return texts.map((t) => (t === "" || t.toLowerCase() === "nan" ? NaN : sentence(t, name)));
}

function sentence(text, name = "the table") {
  try { return checkedNumber(text); } catch (error) { throw new Error(`In ${name === "the table" ? name : `“${name}”`} ${error.message}; ${COMMA.test(text) ? "write decimals with a point" : "answers are numbers, or two classes"}.`); }
}

function ownValues(values) {
  if (!values.some(Number.isFinite)) throw new Error("No cell has an answer.");
  return { rule: "own", values, support: "painted", seen: Uint8Array.from(values, (v) => (Number.isFinite(v) ? 1 : 0)) };
}

const several = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

function limited(count, word, where = "") {
  if (count < FEWEST || count > MOST) throw new Error(`There ${count === 1 ? "is" : "are"} ${several(count, word)}${where}; this page draws ${FEWEST} to ${MOST}. For more, use “recombine check”.`);
}

const sorted = (set) => [...set].sort(([...set].every(isNumber) ? (x, y) => x - y : (x, y) => (x < y ? -1 : x > y ? 1 : 0)));
