"""Questions over HTTP and SQL: one study, one ledger, many analysts. Prices, answers and budgets are the session's.

    settings  what a service is started with     tokens   who may ask, how much, until when
    desk      requests to one `Session`          access   tokens, roles, rates
    api       JSON, with its OpenAPI document    pages    the page for analysts
    shell     what all our pages share           runner   a socket and uvicorn
    logs, metrics                                app      all of it together
    wire      the same for SQL clients, in PostgreSQL's protocol

Needs the extra ``rowspace[serve]``.
"""

from .access import Gate, json_only
from .app import create_app
from .logs import FAILURES_ONLY
from .runner import address, bound, run
from .service import serve
from .settings import Settings
from .shell import Refused, dress, one_sentence, problem, require_same_origin
from .tokens import Holder, Role, Tokens, add, digest_of, listed, new_secret, revoke

__all__ = [
    "FAILURES_ONLY",
    "Gate",
    "Holder",
    "Refused",
    "Role",
    "Settings",
    "Tokens",
    "add",
    "address",
    "bound",
    "create_app",
    "digest_of",
    "dress",
    "json_only",
    "listed",
    "new_secret",
    "one_sentence",
    "problem",
    "require_same_origin",
    "revoke",
    "run",
    "serve",
]
