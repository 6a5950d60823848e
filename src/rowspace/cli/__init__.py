"""The command line: commands only. What they do is in the library; how it looks is in `rowspace.report`.

One file for each command; `screen` writes to the terminal, `outputs` decides which files may be written, and
`failures` turns every expected failure into one line and an exit code.
"""

from .main import main

__all__ = ["main"]
