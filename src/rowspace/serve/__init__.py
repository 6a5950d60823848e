"""Questions over HTTP and SQL: one study, one ledger, many analysts. Prices, answers and budgets are the session's.

    settings  what a service is started with     tokens   who may ask, how much, until when
    desk      requests to one `Session`          access   tokens, roles, rates
    api       JSON, with its OpenAPI document    pages    the page for analysts
    shell     what all our pages share           runner   a socket and uvicorn
    logs, metrics                                app      all of it together
    wire      the same for SQL clients, in PostgreSQL's protocol

Needs the extra ``rowspace[serve]``.
"""

from .access import Gate as Gate
from .access import json_only as json_only
from .app import create_app
from .logs import FAILURES_ONLY as FAILURES_ONLY
from .runner import address as address
from .runner import bound as bound
from .runner import run as run
from .service import serve
from .settings import Settings
from .shell import Refused as Refused
from .shell import dress as dress
from .shell import one_sentence as one_sentence
from .shell import problem as problem
from .shell import problem_page as problem_page
from .shell import require_same_origin as require_same_origin
from .shell import wants_page as wants_page
from .tokens import Holder as Holder
from .tokens import Role as Role
from .tokens import Tokens as Tokens
from .tokens import add as add
from .tokens import digest_of as digest_of
from .tokens import listed as listed
from .tokens import new_secret as new_secret
from .tokens import revoke as revoke

__all__ = [
    "Settings",
    "create_app",
    "serve",
]
