"""SCAN: its grammar, its splits, and the task."""

from recombine.tasks.scan.grammar import ACTIONS, OUTPUTS, WORDS, commands, frame_of, frames, interpret
from recombine.tasks.scan.splits import SPLITS, Split, find_split, read_mcd
from recombine.tasks.scan.task import END, START, ScanTask

__all__ = [
    "ACTIONS",
    "END",
    "OUTPUTS",
    "SPLITS",
    "START",
    "WORDS",
    "ScanTask",
    "Split",
    "commands",
    "find_split",
    "frame_of",
    "frames",
    "interpret",
    "read_mcd",
]
