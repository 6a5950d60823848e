"""The tables of PostgreSQL's catalogue that clients read, the one table of a study in them, and their functions."""

from __future__ import annotations

from typing import Any

from rowspace.domain import Categorical, Dates, Domain, Numeric

from .values import BOOL, FLOAT8, INT8, TEXT, quoted

TABLE = 16384
"""The number of the study's table."""

_TYPES = {
    16: "bool boolean",
    20: "int8 bigint",
    23: "int4 integer",
    25: "text text",
    701: "float8 double_precision",
}
_TYPES |= {1043: "varchar character_varying", 1082: "date date", 19: "name name", 26: "oid oid"}

# Name, and columns: v text, b boolean, else a whole number. Those that stay empty are read by psql and SQLAlchemy.
_TABLES = """
pg_namespace oid nspname:v nspowner nspacl:v
pg_class oid relname:v relnamespace relkind:v relowner relam reltype reloftype reltablespace relpages reltuples \
relchecks relhasindex:b relhasrules:b relhastriggers:b relhassubclass:b relrowsecurity:b relforcerowsecurity:b \
relispartition:b relispopulated:b relpersistence:v relreplident:v reltoastrelid reloptions:v \
relpartbound:v relacl:v relnatts
pg_attribute attrelid attname:v atttypid attnum attlen atttypmod attnotnull:b atthasdef:b attisdropped:b attislocal:b \
attidentity:v attgenerated:v attcollation attndims attstattarget attstorage:v attcompression:v attacl:v attoptions:v \
attfdwoptions:v
pg_type oid typname:v typnamespace typtype:v typcategory:v typlen typbasetype typrelid typelem typarray typnotnull:b \
typtypmod typcollation typdefault:v typdelim:v typisdefined:b typowner
pg_am oid amname:v amtype:v
pg_database oid datname:v datdba encoding datcollate:v datctype:v datacl:v datistemplate:b datallowconn:b \
datlocprovider:v daticulocale:v dattablespace
pg_roles oid rolname:v rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b rolcanlogin:b rolreplication:b \
rolconnlimit rolvaliduntil:v rolbypassrls:b
pg_attrdef oid adrelid adnum adbin:v
pg_collation oid collname:v collnamespace
pg_constraint oid conname:v connamespace conrelid contype:v conindid confrelid conkey:v confkey:v condeferrable:b \
condeferred:b convalidated:b conparentid
pg_description objoid classoid objsubid description:v
pg_enum oid enumtypid enumsortorder enumlabel:v
pg_index indexrelid indrelid indisprimary:b indisunique:b indisvalid:b indkey:v indoption:v indpred:v indisclustered:b \
indisreplident:b indnkeyatts indexprs:v
pg_inherits inhrelid inhparent inhseqno
pg_policy oid polname:v polrelid polcmd:v polpermissive:b polroles:v polqual:v polwithcheck:v
pg_proc oid proname:v pronamespace prokind:v prorettype
pg_publication oid pubname:v puballtables:b
pg_publication_rel oid prpubid prrelid
pg_range rngtypid rngsubtype
pg_rewrite oid rulename:v ev_class
pg_sequence seqrelid seqstart seqincrement seqmin seqmax seqcache seqcycle:b
pg_statistic_ext oid stxrelid stxname:v
pg_tablespace oid spcname:v
pg_trigger oid tgname:v tgrelid tgisinternal:b
pg_tables schemaname:v tablename:v tableowner:v hasindexes:b
pg_views schemaname:v viewname:v definition:v
pg_matviews schemaname:v matviewname:v
pg_settings name:v setting:v
information_schema.schemata catalog_name:v schema_name:v schema_owner:v
information_schema.tables table_catalog:v table_schema:v table_name:v table_type:v is_insertable_into:v
information_schema.columns table_catalog:v table_schema:v table_name:v column_name:v ordinal_position column_default:v \
is_nullable:v data_type:v character_maximum_length numeric_precision numeric_scale udt_schema:v udt_name:v
information_schema.views table_catalog:v table_schema:v table_name:v view_definition:v
information_schema.table_constraints constraint_name:v table_schema:v table_name:v constraint_type:v
information_schema.key_column_usage constraint_name:v table_schema:v table_name:v column_name:v
"""
_FUNCTIONS = """
pg_get_userbyid(a) 'rowspace'
pg_table_is_visible(a) true
pg_type_is_visible(a) true
pg_collation_is_visible(a) true
pg_function_is_visible(a) true
pg_get_expr(a, b, c := false) NULL
pg_get_indexdef(a, b := 0, c := false) NULL
pg_get_constraintdef(a, b := false) NULL
pg_get_viewdef(a, b := false) NULL
pg_get_partkeydef(a) NULL
pg_get_serial_sequence(a, b) NULL
pg_relation_is_publishable(a) false
pg_relation_size(a, b := '') 0
pg_total_relation_size(a) 0
pg_table_size(a) 0
pg_size_pretty(a) '0 bytes'
pg_encoding_to_char(a) 'UTF8'
pg_is_in_recovery() false
pg_backend_pid() 0
pg_my_temp_schema() 0
pg_advisory_unlock_all() NULL
obj_description(a, b := '') NULL
col_description(a, b) NULL
shobj_description(a, b) NULL
has_schema_privilege(a, b, c := '') true
has_table_privilege(a, b, c := '') true
has_database_privilege(a, b, c := '') true
set_config(a, b, c) b
quote_ident(a) a
"""
OWN_FUNCTIONS = frozenset(
    {"format_type", *(line.partition("(")[0] for line in _FUNCTIONS.split("\n") if line)}
)
"""Their names."""


