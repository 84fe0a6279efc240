// Take it with you: the same question as Python, as a command, as a table.

import { parts, unitOf } from "./learners.js";
import { distinct, levelName, truthOf } from "./state.js";

// A text as a Python literal: plain ASCII, whatever it holds.
export function python(text) {
  return `"${[...String(text)].map((sign) => {
    const code = sign.codePointAt(0);
    if (sign === '"' || sign === "\\") return `\\${sign}`;
    return code >= 32 && code < 127 ? sign : code > 0xFFFF ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  }).join("")}"`;
}

const shell = (text) => (/^[A-Za-z0-9_./=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
const column = (name) => name.replaceAll('"', "'");  // in the head of a CSV a double quote is read in more than one way
const listed = (name) => (name.includes(",") ? `"${name}"` : name);
// A decimal in every case: a column that mixes whole numbers with others is refused by polars.
const number = (v) => (!Number.isFinite(v) ? "None" : Number.isInteger(v) ? `${v}.0` : String(v));
const learner = (state) => (state.by === "salience" ? `salience=${state.salience}` : `depth=${state.depth}`);

// The names of the columns: both factors, the answer, and whether training sees the row.
const columns = (state) => distinct([...state.names, state.target, "seen"]);

export function asCommand(state) {
  const [a, b, y, seen] = columns(state).map(column), factors = [a, b].map(listed).join(",");
  const split = state.seen.every(Boolean) ? "" : ` --split ${shell(`${seen}=no`)}`;
  const how = state.by === "salience" ? `--salience ${state.salience}` : `--depth ${state.depth}`;
  return `recombine check play.csv --factors ${shell(factors)} --target ${shell(y)} --target-kind number${split} ${how}`;
}

export function asCsv(state) {
  const field = (text) => (/[",\n\r]/.test(text) ? `"${String(text).replaceAll('"', '""')}"` : text);
  const truth = truthOf(state), lines = [columns(state).map(column).map(field).join(",")];
  for (let cell = 0; cell < state.seen.length; cell++) {
    const names = [levelName(state, 0, Math.floor(cell / state.columns)), levelName(state, 1, cell % state.columns)];
    lines.push([...names.map(field), Number.isFinite(truth[cell]) ? truth[cell] : "", state.seen[cell] ? "yes" : "no"].join(","));
  }
  return `${lines.join("\n")}\n`;
}

export function asPython(state) {
  const truth = truthOf(state), cells = [...state.seen.keys()], named = state.levels !== null;
  const levels = (k) => `[${cells.map((c) => { const i = k ? c % state.columns : Math.floor(c / state.columns); return named ? python(levelName(state, k, i)) : i; }).join(", ")}]`;
  const [a, b, y, seen] = columns(state).map(python), whole = state.seen.every(Boolean), trained = cells.filter((c) => state.seen[c]), unit = unitOf(state.seen, truth);
  const code = (list) => `[${list.map((c) => `(${Math.floor(c / state.columns)}, ${c % state.columns})`).join(", ")}]`;
  return `import torch

import recombine as rc

table = {
    ${a}: ${levels(0)},
    ${b}: ${levels(1)},
    ${y}: [${[...truth].map(number).join(", ")}],
    ${seen}: [${cells.map((c) => (state.seen[c] ? '"yes"' : '"no"')).join(", ")}],
}
result = rc.check(table, [${a}, ${b}], target=${y}, target_kind="number", ${whole ? "" : `split=(${seen}, "no"), `}${learner(state)})
print(result)

${state.world === "grid" ? networks(state, trained, truth, unit, code) : WORLDS[state.world](state)}`;
}

function optimizer(state) {
  if (state.optimiser === "adam") return `rc.Adam(lr=${state.lr})`;
  return `rc.SGD(lr=${state.lr}${state.optimiser === "momentum" ? ", momentum=0.9" : ""})`;
}

function networks(state, trained, truth, unit, code) {
  const made = parts(state), widths = made.map((part) => `(${part.widths.join(", ")})`);
  const how = `steps=${state.epochs}, batch_size=None, optimizer=${optimizer(state)}, seed=${state.seed}, init_scale=${state.scale}, device="cpu"`;
  const task = (answers) => `SymbolicTask.of((${state.rows}, ${state.columns}), cells, ${answers}, [], [])`;
  const head = `from recombine.tasks import SymbolicTask

cells = ${code(trained)}
answers = [${trained.map((c) => number(truth[c])).join(", ")}]
unit = ${unit}  # answers are divided by the largest seen one while training
grid = torch.cartesian_prod(torch.arange(${state.rows}), torch.arange(${state.columns}))
codes = torch.cat([torch.nn.functional.one_hot(grid[:, 0], ${state.rows}), torch.nn.functional.one_hot(grid[:, 1], ${state.columns})], 1).float()
task = ${task("[y / unit for y in answers]")}
`;
  const tail = `said = unit * networks.predict(codes)[..., 0]  # members × cells
print(said.mean(0).reshape(${state.rows}, ${state.columns}))
`;
  if (state.model === "one") return `${head}networks = rc.train(rc.Perceptron(widths=${widths[0]}), task, members=8, ${how})\n${tail}`;
  if (state.model === "joint") return `from recombine.structure.planted import Glued
${head}parts = [rc.Perceptron(widths=${widths[0]}), rc.Perceptron(widths=${widths[1]})]
networks = rc.train(lambda: Glued([part() for part in parts]), task, members=8, ${how})\n${tail}`;
  if (state.model === "composed") return `${head}

class Composed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = torch.nn.ModuleList([rc.Perceptron(widths=${widths[0]})(), rc.Perceptron(widths=${widths[1]})()])

    def forward(self, codes):
        first, second = codes.split([${state.rows}, ${state.columns}], dim=-1)
        return self.parts[0](first) + self.parts[1](second)


networks = rc.train(Composed, task, members=8, ${how})\n${tail}`;
  return `${head}
# Each part is taught one half of the rule on its own; part two has the members 8 … 15. Their answers are added.
truth = torch.tensor([${[...truth].map((v) => (Number.isFinite(v) ? v : 0)).join(", ")}], dtype=torch.float64).reshape(${state.rows}, ${state.columns})
mean = truth.mean()
halves = [truth.mean(1) - mean / 2, truth.mean(0) - mean / 2]
tasks = [${[0, 1].map((k) => task(`[float(halves[${k}][cell[${k}]]) / unit for cell in cells]`)).join(",\n         ")}]
networks = [rc.train(rc.Perceptron(widths=${widths[0]}), tasks[k], members=range(8 * k, 8 * k + 8), ${how}) for k in (0, 1)]
said = unit * sum(part.predict(codes)[..., 0] for part in networks)
print(said.mean(0).reshape(${state.rows}, ${state.columns}))
`;
}

const WORLDS = {
  toy(state) {
    if (!state.seen[0] || !state.seen[1] || !state.seen[2]) return "# The package's toy is trained on all four corners or without the last one; paint one of these.\n";
    return `from recombine.tasks import ToyTask

task = ToyTask(second="${state.seen[3] ? "uninformative" : "redundant"}")
model = rc.Perceptron(widths=(2, 8, 8, 8, 2), start="playground")
networks = rc.train(model, task, members=8, steps=${state.epochs}, batch_size=10, optimizer=rc.SGD(lr=${state.lr}), seed=${state.seed}, init_scale=${state.scale}, device="cpu")
print(rc.measures.per_combination(networks, task))
`;
  },
  bumps: (state) => `from recombine.models.rendering import StripeDecoder

side = ${state.rows}
space = rc.FactorSpace.of(row=side, column=side)
train = rc.Explicit(space, [row for row, seen in zip(space.grid().tolist(), list(table.values())[-1]) if seen == "yes"])
places = torch.tensor(space.grid())
hot = torch.nn.functional.one_hot(places, side).float()
lines = torch.exp(-0.5 * (torch.arange(side) - places[..., None].float()) ** 2)
pictures = lines[:, 0, :, None] * lines[:, 1, None, :]


def squares(outputs, targets):
    return (outputs.flatten(1) - targets.flatten(1)).square().mean(-1)


how = dict(members=2, steps=${state.epochs}, batch_size=None, optimizer=rc.Adam(lr=${state.lr}), seed=${state.seed}, device="cpu")
row_first, column_first = hot.flatten(1), hot.flip(1).flatten(1)
perceptron, stripes = rc.Perceptron(widths=(${2 * state.rows}, ${state.width}, ${state.rows ** 2})), StripeDecoder(inputs=${2 * state.rows}, side=side)
for model, codes, scale in ((perceptron, row_first, ${state.scale}), (stripes, column_first, 1.0)):
    task = rc.FixedTask(space, train, ~train, codes, pictures, places, squares)
    networks = rc.train(model, task, init_scale=scale, **how)
    print(networks.predict(codes).mean(0).reshape(-1, side, side))
`,
};
