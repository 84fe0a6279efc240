"""SCAN: its grammar, its splits, and the task."""

from recombine.tasks.scan.grammar import (
    ACTIONS as ACTIONS,
    OUTPUTS as OUTPUTS,
    WORDS as WORDS,
    commands as commands,
    frame_of as frame_of,
    frames as frames,
    interpret as interpret,
)
from recombine.tasks.scan.splits import SPLITS as SPLITS, Split as Split, find_split as find_split
from recombine.tasks.scan.task import END as END, START as START, ScanTask as ScanTask
