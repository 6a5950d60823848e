"""What clients ask about tables and columns, and without any table: answered from the study alone, never from the data.

psql's \\d and BI tools read PostgreSQL's catalogue. A database in memory has the tables of it that they read, with
the one table of the study in them, and nothing else; its files, settings and extensions are locked, and it is only
read: all clients share it. What it cannot answer, and what calls a function that may not end soon, gets no rows under
the names that were selected: clients then show nothing, and go on.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import duckdb
from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from rowspace.domain import Domain
from rowspace.workload.sql_queries import SqlText, name_of, require_shallow

from .catalogue_tables import OWN_FUNCTIONS, TABLE, lay_out
from .values import BOOL, FLOAT8, INT8, TEXT, Column

_SECONDS, _ROWS = 2.0, 10_000
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "threads": "1",
    "memory_limit": "64MB",
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
_READABLE = """
select from join where group having order ordered limit offset distinct with cte union except intersect subquery values
tuple table tablealias window lateral alias column columndef identifier objectidentifier dot star literal null boolean
bytestring datatype paren in between escape eq neq lt lte gt gte is not neg nullsafeeq nullsafeneq add sub mul div mod
dpipe like ilike operator any all bracket slice
"""
_CALLABLE = """
and or case if cast collate exists array coalesce nullif count min max sum avg array_agg group_concat logical_and
logical_or explode unnest generate_subscripts array_to_string array_length array_upper row_number rank lower upper
length char_length substring trim concat regexp_like current_setting current_schemas current_date json_build_object
"""
_PARTS, _FUNCTIONS = frozenset(_READABLE.split()), OWN_FUNCTIONS | frozenset(_CALLABLE.split())
"""What a query may be made of and may call, as sqlglot names it: no timer ends one call, so each must end soon."""


def is_catalogue(tree: exp.Expr) -> bool:
    """Whether a query is about no table, or about those of the catalogue alone."""
    named = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    tables = [table for table in tree.find_all(exp.Table) if table.name.lower() not in named]
    return all(
        table.db.lower() in ("pg_catalog", "information_schema")
        or (not table.db and (table.name.lower().startswith("pg_") or isinstance(table.this, exp.Func)))
        for table in tables
    )


def parsed(text: str) -> exp.Expr | None:
    """A query as a tree; None for what is no SQL: whoever reads it then says why."""
    require_shallow(SqlText(text))
    try:
        return parse_one(text, dialect="postgres")
    except (SqlglotError, RecursionError):
        return None


class Catalogue:
    """The catalogue of one study. name: what its table is called."""

    def __init__(self, domain: Domain, name: str) -> None:
        self._database = duckdb.connect(":memory:", config=_CONFIG)
        self._name = name
        lay_out(self._database, domain, name)
        self._database.execute("SET lock_configuration = true")

    def answer(
        self, tree: exp.Expr, constants: Mapping[str, Any]
    ) -> tuple[list[Column], list[tuple[Any, ...]]]:
        """The columns and rows of a query. constants: what functions such as version() give."""
        top = tree.find(exp.Select)
        names = [name_of(item) for item in top.expressions] if top is not None else ["column1"]
        empty = [Column(name) for name in names]
        if not _is_reading(tree, constants):
            return empty, []
        try:
            sql = self._rewritten(tree.copy(), constants).sql(dialect="duckdb")
            found, rows = self._run(sql)
        except (duckdb.Error, SqlglotError, RecursionError):
            return empty, []
        names = names if len(names) == len(found) else [str(one[0]) for one in found]
        return [Column(name, _kind(one[1])) for name, one in zip(names, found, strict=True)], rows

    def _run(self, sql: str) -> tuple[list[Any], list[tuple[Any, ...]]]:
        """Run what is left of a query, for a while."""
        with self._database.cursor() as cursor:
            end = threading.Timer(_SECONDS, cursor.interrupt)
            end.start()
            try:
                cursor.execute("BEGIN TRANSACTION READ ONLY")
                cursor.execute(sql)
                return list(cursor.description), cursor.fetchmany(_ROWS)
            finally:
                end.cancel()

    def _rewritten(self, tree: exp.Expr, constants: Mapping[str, Any]) -> exp.Expr:
        """The query in words that the database in memory knows."""

        def own(node: Any) -> Any:
            match node:
                case exp.Dot() if node.name and node.this.name.lower() == "pg_catalog":
                    return node.expression.transform(own)
                case exp.Table() if isinstance(node.this, exp.Identifier):
                    info = node.db.lower() == "information_schema"
                    if info or node.name.lower().startswith("pg_"):
                        node.set("db", exp.to_identifier("info" if info else "pg"))
                case exp.Collate():
                    return node.this.transform(own)
                case exp.Operator() if "~" in str(node.args.get("operator")):
                    both = (node.this.transform(own), node.expression.transform(own))
                    return exp.RegexpLike(this=both[0], expression=both[1])
                case exp.Cast():
                    return self._cast(node.this.transform(own), node)
                case exp.Func():
                    return _known_function(node, constants)
                case exp.Column():
                    return _known_column(node, constants)
            return node

        found: exp.Expr = tree.transform(own)
        return found

    def _cast(self, value: Any, node: Any) -> Any:
        """A cast to a type that only PostgreSQL has, as what it comes to."""
        kind = node.to.sql(dialect="postgres").lower().replace("pg_catalog.", "").strip('"')
        if kind.startswith("reg"):
            if not (isinstance(value, exp.Literal) and value.is_string):
                return value
            name = str(value.this).rpartition(".")[2].strip('"')
            return exp.convert({self._name: TABLE, "pg_class": 1259, "pg_namespace": 2615}.get(name, 0))
        kinds = {"oid": "BIGINT", "xid": "BIGINT", "name": "VARCHAR", "char": "VARCHAR", "text": "VARCHAR"}
        return exp.cast(value, kinds.get(kind, node.to))


def _is_reading(tree: exp.Expr, constants: Mapping[str, Any]) -> bool:
    """Whether a query is made of what is known to read, and to end soon."""
    if not isinstance(tree, exp.Query | exp.Values) or any(own.recursive for own in tree.find_all(exp.With)):
        return False
    return all(
        _called(node) in _FUNCTIONS or _called(node) in constants
        if isinstance(node, exp.Func)
        else node.key in _PARTS
        for node in tree.walk()
    )


def _known_function(node: Any, constants: Mapping[str, Any]) -> Any:
    """A call whose result is known here as that result."""
    name = _called(node)
    if name == "json_build_object":
        return exp.Null()  # of sequences and collations, which no column has
    if name in constants:
        return exp.convert(constants[name])
    if name == "current_setting" and node.expressions:
        return exp.convert(constants.get(f"={node.expressions[0].name.lower()}"))
    return node


def _known_column(node: Any, constants: Mapping[str, Any]) -> Any:
    """A word that PostgreSQL reads as a constant as that constant; a column without its schema."""
    if node.db:
        node.set("db", None)
    elif not node.table and node.name.lower() in constants and not node.this.args.get("quoted"):
        return exp.convert(constants[node.name.lower()])
    return node


def _called(node: exp.Func) -> str:
    return (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()


def _kind(code: Any) -> int:
    name = str(code)
    if name == "BOOLEAN":
        return BOOL
    if name in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UINTEGER", "UBIGINT", "USMALLINT", "UTINYINT"):
        return INT8
    return FLOAT8 if name.startswith(("DOUBLE", "FLOAT", "DECIMAL")) else TEXT
