"""The Triton program of a perceptron's training, written out from its description.

One program instance trains one member through all steps of a launch. Its layout:

- A layer is cut into blocks of units. A block of several units is a tile (examples × units); the few units of a layer
  that has no more, or that are left over, are columns (examples × 1).
- A weight between two tiles is a tile (units out × units in), and its products are ``tl.dot``. One between a tile and
  one unit is a row (1 × units), multiplied and summed; one between two units is a number.
- Weights and optimiser state stay in registers from step to step where they fit (``resident``). Otherwise each block is
  read where it is used and written where it is updated, through L1 and L2; then barriers keep the threads of an
  instance together.
- Examples and units that fill a block up to a power of two are read as zero. No gradient flows from such an example,
  and a weight of such a unit is zero and stays so.

The batch of the next step is read before the present one is computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from recombine.training.strategies.fused_program import Block, Program, blocks


@dataclass
class _Writer:
    program: Program
    lines: list[str] = field(default_factory=list)
    depth: int = 1

    def __post_init__(self) -> None:
        p = self.program
        widths = [p.layers[0].inputs, *(layer.outputs for layer in p.layers)]
        self.cut = [blocks(width) for width in widths]

    def say(self, *lines: str) -> None:
        self.lines += ["    " * self.depth + line for line in lines]

    # Where things lie.

    def weights(self, number: int) -> Iterator[tuple[str, int, int]]:
        """(name, block out, block in) of the weights of a layer."""
        for n in range(len(self.cut[number])):
            for k in range(len(self.cut[number - 1])):
                yield f"w{number}_{n}_{k}", n, k

    def biases(self, number: int) -> Iterator[tuple[str, int]]:
        if self.program.layers[number - 1].bias is not None:
            yield from ((f"b{number}_{n}", n) for n in range(len(self.cut[number])))

    def place(self, name: str) -> tuple[str, str]:
        """Where in a member's row a weight or bias lies, and which of it is no filling."""
        number, n, *rest = map(int, name[1:].split("_"))
        layer, out = self.program.layers[number - 1], self.cut[number][n]
        if not rest:
            assert layer.bias is not None
            return f"{layer.bias + out.start}{_along(out)}", _within(out)
        into = self.cut[number - 1][rest[0]]
        if out.size > 1 and into.size > 1:
            where = f"{layer.weight + out.start * layer.inputs + into.start} + down_{out.size} * {layer.inputs}"
            masks = [f"(down_{out.size} < {out.of - out.start})"] * out.filled + [_within(into)] * into.filled
            return f"{where} + across_{into.size}", " & ".join(masks)
        start = layer.weight + out.start * layer.inputs + into.start
        return f"{start}{_along(out, layer.inputs) or _along(into)}", _within(out) or _within(into)

    def read(self, tensor: str, name: str) -> str:
        where, mask = self.place(name)
        return f"tl.load({tensor} + mine + {where}" + (f", mask={mask}, other=0.0)" if mask else ")")

    def write(self, tensor: str, name: str, value: str) -> None:
        where, mask = self.place(name)
        self.say(f"tl.store({tensor} + mine + {where}, {value}" + (f", mask={mask})" if mask else ")"))

    def names(self) -> Iterator[str]:
        for number in range(1, len(self.cut)):
            yield from (name for name, _, _ in self.weights(number))
            yield from (name for name, _ in self.biases(number))

    def weight(self, name: str) -> str:
        """A weight to compute with: the register that holds it, or a new read."""
        return name if self.program.resident else self.read("flat", name)

    # The program.

    def source(self) -> str:
        p = self.program
        arguments = ["x", "y", "rows", "flat", *p.state, "rate", "decay", "charge", "held", "hyper", "losses"]
        head = ["import triton", "import triton.language as tl", "", ""]
        head.append('@triton.jit(do_not_specialize=["stop", "members", "steps"])')
        head.append(f"def train({', '.join(arguments)}, stop, members, steps):")
        self.start()
        if not p.shared:
            self.move("member.to(tl.int64)")
        self.batch()
        self.say("for step in range(steps):")
        self.depth = 2
        self.say("factor = tl.load(hyper + 3 * step)")
        if p.rule != "sgd":
            self.say("first = tl.load(hyper + 3 * step + 1)", "second = tl.load(hyper + 3 * step + 2)")
        if not p.shared:
            for name in self.data():
                self.say(f"now_{name} = {name}")
            # After the last step its own batch is read again.
            self.say("ahead = tl.where(step + 1 < steps, members, 0).to(tl.int64)")
            self.move("ahead")
            self.batch()
        for number in range(1, len(self.cut)):
            self.forward(number)
        self.judge()
        self.rates()
        for number in range(len(self.cut) - 1, 0, -1):
            self.backward(number)
        if not p.resident:
            self.say("tl.debug_barrier()")
        self.depth = 1
        for tensor in ("flat", *p.state) if p.resident else ():
            for name in self.names():
                self.write(tensor, name, _held(tensor, name))
        if p.stops:
            self.say("tl.store(rate + member, lr)", "tl.store(held + member, last)")
        return "\n".join([*head, *self.lines, ""])

    def start(self) -> None:
        p = self.program
        self.say(f"example = tl.arange(0, {p.examples})[:, None]", f"real = example < {p.batch}")
        self.say("member = tl.program_id(0)")
        sizes = sorted({block.size for cut in self.cut for block in cut if block.size > 1})
        for size in sizes:
            self.say(f"across_{size} = tl.arange(0, {size})[None, :]", f"down_{size} = tl.arange(0, {size})[:, None]")
        self.say(f"mine = member.to(tl.int64) * {p.row}")
        self.say("lr = tl.load(rate + member)")
        for tensor, wanted in (("decay", p.decay), ("charge", p.penalty), ("held", p.stops)):
            if wanted:
                self.say(f"{_ONE[tensor]} = tl.load({tensor} + member)")
        for tensor in ("flat", *p.state) if p.resident else ():
            for name in self.names():
                self.say(f"{_held(tensor, name)} = {self.read(tensor, name)}")

    def answers(self) -> int:
        return 1 if self.program.loss == "cross entropy" else self.program.layers[-1].outputs

    def data(self) -> list[str]:
        """The names of a batch: the blocks of the input, and the class or the blocks of the answer."""
        answers = ["t"] if self.program.loss == "cross entropy" else [f"t_{n}" for n in range(len(self.cut[-1]))]
        return [*(f"x_{k}" for k in range(len(self.cut[0]))), *answers]

    def move(self, members: str) -> None:
        """On to the batch that lies so many members further."""
        p = self.program
        if p.by_row:
            return self.say(f"rows += {members} * {p.batch}")
        self.say(f"x += {members} * {p.batch * p.layers[0].inputs}", f"y += {members} * {p.batch * self.answers()}")

    def batch(self) -> None:
        p = self.program
        whose = "row" if p.by_row else "example"
        if p.by_row:
            self.say("row = tl.load(rows + example, mask=real, other=0)")
        for k, block in enumerate(self.cut[0]):
            also = f" & {_within(block)}" if _within(block) else ""
            at = f"x + {whose} * {p.layers[0].inputs} + {block.start}{_along(block)}"
            self.say(f"x_{k} = tl.load({at}, mask=real{also}, other=0.0)")
        if p.loss == "cross entropy":
            return self.say(f"t = tl.load(y + {whose}, mask=real, other=0)")
        for n, block in enumerate(self.cut[-1]):
            also = f" & {_within(block)}" if _within(block) else ""
            at = f"y + {whose} * {self.answers()} + {block.start}{_along(block)}"
            self.say(f"t_{n} = tl.load({at}, mask=real{also}, other=0.0)")

    def value(self, number: int, k: int) -> str:
        """The values of a block: of the input, or what an earlier layer made."""
        return f"a{number}_{k}" if number else ("" if self.program.shared else "now_") + f"x_{k}"

    def dot(self, left: str, right: str) -> str:
        return f'tl.dot({left}, {right}, input_precision="{self.program.precision}")'

    def forward(self, number: int) -> None:
        """z = W a + b, a = activation(z)."""
        layer = self.program.layers[number - 1]
        for n, out in enumerate(self.cut[number]):
            parts = [self.weight(f"b{number}_{n}")] if layer.bias is not None else []
            for k, into in enumerate(self.cut[number - 1]):
                w, a = self.weight(f"w{number}_{n}_{k}"), self.value(number - 1, k)
                if out.size > 1 and into.size > 1:
                    parts.append(self.dot(a, f"tl.trans({w})"))
                elif into.size > 1:
                    parts.append(f"tl.sum({a} * {w}, 1, keep_dims=True)")
                else:
                    parts.append(f"{w} * {a}")
            self.say(f"z = {parts[0]}", *(f"z += {part}" for part in parts[1:]))
            name = f"a{number}_{n}"
            if layer.activation == "gelu":
                self.say(f"z{number}_{n} = z")
            self.say(f"{name} = {ACTIVATIONS[layer.activation][0]}")

    def judge(self) -> None:
        """The mean loss of a member, and for each output what the loss changes by with it."""
        p, last = self.program, len(self.cut) - 1
        outputs = [f"a{last}_{n}" for n in range(len(self.cut[last]))]
        now = "" if p.shared else "now_"
        across = ["tl.sum({}, 1, keep_dims=True)" if b.size > 1 else "{}" for b in self.cut[last]]
        if p.loss == "squared error":
            scale = 1 / (p.batch * p.layers[-1].outputs)
            for n, output in enumerate(outputs):
                self.say(f"g{n} = tl.where(real, {output} - {now}t_{n}, 0.0)")
            squares = " + ".join(a.format(f"g{n} * g{n}") for n, a in enumerate(across))
            self.say(f"loss = tl.sum({squares}) * {scale!r}")
            self.say(*(f"d{last}_{n} = g{n} * {2 * scale!r}" for n in range(len(outputs))))
            return
        for n, block in enumerate(self.cut[last]):
            if block.filled:
                self.say(f"{outputs[n]} = tl.where({_within(block)}, {outputs[n]}, -float('inf'))")
        tops = [a.format(o).replace("tl.sum", "tl.max") for a, o in zip(across, outputs, strict=True)]
        self.say(f"top = {tops[0]}", *(f"top = tl.maximum(top, {top})" for top in tops[1:]))
        self.say(*(f"e{n} = tl.exp({output} - top)" for n, output in enumerate(outputs)))
        self.say("total = " + " + ".join(a.format(f"e{n}") for n, a in enumerate(across)))
        hit = [f"({now}t == {b.start}{_along(b)})" for b in self.cut[last]]
        right = " + ".join(a.format(f"tl.where({h}, {o}, 0.0)") for a, h, o in zip(across, hit, outputs, strict=True))
        self.say(f"each = tl.where(real, tl.log(total) + top - ({right}), 0.0)")
        self.say(f"loss = tl.sum(each) * {1 / p.batch!r}")
        for n in range(len(outputs)):
            self.say(
                f"d{last}_{n} = tl.where(real, e{n} / total - tl.where({hit[n]}, 1.0, 0.0), 0.0) * {1 / p.batch!r}"
            )

    def rates(self) -> None:
        """The learning rate of this step. A member whose loss is low enough stands still from then on."""
        p = self.program
        if p.stops:
            self.say("loss = tl.where((lr == 0.0) & (last == last), last, loss)", "last = loss")
            self.say("lr = tl.where(loss > stop, lr, 0.0)")
        self.say("tl.store(losses + member, loss)", "losses += members")
        if p.rule == "adamw" and p.decay:
            self.say("shrink = 1.0 - lr * factor * fade")
        self.say("pace = lr * factor" if p.rule == "sgd" else "pace = lr * (factor / first)")

    def backward(self, number: int) -> None:
        """From what the loss changes by with z: with the layer's input, and with its weights, which are updated."""
        p, layer, before = self.program, self.program.layers[number - 1], self.cut[number - 1]
        for n in range(len(self.cut[number])) if layer.activation != "none" else ():
            here = f"{number}_{n}"
            self.say(f"d{here} = " + ACTIVATIONS[layer.activation][1].format(d=f"d{here}", a=f"a{here}", z=f"z{here}"))
        begun: set[int] = set()

        def inward(n: int, k: int, w: str) -> None:
            if number == 1:
                return
            d, out, into = f"d{number}_{n}", self.cut[number][n], before[k]
            if out.size > 1 and into.size > 1:
                part = self.dot(d, w)
            elif out.size > 1:
                part = f"tl.sum({d} * {w}, 1, keep_dims=True)"
            else:
                part = f"{d} * {w}"
            self.say(f"d{number - 1}_{k} {'+=' if k in begun else '='} {part}")
            begun.add(k)

        if p.resident:
            for name, n, k in self.weights(number):
                inward(n, k, name)
        for name, n, k in self.weights(number):
            if not p.resident:
                self.say(f"{name} = {self.read('flat', name)}")
                inward(n, k, name)
                self.say("tl.debug_barrier()")
            d, a, out, into = f"d{number}_{n}", self.value(number - 1, k), self.cut[number][n], before[k]
            if out.size > 1 and into.size > 1:
                self.say(f"g = {self.dot(f'tl.trans({d})', a)}")
            elif out.size > 1 or into.size > 1:
                self.say(f"g = tl.sum({d} * {a}, 0, keep_dims=True)")
            else:
                self.say(f"g = tl.sum({d} * {a})")
            self.update(name)
        for name, n in self.biases(number):
            if not p.resident:
                self.say(f"{name} = {self.read('flat', name)}")
            d = f"d{number}_{n}"
            wide = self.cut[number][n].size > 1
            self.say(f"g = tl.sum({d}, 0, keep_dims=True)" if wide else f"g = tl.sum({d})")
            self.update(name)

    def update(self, name: str) -> None:
        """One step of the optimiser, as ``optim.py`` has it."""
        p = self.program
        for tensor in () if p.resident else p.state:
            self.say(f"{_held(tensor, name)} = {self.read(tensor, name)}")
        if p.penalty:
            self.say(f"g = g + 2.0 * toll * {name}")
        if p.decay and p.rule != "adamw":
            self.say(f"g = g + fade * {name}")
        if p.rule == "sgd":
            momentum, nesterov = p.numbers
            if momentum:
                velocity = _held("velocity", name)
                self.say(f"{velocity} = {velocity} * {momentum!r} + g")
                self.say(f"g = g + {momentum!r} * {velocity}" if nesterov else f"g = {velocity}")
            self.say(f"{name} = {name} - g * pace")
        else:
            first, second, eps = p.numbers
            mean, square = _held("mean", name), _held("square", name)
            if p.rule == "adamw" and p.decay:
                self.say(f"{name} = {name} * shrink")
            self.say(f"{mean} = {mean} + (g - {mean}) * {1 - first!r}")
            self.say(f"{square} = {square} * {second!r} + g * g * {1 - second!r}")
            self.say(f"{name} = {name} - {mean} / (tl.sqrt({square}) / second + {eps!r}) * pace")
        for tensor in () if p.resident else ("flat", *p.state):
            self.write(tensor, name, _held(tensor, name))


