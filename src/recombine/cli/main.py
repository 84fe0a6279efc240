"""The `recombine` command: its verbs, and how errors become exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import cyclopts

from recombine.cli import check, dissect, measure, reproduce, runs, study
from recombine.cli.printing import printable
from recombine.errors import InputError

LONGEST = 4000
"""Letters of an error that are shown: a name from a file may be as long as the file."""

app = cyclopts.App(
    name="recombine",
    help="What will a learner do on combinations of factors it has not seen, and why?",
    help_epilogue="""Examples:

    recombine check catalogue.csv --factors shape,colour --target price
    recombine measure predictions.csv --factors shape,colour --target y --prediction p --split part=test
    recombine dissect model/ inside.npz contact.npz --out dissection.html
    recombine study list
    recombine study run gradient-toy --scale quick
    recombine reproduce
    recombine runs list

Exit codes: 0 completed, whatever was found; 1 only where --fail-on makes a finding count; 2 bad input.""",
    help_format="plaintext",
    version_flags=["--version"],
    suppress_keyboard_interrupt=False,
)
app.command(check.check)
app.command(measure.measure)
app.command(dissect.dissect)
app.command(study.app)
app.command(reproduce.reproduce)
app.command(runs.app)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 2 for bad input, said in one sentence."""
    try:
        code = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except (InputError, cyclopts.CycloptsError) as error:
        _say(str(error))
        sys.exit(2)
    except KeyboardInterrupt:
        _say("interrupted; finished runs are kept, the same command continues.")
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone (`recombine … | head`); that is no error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        where = f"{error.filename!r} cannot be read or written: " if error.filename else ""
        _say(f"{where}{error.strerror or error}; finished runs are kept, the same command continues.")
        sys.exit(2)
    sys.exit(code if isinstance(code, int) else 0)


def _say(text: str) -> None:
    line = printable(" ".join(text[:LONGEST].split()))
    sys.stderr.write(f"recombine: {line}{'…' if len(text) > LONGEST else ''}\n")
