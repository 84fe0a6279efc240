"""The door: `recombine VERB …`. Whatever is heavy is imported by the verb that needs it."""

from recombine.cli.main import app as app, main as main
