"""The words of the command line: every command's arguments, options and help; `COMMANDS` lists them.

Nothing here imports what does the work: a command does so when it runs. So `--version`, `--help` and the completion of
words by the Tab key, which need only the words, are there at once (tests/cli/test_loading.py).
"""

from .ask import ask
from .budget import budget
from .check import check
from .combine import combine
from .demo import demo
from .init import init
from .paper import paper
from .plan import plan
from .release import release
from .report import report
from .schema import schema

COMMANDS = (demo, init, check, plan, release, ask, combine, report, paper, schema)

__all__ = ["COMMANDS", "budget", "paper"]
