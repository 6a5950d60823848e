"""Questions over HTTP and SQL: one study, one ledger, many analysts. Prices, answers and budgets are the session's.

    settings  what a service is started with     tokens   who may ask, how much, until when
    desk      requests to one `Session`          access   tokens, roles, rates
    api       JSON, with its OpenAPI document    pages    the page for analysts
    shell     what all our pages share           runner   a socket and uvicorn
    logs, metrics                                app      all of it together
    wire      the same for SQL clients, in PostgreSQL's protocol

Needs the extra ``rowspace[serve]``.
"""

from .app import create_app
from .service import serve
from .settings import Settings

__all__ = ["Settings", "create_app", "serve"]
