"""The words of the command line: every command's arguments, options and help; `COMMANDS` lists them.

Nothing here imports what does the work: a command does so when it runs. So `--version`, `--help` and the completion of
words by the Tab key, which need only the words, are there at once (tests/cli/test_loading.py).
"""

from .budget import budget
from .releases import ask, combine, registry, release, report
from .serving import serve, studio, tokens
from .studies import check, demo, init, paper, plan, schema
from .unknowns import bounds, discover

COMMANDS = (
    demo,
    init,
    discover,
    bounds,
    check,
    plan,
    studio,
    release,
    ask,
    combine,
    report,
    registry,
    serve,
    paper,
    schema,
)

__all__ = ["COMMANDS", "budget", "paper", "tokens"]
