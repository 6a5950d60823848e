#!/bin/sh
# Build a table with dbt, then release it: safe to run again, however it ended.
#
# The id names what was built, not the moment: dbt's own invocation id would be another one in every try. Exit code 75
# is tried again here; everything else is the end, since it would end so again.
set -eu

period=${1:?which period, such as 2024-05}
dbt build --select visits --vars "{period: '$period'}"

tries=0
while :; do
    code=0
    rowspace release study.toml --dataset visits --request-id "visits-$period" \
        -o "visits-$period.release" --quiet --log json || code=$?
    tries=$((tries + 1))
    [ "$code" -eq 75 ] && [ "$tries" -lt 6 ] || exit "$code"
    sleep $((tries * 30))
done
