-- models/visits.sql: the table that is counted, one row for every visit of the period. A release is no model: dbt runs
-- models again whenever it is asked to, and a release is paid for once.
{{ config(materialized="table") }}

select patient, age, ward
from {{ source("clinic", "raw_visits") }}
where to_char(visited, 'YYYY-MM') = '{{ var("period") }}'
