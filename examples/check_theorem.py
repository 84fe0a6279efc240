"""Two coloured squares, one in front: which pictures must be rendered so that a compositional model can be trusted?

A renderer has ten settings, five for each square. Rendering all combinations is out of the question, so each square is
varied while the other stands still. The theorem of "Compositional Generalization from First Principles" says when that
is enough, and its assumptions can be computed before anything is trained.
"""

from __future__ import annotations

import recombine as rc
from recombine.tasks.sprites import Composition, HardOcclusion, Latents, SoftOcclusion, SpriteTask

PLANS = {
    "orthogonal*": "the front varies before one rear, the rear behind one front",
    "orthogonal": "the same, and the rear also varies behind a second front",
    "gap": "the same, but the front is never a little left of the middle",
}


def plan(support: str, composition: Composition) -> SpriteTask:
    """Pictures with soft edges, so that they change smoothly with their settings."""
    return SpriteTask(side=24, raster="smooth", latents=Latents(shapes=(4,)), support=support, composition=composition)


def main() -> None:
    enough = []
    for composition in (HardOcclusion(), SoftOcclusion()):
        print(f"Composed by {composition.kind.replace('_', ' ')}:")
        for support, words in PLANS.items():
            result = rc.check_theorem(plan(support, composition))
            print(f"- {words}.\n  {result.verdict}")
            if result.promises:
                enough.append(words)
                for component in result.components:
                    print(f"  {component.name}: smallest singular value {component.weakest.min():.2f}")
    print(f"Decision: compose by soft occlusion; it is enough that {enough[0]}.")


if __name__ == "__main__":
    main()
