"""SCAN: every command, its meaning, every rule-based split, and the task made of them."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings, strategies as st

from recombine.errors import InputError
from recombine.tasks import Draws, ScanTask
from recombine.tasks.scan import (
    END,
    OUTPUTS,
    SPLITS,
    START,
    WORDS,
    commands,
    find_split,
    frame_of,
    frames,
    interpret,
)

COUNTS = {
    "simple": (16_728, 4_182),
    "length": (16_990, 3_920),
    "jump": (14_670, 7_706),
    "turn_left": (21_890, 1_208),
    "around_right": (15_225, 4_476),
    "opposite_right": (15_225, 4_476),
    "right": (15_225, 4_476),
    "jump_around_right": (18_528, 1_173),
    "filler_0": (15_225, 1_173),
    "filler_1": (16_290, 1_173),
    "filler_2": (17_391, 1_173),
    "filler_3": (18_528, 1_173),
}

# Table 1 of Li et al. (2020), after its renaming: "x before y" is "x and y", LTURN is I_TURN_LEFT, and so on.
TABLE_1 = {
    "jump": "JUMP",
    "walk and run left": "WALK LTURN RUN",
    "look left twice and run opposite right": "LTURN LOOK LTURN LOOK RTURN RTURN RUN",
    "jump twice and walk": "JUMP JUMP WALK",
    "turn right after jump twice": "JUMP JUMP RTURN",
    "jump left twice after jump right": "RTURN JUMP LTURN JUMP LTURN JUMP",
}
RENAMED = {"LTURN": "I_TURN_LEFT", "RTURN": "I_TURN_RIGHT"}


def test_the_grammar_has_exactly_its_commands() -> None:
    assert len(commands()) == len(set(commands())) == 20_910
    assert len(frames()) == 39 + 2 * 39**2
    assert max(len(c.split()) for c in commands()) == 9
    lengths = [len(interpret(c)) for c in commands()]
    assert max(lengths) == 48
    assert 23 not in lengths
    assert len({word for c in commands() for word in c.split()}) == 13
    assert {action for c in commands()[:2000] for action in interpret(c)} == set(OUTPUTS)


@pytest.mark.parametrize("command", TABLE_1)
def test_the_interpreter_gives_the_paper_s_table_1(command: str) -> None:
    expected = [RENAMED.get(action, f"I_{action}") for action in TABLE_1[command].split()]
    assert list(interpret(command)) == expected


def test_hand_made_meanings() -> None:
    turn, jump = "I_TURN_RIGHT", "I_JUMP"
    assert interpret("jump around right") == (turn, jump) * 4
    assert interpret("turn around right thrice") == (turn,) * 12
    assert interpret("turn opposite left") == ("I_TURN_LEFT",) * 2
    assert interpret("walk after jump twice") == (jump, jump, "I_WALK")


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 20_909))
def test_meanings_have_the_properties_that_words_promise(number: int) -> None:
    command = commands()[number]
    words, answer = command.split(), interpret(command)
    for side in ("left", "right"):
        assert (f"I_TURN_{side.upper()}" in answer) == (side in words)
    for action in ("walk", "look", "run", "jump"):
        assert (f"I_{action.upper()}" in answer) == (action in words)
    joints = [word for word in words if word in ("and", "after")]
    if joints:
        first, second = command.split(f" {joints[0]} ")
        assert len(answer) == len(interpret(first)) + len(interpret(second))
        swapped = f"{second} {'after' if joints[0] == 'and' else 'and'} {first}"
        assert interpret(swapped) == answer
    elif words[-1] in ("twice", "thrice"):
        assert answer == interpret(" ".join(words[:-1])) * (2 if words[-1] == "twice" else 3)
    frame, filled = frame_of(command)
    assert frame in frames()
    assert len(filled) == frame.count("?")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "empty"),
        ("jmp", "did you mean 'jump'"),
        ("jump and", "both sides"),
        ("and jump", "both sides"),
        ("walk and run and look", "more than one"),
        ("turn", "no action with a direction"),
        ("twice", "stands where an action"),
        ("left jump", "stands where an action"),
        ("jump around", "no action with a direction"),
        ("jump left around", "no action with a direction"),
        ("walk twice thrice", "no action with a direction"),
        ("jump opposite around left", "no action with a direction"),
    ],
)
def test_malformed_commands_get_a_clear_error(command: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        interpret(command)


@pytest.mark.parametrize("name", COUNTS)
def test_every_split_has_its_counts(name: str) -> None:
    split = find_split(name)
    assert (len(split.train), len(split.test)) == COUNTS[name]
    assert len(set(split.test)) == len(split.test)
    assert not set(split.train) & set(split.test) or name.startswith("filler")
    assert set(split.train) | set(split.test) <= set(commands())


def test_splits_follow_their_rules() -> None:
    assert set(SPLITS) == set(COUNTS)
    jump = find_split("jump")
    assert {c for c in jump.train if "jump" in c} == {"jump"}
    assert jump.train.count("jump") == 1_467
    assert all("jump" in c and c != "jump" for c in jump.test)
    left = find_split("turn_left")
    assert left.train.count("turn left") == 2_189
    assert any("turn around left" in c for c in left.train)
    assert min(len(interpret(c)) for c in find_split("length").test) == 24
    assert find_split("simple", 1) != find_split("simple")
    assert find_split("simple") == find_split("simple", 0)
    with pytest.raises(InputError, match="did you mean 'jump'"):
        find_split("jmp")


def test_examples_say_what_the_interpreter_says() -> None:
    task = ScanTask()
    assert len(task.train) == 13_204
    assert len(task.test) == 7_706
    points = torch.as_tensor(task.test.codes[::97].copy())
    (words, before), answer = task.examples(points, Draws.single(0))
    for row, record in enumerate(task.space.decode(points.numpy())):
        filled = [str(record["first"]), str(record["second"])][: str(record["frame"]).count("?")]
        command = str(record["frame"])
        for word in filled:
            command = command.replace("?", word, 1)
        meant = interpret(command)
        assert [OUTPUTS[i] for i in answer[row, : len(meant)]] == list(meant)
        assert (answer[row, len(meant) :] == END).all()
        assert int((words[row] > 0).sum()) == len(command.split())
    assert (before[:, 0] == START).all()
    assert torch.equal(before[:, 1:], answer[:, :-1])


def test_setting_b_draws_words_alike_and_keeps_the_frames() -> None:
    draws = Draws.of([0], range(4), seed=0)
    given_, uniform = ScanTask(), ScanTask(words="uniform")
    (words_a, _), _ = given_.batch(draws, 500)
    (words_b, _), answer = uniform.batch(draws, 500)
    frames_alike = ((words_a > 4) == (words_b > 4)).all()
    assert bool(frames_alike)
    jump = 4
    alone = (words_a[..., 0] == jump) & (words_a[..., 1] == 0)
    assert not ((words_a == jump).any(-1) & ~alone).any()
    assert abs(float(alone.double().mean()) - 0.1) < 0.03
    share = torch.stack([(words_b == w).double().sum() for w in (1, 2, 3, 4)])
    assert ((share / share.sum() - 0.25).abs() < 0.03).all()
    assert ((words_b == jump).any(-1) == (answer == jump - 1).any(-1)).all()
    assert len(uniform.train) == 20_910


def spoken(task: ScanTask, words: torch.Tensor) -> list[str]:
    return [" ".join(WORDS[w - 1] for w in row if w > 0) for row in words.flatten(0, -2).tolist()]


@pytest.mark.parametrize("task", [ScanTask(words="apart"), ScanTask(words="apart", longest=8, pairs=False)])
def test_setting_b_prime_apart_never_shows_what_it_asks(task: ScanTask) -> None:
    every = ScanTask(longest=task.longest, pairs=task.pairs)
    asked = set(task.commands.test)
    assert asked < set(every.commands.test)
    whole = {frame_of(c)[0] for c in every.commands.test}
    held = {frame_of(c)[0] for c in asked}
    assert len(held) == len(whole) // 2
    # Half of the frames are asked with the new word in every way, and the other half never.
    assert asked == {c for c in every.commands.test if frame_of(c)[0] in held}
    assert not set(map(tuple, task.train.codes.tolist())) & set(map(tuple, task.test.codes.tolist()))
    (words, _), answer = task.batch(Draws.of([0], range(8), seed=1), 500)
    shown = spoken(task, words)
    assert not set(shown) & asked
    jumping = {frame_of(c)[0] for c in shown if "jump" in c.split()}
    assert jumping & (whole - held)
    assert not jumping & held
    for command, row in list(zip(shown, answer.flatten(0, -2).tolist(), strict=True))[:200]:
        assert tuple(OUTPUTS[i] for i in row[: len(interpret(command))]) == interpret(command)


def test_setting_b_prime_apart_draws_words_alike_where_it_may() -> None:
    task = ScanTask(words="apart")
    held = {frame_of(c)[0] for c in task.commands.test}
    (words, _), _ = task.batch(Draws.of([0], range(16), seed=2), 1000)
    free = [w for c in spoken(task, words) for w in frame_of(c)[1] if frame_of(c)[0] not in held]
    bound = [w for c in spoken(task, words) for w in frame_of(c)[1] if frame_of(c)[0] in held]
    for found, share in ((free, 1 / 4), (bound, 1 / 3)):
        error = (share * (1 - share) / len(found)) ** 0.5
        assert all(abs(found.count(word) / len(found) - share) < 5 * error for word in ("walk", "look", "run"))
    assert "jump" in free
    assert "jump" not in bound
    views = task.views(Draws.single(0), 300)
    assert set(spoken(task, views["unseen"][0][0])) <= set(task.commands.test)
    assert not set(spoken(task, views["several words"][0][0])) & set(task.commands.test)


def test_setting_b_prime_without_never_shows_the_new_word() -> None:
    task, given_ = ScanTask(words="without"), ScanTask()
    assert task.commands.test == given_.commands.test
    assert set(given_.commands.train) - set(task.commands.train) == {"jump"}
    assert len(task.commands.train) == 13_203
    (words, _), _ = task.batch(Draws.of([0], range(4), seed=0), 500)
    assert not (words == 1 + WORDS.index("jump")).any()
    assert len(task.train) == 13_203


def test_setting_b_of_the_appendix_redraws_the_new_word_alone() -> None:
    task = ScanTask(words="new")
    (words, _), _ = task.batch(Draws.of([0], range(4), seed=0), 1000)
    alone = words.flatten(0, -2)[:, 1:].eq(0).all(-1)
    first = words.flatten(0, -2)[alone, 0]
    assert alone.double().mean() == pytest.approx(0.1, abs=0.02)
    assert first.bincount(minlength=5)[1:].double() / len(first) == pytest.approx([0.25] * 4, abs=0.08)
    assert not (words.flatten(0, -2)[~alone] == 1 + WORDS.index("jump")).any()
    assert task.train.codes.tolist() == ScanTask().train.codes.tolist()
    with pytest.raises(InputError, match="'turn_left' has none such"):
        ScanTask(split="turn_left", words="new").batch(Draws.single(0), 8)


def test_b_prime_needs_something_to_keep_apart() -> None:
    with pytest.raises(InputError, match="'length' has none such"):
        ScanTask(split="length", words="without").commands  # noqa: B018
    one = (("walk", "walk twice", "jump"), ("jump twice",))
    with pytest.raises(InputError, match="asks for one only"):
        ScanTask(own=one, words="apart").commands  # noqa: B018


def test_scores_count_whole_sentences_and_structures() -> None:
    task = ScanTask(longest=4, pairs=False)
    points = torch.as_tensor(task.test.codes[:3].copy())
    _, answer = task.examples(points, Draws.single(0))
    right = torch.nn.functional.one_hot(answer, 7).float() * 9
    assert task.scores(right, answer)["accuracy"].tolist() == [1, 1, 1]
    assert float(task.losses(right, answer).max()) < 0.01
    walking = right.clone()
    walking[..., [0, 3]] = walking[..., [3, 0]]  # walks wherever it should jump
    scores = task.scores(walking, answer)
    assert scores["accuracy"].tolist() == [0, 0, 0]
    assert scores["structure"].tolist() == [1, 1, 1]
    late = right.clone()
    late[0, -1] = torch.arange(7.0)  # beyond the end nothing counts
    assert float(task.scores(late, answer)["accuracy"][0]) == float(answer[0, -2] == END or late[0, -1].argmax() == END)


def test_a_smaller_task_keeps_its_share_of_the_one_word_command() -> None:
    task = ScanTask(longest=8, pairs=False)
    assert len(set(task.commands.train)) == 62
    assert len(task.commands.test) == 14
    assert abs(task.commands.train.count("jump") / len(task.commands.train) - 0.1) < 0.01
    views = task.views(Draws.single(0), 200)
    assert set(views) == {"trained", "several words", "unseen"}
    words = views["several words"][0][0]
    assert bool((words[:, 1] > 0).all())
    with pytest.raises(InputError, match="at most 1 actions"):
        ScanTask(longest=1, pairs=False).commands  # noqa: B018
