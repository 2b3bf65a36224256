-- one row per table, view and column that has a comment
select table_name as place, comment
from duckdb_tables()
where comment is not null
union all
select view_name, comment
from duckdb_views()
where comment is not null
union all
select concat(table_name, '.', column_name), comment
from duckdb_columns()
where comment is not null;
