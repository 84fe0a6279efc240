"""SCAN as a task: a frame and the action words that fill it become a command, and its meaning as actions.

Frame and words are the two components that Li et al. (2020, section 5.2) call syntax and semantics. In setting A the
training commands are those of a split; in setting B their action words are drawn uniformly at random (and the actions
with them), so that the words say nothing of the frame. B trains on the very commands that are asked, so there are two
B′ that do not: "apart" draws words as B does but keeps the new word out of half of the frames, and asks for these;
"without" never shows the new word at all, so that it can say nothing, and what is asked of it is the structure.
"new" is what their appendix B says of B: of the training commands only those with the new word have another drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError
from recombine.space import Codes, FactorSpace
from recombine.support import Explicit
from recombine.tasks.draws import Draws
from recombine.tasks.keeping import Keeping
from recombine.tasks.scan.grammar import ACTIONS, LONGEST_ANSWER, OPEN, OUTPUTS, WORDS, frame_of, frames, interpret
from recombine.tasks.scan.splits import Split, find_split, oversample
from recombine.tasks.task import Task

END, START = len(OUTPUTS), len(OUTPUTS) + 1
"""The answer's last token, and what stands before its first. Answers are padded with END."""

Example = tuple[tuple[Tensor, Tensor], Tensor]