def _along(block: Block, stride: int = 1) -> str:
    return "" if block.size == 1 else f" + across_{block.size}" + (f" * {stride}" if stride > 1 else "")


def _within(block: Block) -> str:
    return f"(across_{block.size} < {block.of - block.start})" if block.filled else ""


def _held(tensor: str, name: str) -> str:
    """The variable of a block of weights, or of the optimiser's state for it."""
    return name if tensor == "flat" else f"{tensor}_{name}"


_ONE = {"decay": "fade", "charge": "toll", "held": "last"}
"""What a member's own number is called once it is read."""

ACTIVATIONS = {
    "none": ("z", "{d}"),
    # A number that is none stays so, or a diverged member would look like one that answers nothing.
    "relu": ("tl.where(z <= 0.0, 0.0, z)", "tl.where({a} <= 0.0, 0.0, {d})"),
    "tanh": ("2.0 / (1.0 + tl.exp(-2.0 * z)) - 1.0", "{d} * (1.0 - {a} * {a})"),
    "elu": ("tl.where(z > 0.0, z, tl.exp(z) - 1.0)", "{d} * tl.where({a} > 0.0, 1.0, {a} + 1.0)"),
    "gelu": (
        "0.5 * z * (1.0 + tl.erf(z * 0.7071067811865476))",
        "{d} * (0.5 * (1.0 + tl.erf({z} * 0.7071067811865476)) + {z} * tl.exp(-0.5 * {z} * {z}) * 0.3989422804014327)",
    ),
}
"""Each activation of z, and what the loss changes by with z (from d, with what z became); the filling of a tile must
come to zero."""


def write(program: Program) -> str:
    """The source of a program."""
    return _Writer(program).source()
