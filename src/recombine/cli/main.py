"""The `recombine` command: its verbs, and how errors become exit codes."""

from __future__ import annotations

import difflib
import io
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress

import cyclopts

from recombine.cli import check, dissect, measure, play, report, reproduce, runs, split, study
from recombine.cli.printing import printable, unread
from recombine.errors import InputError

LONGEST = 4000
"""Letters of an error that are shown: a name from a file may be as long as the file."""

LISTS = ("--factors", "--numeric", "--bins", "--rules", "--block", "--prediction", "--against")
"""Options whose values may be written a,b,c."""

FAULT = 70
"""Exit code of an error in our code, or in a study or model that was brought along: 1 says that a finding counts."""

app = cyclopts.App(
    name="recombine",
    help="What will a learner do on combinations of factors it has not seen, and why?",
    help_epilogue="""Examples:

    recombine check catalogue.csv --factors shape,colour --target price
    recombine study list
    recombine study run gradient-toy --scale quick
    recombine reproduce
    recombine COMMAND --help

Exit codes: 0 completed, whatever was found; 1 where --fail-on makes a finding
count, or study verify finds a difference; 2 bad input; 70 an error that was not foreseen.""",
    help_format="plaintext",
    version_flags=["--version"],
    suppress_keyboard_interrupt=False,
)
# In the order in which they are used; each shows examples of its own and not these.
app.command(check.check, sort_key=1, help_epilogue="")
app.command(split.split, sort_key=2, help_epilogue="")
app.command(measure.measure, sort_key=2, help_epilogue="")
app.command(dissect.dissect, sort_key=3, help_epilogue="")
app.command(study.app)
app.command(reproduce.reproduce, sort_key=5, help_epilogue="")
app.command(report.report, sort_key=6, help_epilogue="")
app.command(runs.app)
app.command(play.play, sort_key=8, help_epilogue="")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 2 for bad input, said in one sentence; 70 for what should not happen."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that has no × or é shows ? there, and not an error. A stream that others write to may refuse.
        if isinstance(stream, io.TextIOWrapper):
            with suppress(OSError):
                stream.reconfigure(errors="replace")
    code = None
    try:
        with unread():  # Here it can be said what went wrong; at the end of the process nobody listens.
            code = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except InputError as error:
        _say(str(error))
        sys.exit(2)
    except cyclopts.CycloptsError as error:
        _say(_in_plain_words(error, list(sys.argv[1:] if arguments is None else arguments)))
        sys.exit(2)
    except KeyboardInterrupt:
        _say(f"interrupted{_kept(arguments)}.")
        sys.exit(130)
    except OSError as error:
        where = f"{error.filename!r} cannot be read or written: " if error.filename else ""
        _say(f"{where}{error.strerror or error}{_kept(arguments)}.")
        sys.exit(2)
    except Exception:
        traceback.print_exc()
        said = "this error was not foreseen; if it is not from code of your own, please report the lines above"
        _say(f"{said}{_kept(arguments)}.")
        sys.exit(FAULT)
    sys.exit(code if isinstance(code, int) else 0)


def _kept(arguments: Sequence[str] | None) -> str:
    """What a person who was stopped need not fear, where the verb computes runs."""
    verb = next(iter(sys.argv[1:] if arguments is None else arguments), "")
    return "; finished runs are kept, the same command continues" if verb in ("study", "reproduce") else ""


def _in_plain_words(error: cyclopts.CycloptsError, given: list[str]) -> str:
    verb = " ".join(["recombine", *(error.command_chain or ())])
    if file := _after_json(error, given):
        return f"--json takes no file, it prints: write --json{'' if file == '-' else f' > {file}'}."
    if isinstance(error, cyclopts.MissingArgumentError) and error.argument is not None:
        name = error.argument.name
        near = [
            token for token in error.unused_tokens or [] if token.startswith("--") and token.partition("=")[0] != name
        ]
        close = difflib.get_close_matches(name, near, n=1)
        hint = f"; did you mean {name} instead of {close[0]}?" if close else f"; {verb} --help shows how."
        return f"{name} is missing{hint}"
    if isinstance(error, cyclopts.UnusedCliTokensError):
        left = error.unused_tokens or []
        instead = _with_commas(given, left)
        return f"{' '.join(left)!r} is too much here; {instead or 'lists are written a,b,c'}. {verb} --help shows how."
    return str(error)


def _after_json(error: cyclopts.CycloptsError, given: list[str]) -> str:
    """What was meant for the file that --json writes, if that is what is left."""
    after = "".join(given[given.index("--json") + 1 :][:1]) if "--json" in given else ""
    left = [*(error.unused_tokens or [])] if isinstance(error, cyclopts.UnusedCliTokensError) else []
    stream = isinstance(error, cyclopts.UnknownOptionError) and after == "-"
    return after if stream or left == [after] else ""


def _with_commas(given: list[str], left: list[str]) -> str:
    """How to write a list whose parts were set apart by spaces, if that is what is left."""
    for option in (word for word in given if word in LISTS):
        after = given[given.index(option) + 1 :]
        if len(left) and after[1 : 1 + len(left)] == left and not left[0].startswith("-"):
            return f"write {option} {','.join([after[0], *left])}"
    return ""


def _say(text: str) -> None:
    line = printable(" ".join(text[:LONGEST].split()))
    sys.stderr.write(f"recombine: {line}{'…' if len(text) > LONGEST else ''}\n")
