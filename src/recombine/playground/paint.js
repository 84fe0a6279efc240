// The grid one paints on: a real grid of cells, so that keyboards and screen readers reach each of them.

import { shade, short } from "./drawing.js";
import { levelName } from "./state.js";

export function paintGrid(root, { choose, paint }) {
  let cells = [], kept = [], size = "", at = 0, brush = null, columns = 0;

  function build(state) {
    size = JSON.stringify([state.rows, state.columns, state.levels]);
    columns = state.columns;
    const made = (role, text = "") => {
      const element = document.createElement("div");
      element.setAttribute("role", role);
      element.textContent = text;
      element.title = role.endsWith("header") ? text : "";
      return element;
    };
    const wide = state.levels ? "minmax(1.5rem, 4rem)" : "1.1rem";
    root.style.gridTemplateColumns = `${wide} repeat(${columns}, minmax(0, 1fr))`;
    const top = made("row");
    top.append(made("columnheader"), ...Array.from({ length: columns }, (_, b) => made("columnheader", levelName(state, 1, b))));
    cells = [];
    kept = [];
    const rows = Array.from({ length: state.rows }, (_, a) => {
      const row = made("row");
      row.append(made("rowheader", levelName(state, 0, a)));
      for (let b = 0; b < columns; b++) {
        const cell = made("gridcell");
        cell.dataset.cell = a * columns + b;
        cells.push(cell);
        row.append(cell);
      }
      return row;
    });
    at = Math.min(at, cells.length - 1);
    root.replaceChildren(top, ...rows);
  }

  const cellOf = (event) => {
    const under = document.elementFromPoint(event.clientX, event.clientY);
    return under && root.contains(under) && under.dataset.cell !== undefined ? Number(under.dataset.cell) : -1;
  };
  root.onpointerdown = (event) => {
    const cell = cellOf(event);
    if (cell < 0 || event.button) return;
    brush = cells[cell].getAttribute("aria-selected") !== "true";
    move(cell, false);
    paint(cell, brush);
    root.setPointerCapture(event.pointerId);
  };
  root.onpointermove = (event) => {
    const cell = cellOf(event);
    if (cell < 0) return;
    choose(cell);
    if (brush !== null) paint(cell, brush);
  };
  root.onpointerup = root.onpointercancel = () => { brush = null; };

  function move(cell, focus = true) {
    at = cell;
    cells.forEach((other, c) => { other.tabIndex = c === at ? 0 : -1; if (kept[c]) kept[c].stop = other.tabIndex; });
    if (focus) cells[at].focus();
    choose(at);
  }
  root.onkeydown = (event) => {
    const row = Math.floor(at / columns), column = at % columns, last = cells.length / columns - 1;
    const to = { ArrowUp: row > 0 && at - columns, ArrowDown: row < last && at + columns, ArrowLeft: column > 0 && at - 1,
      ArrowRight: column < columns - 1 && at + 1, Home: row * columns, End: row * columns + columns - 1 }[event.key];
    if (to !== undefined) { event.preventDefault(); if (to !== false) move(to); }
    if (event.key === " " || event.key === "Enter") { event.preventDefault(); paint(at, cells[at].getAttribute("aria-selected") !== "true"); }
  };
  root.onfocus = () => choose(at);

  return {
    show(state, truth, colours, scale, chosen) {
      if (size !== JSON.stringify([state.rows, state.columns, state.levels])) build(state);
      cells.forEach((cell, c) => {
        const on = Boolean(state.seen[c]), known = Number.isFinite(truth[c]);
        const look = `${on ? "seen" : known ? "unseen" : "blank"}${c === chosen ? " chosen" : ""}`;
        const colour = shade(colours[c], scale) || "", old = kept[c] || {}, stop = c === at ? 0 : -1;
        if (old.look !== look) cell.className = look;
        if (old.colour !== colour) cell.style.background = colour;
        if (old.stop !== stop) cell.tabIndex = stop;
        kept[c] = { look, colour, stop, on, value: truth[c] };
        if (old.on === on && Object.is(old.value, truth[c])) return;
        cell.setAttribute("aria-selected", on);
        cell.ariaLabel = `${state.names[0]} ${levelName(state, 0, Math.floor(c / columns))}, ${state.names[1]} ${levelName(state, 1, c % columns)}: ${on ? "seen" : "not seen"}${known ? `, truth ${short(truth[c])}` : ", no answer known"}`;
      });
    },
  };
}