def lay_out(database: Any, domain: Domain, name: str) -> None:
    """Make the tables and functions, for a table of this name and the attributes of a domain."""
    run = database.execute
    run("CREATE SCHEMA pg; CREATE SCHEMA info")
    kinds = {"v": "VARCHAR", "b": "BOOLEAN", "": "BIGINT"}
    for line in _TABLES.replace("\\\n", " ").strip().splitlines():
        own, *columns = line.split()
        each = (column.partition(":") for column in columns)
        run(f"CREATE TABLE {_place(own)} ({', '.join(f'{c} {kinds[kind]}' for c, _, kind in each)})")
    for line in _FUNCTIONS.strip().splitlines():
        call, _, value = line.partition(") ")
        run(f"CREATE MACRO {call}) AS {value}")
    spelt = " ".join(f"WHEN {oid} THEN {quoted(_type(oid))}" for oid in _TYPES)
    run(f"CREATE MACRO format_type(a, b) AS CASE a {spelt} ELSE '???' END")

    def add(table: str, **values: Any) -> None:
        names, places = ", ".join(values), ", ".join("?" * len(values))
        run(f"INSERT INTO {_place(table)} ({names}) VALUES ({places})", list(values.values()))

    add("pg_namespace", oid=11, nspname="pg_catalog", nspowner=10)
    add("pg_namespace", oid=2200, nspname="public", nspowner=10)
    add("pg_am", oid=2, amname="heap", amtype="t")
    add(
        "pg_roles",
        oid=10,
        rolname="rowspace",
        rolsuper=False,
        rolinherit=True,
        rolcanlogin=True,
        rolconnlimit=-1,
    )
    add(
        "pg_database",
        oid=5,
        datname="rowspace",
        datdba=10,
        encoding=6,
        datallowconn=True,
        datistemplate=False,
    )
    for oid, words in _TYPES.items():
        zero = dict.fromkeys(("typbasetype", "typrelid", "typelem", "typarray", "typcollation"), 0)
        more = {"typnamespace": 11, "typtype": "b", "typcategory": "S", "typlen": -1, "typtypmod": -1}
        add("pg_type", oid=oid, typname=words.split()[0], typisdefined=True, **zero, **more)
    _add_table(add, domain, name)


def _add_table(add: Any, domain: Domain, name: str) -> None:
    """The one table, and its columns."""
    never = ("relhasindex", "relhasrules", "relhastriggers", "relhassubclass", "relrowsecurity")
    no = dict.fromkeys((*never, "relforcerowsecurity", "relispartition"), False)
    some = {
        "relkind": "r",
        "relowner": 10,
        "relam": 2,
        "relchecks": 0,
        "reltuples": -1,
        "relpersistence": "p",
    }
    some |= {
        "relreplident": "d",
        "reloftype": 0,
        "reltablespace": 0,
        "reltoastrelid": 0,
        "relispopulated": True,
    }
    add("pg_class", oid=TABLE, relname=name, relnamespace=2200, relnatts=len(domain.names), **some, **no)
    add("pg_tables", schemaname="public", tablename=name, tableowner="rowspace", hasindexes=False)
    whole = {"table_catalog": "rowspace", "table_schema": "public", "table_name": name}
    add("information_schema.schemata", catalog_name="rowspace", schema_name="public", schema_owner="rowspace")
    add("information_schema.tables", **whole, table_type="BASE TABLE", is_insertable_into="NO")
    for number, own in enumerate(domain.names, start=1):
        oid = _oid_of(domain[own])
        zero: dict[str, Any] = {"attcollation": 0, "attndims": 0, "attidentity": "", "attgenerated": ""}
        zero |= dict.fromkeys(("attnotnull", "atthasdef", "attisdropped"), False)
        add("pg_attribute", attrelid=TABLE, attname=own, atttypid=oid, attnum=number, atttypmod=-1, **zero)
        more = {"is_nullable": "YES", "data_type": _type(oid), "udt_name": _TYPES[oid].split()[0]}
        add("information_schema.columns", **whole, column_name=own, ordinal_position=number, **more)


def _place(name: str) -> str:
    return f"info.{name.partition('.')[2]}" if "." in name else f"pg.{name}"


def _type(oid: int) -> str:
    return _TYPES[oid].split()[1].replace("_", " ")


def _oid_of(attribute: object) -> int:
    match attribute:
        case Dates():
            return 1082
        case Categorical():
            kinds = {type(label) for label in attribute.cell_labels}
            return BOOL if kinds == {bool} else INT8 if kinds == {int} else TEXT
        case Numeric() if attribute.integer:
            return INT8
    return FLOAT8
