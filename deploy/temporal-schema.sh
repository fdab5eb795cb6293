#!/bin/sh
# Brings Temporal's two databases to the schema of this server version; safe to repeat.
set -eu

schema=/etc/temporal/schema/postgresql/v12

prepare() { # database, folder of its schema
    sql() { temporal-sql-tool --plugin postgres12 --ep temporal-db -p 5432 -u temporal --db "$@"; }
    sql "$1" create
    sql "$1" setup-schema -v 0.0
    sql "$1" update-schema -d "$schema/$2/versioned"
}

prepare temporal temporal
prepare temporal_visibility visibility