class ScanTask(Keeping, Description, Task):
    """Commands of ``split`` with at most ``longest`` actions; ``words="uniform"`` is setting B, ``"apart"`` and
    ``"without"`` are B′, ``"new"`` redraws the new word alone.

    Inputs are (words, previous): word numbers (… × longest command, 0 where the command has ended) and the answer moved
    by one, START first. Targets are the answer with END after it (… × answer). A model that predicts every next token
    from the true ones before it is right on all of them exactly if its greedy decoding is the answer, so exact sentence
    accuracy needs no decoding. ``own`` replaces the split by commands of one's own (training, test)."""

    kind: ClassVar[str] = "scan"

    split: str = "jump"
    words: Literal["given", "uniform", "apart", "without", "new"] = "given"
    longest: int = Field(default=LONGEST_ANSWER, ge=1, le=LONGEST_ANSWER)
    pairs: bool = True
    """Whether commands joined by "and" and "after" are there at all."""
    seed: int = 0
    own: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    @cached_property
    def space(self) -> FactorSpace:
        """frame × first word × second word; a frame with fewer open places has the first word(s) of the list there."""
        return FactorSpace.of(frame=self._frames, first=ACTIONS, second=ACTIONS)

    @cached_property
    def commands(self) -> Split:
        """The training commands with their repetitions and the test commands, as this task uses them."""
        whole = Split(*self.own) if self.own is not None else find_split(self.split, self.seed)
        train, test = (tuple(c for c in part if self._kept(c)) for part in (whole.train, whole.test))
        if not train or not test:
            raise InputError(f"no command of at most {self.longest} actions is left to train on, or to ask for.")
        train = train if len(train) == len(whole.train) else oversample(train)
        if self.words == "apart":
            held = self._half({frame_of(c)[0] for c in test})
            test = tuple(c for c in test if frame_of(c)[0] in held)
        elif self.words == "without":
            train = self._without(train)
        return Split(train, test)

    @cached_property
    def train(self) -> Explicit:
        """The commands that can occur in training."""
        if self.words in ("given", "without", "new"):
            return Explicit(self.space, self._codes(self.commands.train))
        every = Explicit(self.space, self._canonical(self.space.grid()))
        return every if self.words == "uniform" else (every - self.test).explicit()

    @cached_property
    def test(self) -> Explicit:
        return Explicit(self.space, self._codes(self.commands.test))

    def examples(self, points: Tensor, draws: Draws) -> Example:
        words, answers = self.kept("frames", points.device, self._templates)
        frame, first, second = points.unbind(-1)
        chosen = torch.stack([first, second], -1)
        answer = _filled(answers[frame], chosen, 0)
        before = torch.cat([torch.full_like(answer[..., :1], START), answer[..., :-1]], -1)
        return (_filled(words[frame], chosen, 1), before), answer

    def batch(self, draws: Draws, size: int) -> Example:
        """Commands uniform over the training set with its repetitions."""
        points = self._points("train", draws.keys.device)
        return self.examples(self._drawn(points, draws, (*draws.lead, size)), draws)

    def views(self, draws: Draws, count: int) -> dict[str, Example]:
        """What is worth asking along training: the training distribution, the same without commands of one word, and
        the unseen commands. In A the command of the split alone is a tenth of the first view, and learnt long before
        any other."""
        device = draws.keys.device
        points, asked = self._points("train", device), self._points("test", device)
        several = points[points[:, 0] != self._frames.index(OPEN)]
        shape = (*draws.lead, count)
        views = {
            "trained": self._drawn(points, draws("trained"), shape),
            "several words": self._drawn(several, draws("several"), shape),
            "unseen": asked[draws("unseen").integers(len(asked), shape)],
        }
        return {name: self.examples(chosen, draws) for name, chosen in views.items()}

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Cross entropy of each token, averaged over the tokens of the sentence."""
        chosen = outputs.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
        counted = _counted(targets).to(outputs.dtype)
        return ((torch.logsumexp(outputs, -1) - chosen) * counted).sum(-1) / counted.sum(-1)

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        """``accuracy``: the whole answer is right; ``structure``: it is, once the four actions are taken for one."""
        answer, counted = outputs.argmax(-1), _counted(targets)
        merged = answer.clamp(min=len(ACTIONS) - 1) == targets.clamp(min=len(ACTIONS) - 1)
        return {
            "accuracy": ((answer == targets) | ~counted).all(-1).to(outputs.dtype),
            "structure": (merged | ~counted).all(-1).to(outputs.dtype),
        }

    def _drawn(self, points: Tensor, draws: Draws, shape: tuple[int, ...]) -> Tensor:
        chosen = points[draws("command").integers(len(points), shape)]
        if self.words in ("given", "without"):
            return chosen
        frame = chosen[..., :1]
        if self.words == "new":
            drawn = draws("words").integers(len(ACTIONS), (*shape, 2))
            return torch.cat([frame, torch.where(chosen[..., 1:] == self._new, drawn, chosen[..., 1:])], -1)
        if self.words == "uniform":
            return torch.cat([frame, draws("words").integers(len(ACTIONS), (*shape, 2))], -1)
        fillings, count = self.kept("fillings", draws.keys.device, self._fillings)
        at = (draws("words").uniform(shape, torch.float64) * count[frame[..., 0]]).long()
        return torch.cat([frame, fillings[frame[..., 0], at]], -1)

    def _fillings(self) -> tuple[Tensor, Tensor]:
        """The words that may fill each frame in training (frames × most × 2), and how many such fillings it has."""
        codes = torch.as_tensor(self.train.codes.copy())
        count = codes[:, 0].bincount(minlength=len(self._frames))
        rows = codes[codes[:, 0].argsort(stable=True)]
        place = torch.arange(len(rows)) - (count.cumsum(0) - count)[rows[:, 0]]
        fillings = torch.zeros(len(self._frames), int(count.max()), 2, dtype=torch.int64)
        fillings[rows[:, 0], place] = rows[:, 1:]
        return fillings, count

    def _half(self, asked: set[str]) -> set[str]:
        """Half of these frames, by a draw of ``seed``."""
        found = [frame for frame in self._frames if frame in asked]
        order = Draws.single(self.seed, "scan apart")("order").uniform((len(found),)).argsort().tolist()
        if len(found) < 2:
            raise InputError('words="apart" keeps the new word out of half of the frames; this task asks for one only.')
        return {found[i] for i in order[: len(found) // 2]}

    @cached_property
    def _new(self) -> int:
        """The word of the command that the training set repeats."""
        repeated = {c for c, count in Counter(self.commands.train).items() if count > 1}
        if not repeated & set(ACTIONS):
            raise InputError(f'words="new" redraws an action word that is shown alone; {self.split!r} has none such.')
        return ACTIONS.index((repeated & set(ACTIONS)).pop())

    def _without(self, train: tuple[str, ...]) -> tuple[str, ...]:
        """The training set without the command that shows the new word alone."""
        repeated = Counter(train)
        left = tuple(c for c in train if repeated[c] == 1)
        if len(left) == len(train) or not left:
            raise InputError(
                f'words="without" leaves out the command that shows a new word alone; {self.split!r} has none such.'
            )
        return left

    def _kept(self, command: str) -> bool:
        paired = "and" in command.split() or "after" in command.split()
        return (self.pairs or not paired) and len(interpret(command)) <= self.longest

    @cached_property
    def _frames(self) -> tuple[str, ...]:
        return tuple(frame for frame in frames() if self._kept(frame))

    def _codes(self, some: tuple[str, ...]) -> Codes:
        place = {frame: i for i, frame in enumerate(self._frames)}
        rows = np.zeros((len(some), 3), dtype=np.int64)
        for row, command in zip(rows, some, strict=True):
            frame, words = frame_of(command)
            row[0] = place[frame]
            row[1 : 1 + len(words)] = [ACTIONS.index(word) for word in words]
        return rows

    def _canonical(self, codes: Codes) -> Codes:
        """The rows whose words stand in open places only: one row a command."""
        places = np.array([frame.count(OPEN) for frame in self._frames])[codes[:, 0]]
        keep = ((places > 0) | (codes[:, 1] == 0)) & ((places > 1) | (codes[:, 2] == 0))
        kept: Codes = codes[keep]
        return kept

    def _templates(self) -> tuple[Tensor, Tensor]:
        """Words (frames × longest command) and answers (frames × longest answer + 1); −1 and −2 are open places."""
        words = np.zeros((len(self._frames), max(len(f.split()) for f in self._frames)), dtype=np.int64)
        answers = np.full((len(self._frames), self.longest + 1), END, dtype=np.int64)
        for i, frame in enumerate(self._frames):
            spoken = frame.split()
            places = [j for j, word in enumerate(spoken) if word == OPEN]
            for j, word in enumerate(spoken):
                words[i, j] = -1 - places.index(j) if word == OPEN else WORDS.index(word) + 1
            # The answer says which of two places an action comes from only if the places differ.
            marked = interpret(_marked(frame))
            for j, action in enumerate(marked):
                answers[i, j] = {"I_WALK": -1, "I_LOOK": -2}.get(action, OUTPUTS.index(action))
        return torch.as_tensor(words), torch.as_tensor(answers)

    def _points(self, part: Literal["train", "test"], device: torch.device) -> Tensor:
        """The commands of a part as points, with their repetitions."""
        return self.kept(part, device, lambda: (torch.as_tensor(self._codes(getattr(self.commands, part))),))[0]


def _marked(frame: str) -> str:
    """The frame with its first open place walking and its second looking."""
    return frame.replace(OPEN, "walk", 1).replace(OPEN, "look", 1)


def _filled(template: Tensor, chosen: Tensor, first: int) -> Tensor:
    """A template with its open places −1 and −2 replaced by the chosen words, numbered from ``first``."""
    for place in (0, 1):
        template = torch.where(template == -1 - place, chosen[..., place, None] + first, template)
    return template


def _counted(targets: Tensor) -> Tensor:
    """The tokens of an answer up to and with its first END."""
    end = targets == END
    return end.long().cumsum(-1) - end.long() == 0
