// Points at the picture of a check tell what determines a cell; an unfolded row to collect marks what it would determine.
// Answers are sorted by their heading: largest first, smallest first, as listed. Names from a table are only ever written as text.
(() => {
  const page = document.currentScript.closest(".recombine");
  const said = page.querySelector(".said");
  const cells = [...page.querySelectorAll(".cells td")];
  const at = new Map(cells.map((cell) => [cell.dataset.at, cell]));
  const unfolded = [...page.querySelectorAll("details[data-opens]")];
  for (const cell of cells) {
    cell.setAttribute("aria-label", cell.title);
    cell.removeAttribute("title");
    cell.tabIndex = -1;
  }
  const tell = (cell) => {
    if (!cell) return;
    for (const other of cells) other.classList.remove("told", "plus", "minus");
    cell.classList.add("told");
    said.textContent = cell.getAttribute("aria-label");
    for (const term of (cell.dataset.terms || "").split(" ")) {
      at.get(term.slice(1))?.classList.add(term[0] === "+" ? "plus" : "minus");
    }
  };
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  for (const table of page.querySelectorAll(".cells")) {
    table.querySelector("td").tabIndex = 0;
    for (const kind of ["pointerover", "focusin", "click"]) {
      table.addEventListener(kind, (event) => tell(event.target.closest("td")));
    }
    table.addEventListener("keydown", (event) => {
      const cell = event.target.closest("td");
      if (!cell || !steps[event.key]) return;
      const [down, right] = steps[event.key];
      const next = table.rows[cell.parentNode.rowIndex + down]?.cells[cell.cellIndex + right];
      if (next?.tagName === "TD") next.focus();
      event.preventDefault();
    });
  }
  for (const head of page.querySelectorAll("th[data-sorts]")) {
    const body = head.closest("table").tBodies[0];
    const listed = [...body.rows];
    const numbers = listed.filter((row) => row.dataset.number !== undefined);
    const rest = listed.filter((row) => row.dataset.number === undefined);
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    let turns = 0;
    button.addEventListener("click", () => {
      turns = (turns + 1) % 3;
      const sign = turns === 1 ? -1 : 1;
      const by = (one, other) => sign * (one.dataset.number - other.dataset.number);
      body.append(...(turns ? [...numbers.toSorted(by), ...rest] : listed));
      if (turns) head.setAttribute("aria-sort", turns === 1 ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  }
  for (const row of unfolded) {
    row.addEventListener("toggle", () => {
      for (const cell of cells) cell.classList.remove("opens");
      for (const { dataset } of unfolded.filter((other) => other.open)) {
        for (const place of dataset.opens.split(" ")) at.get(place)?.classList.add("opens");
      }
    });
  }
})();
