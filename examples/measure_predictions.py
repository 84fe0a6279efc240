"""Only a table of predictions: where does a classifier fail, and which rule do its wrong answers follow?

Photographs of animals in places. Some pairs were in training, the others are new; the table holds the right label and
the predicted one. The same on the command line:

    recombine measure measure_predictions.csv --factors animal,place --target label --prediction prediction \\
        --split part=test --out report
"""

from __future__ import annotations

from pathlib import Path

import recombine as rc

TABLE = Path(__file__).with_suffix(".csv")


def main() -> None:
    result = rc.measure_predictions(
        TABLE, ["animal", "place"], target="label", prediction="prediction", split="part=test"
    )
    print(result.sentence())
    for row in result.worst[:3]:
        print(
            f"{row['combination']}: answered {row['prediction']}, error {row['error']:.2f}, {row['count']} photographs"
        )
    for evidence in result.evidence:
        print(f"{'named' if evidence.named else '     '}  {evidence.mechanism}: {evidence.numbers()}")
    result.save("predictions.html")
    result.save("predictions.svg")
    cause = result.mechanisms[0] if result.mechanisms else "no single rule"
    print(f"Decision: photograph animals away from home before training again; the cause is a {cause}.")


if __name__ == "__main__":
    main()
