"""The same desk for SQL clients: PostgreSQL's protocol (version 3), so that psql and BI tools can ask.

    messages    bytes to messages and back, within bounds     values      types, text and binary forms, parameters
    statements  texts cut into statements, hints, places      variables   SET and SHOW, transactions
    clerk       one statement, asked of the desk              catalogue   what clients ask about tables and columns
    connection  one client, from greeting to farewell         door        a socket, limits, the end of a process

Nothing here prices, charges or answers: tokens, roles, rates, caps and keys are those of HTTP.
"""

from .door import Door

__all__ = ["Door"]
