"""A detector was trained to find the odd one of four signals. Two things make a signal normal: does each have a part?

If there is a part of the network for each condition, and it can be taken out without the other, one of them could be
replaced when its sensor changes. Whether a part *does* its condition says nothing: in untrained networks one is found
as well. So the dissection takes it out, and does the same to an untrained network and to random weights.
"""

from __future__ import annotations

import recombine as rc
from recombine.models import OddOneOutNet
from recombine.structure import MaskSettings, Protocol, subroutines_of
from recombine.tasks import OddOneOutTask, SignProducts


def main() -> None:
    signals = SignProducts(width=12, pairs=((0, 1), (6, 7)))
    task = OddOneOutTask(source=signals, problems=2048, held_out=300)
    network = OddOneOutNet(encoder=rc.Perceptron(widths=(12, 48, 16)))
    detector = rc.train(
        network, task, steps=600, batch_size=32, optimizer=rc.Adam(lr=3e-3), progress=lambda done, total: None
    ).member(0)

    settings = tuple(
        MaskSettings(epochs=10, batch_size=32, penalty=penalty, optimizer=rc.Adam(lr=0.03)) for penalty in (0.2, 0.02)
    )
    result = rc.dissect(
        detector,
        *subroutines_of(signals, problems=512, asked=200),
        whole=task.split("test"),
        protocol=Protocol(settings=settings, seeds=2, random=2),
        fresh=network,
    )
    print(result.verdict)
    for row in ("chosen", "same size"):
        print(f"D_abl, {row}: {result.score('first', row):+.2f} and {result.score('second', row):+.2f}")
    print(f"the same search in an untrained network: {result.score('first', network='untrained'):+.2f}")
    result.save("dissection.html")


if __name__ == "__main__":
    main()
