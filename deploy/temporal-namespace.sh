#!/bin/sh
# Makes the namespace where it is missing; the workers register their search attributes themselves.
set -eu

# The port is open a moment before the cluster answers.
attempt=1
until temporal operator cluster health; do
    [ "$attempt" -lt 30 ] || exit 1
    attempt=$((attempt + 1))
    sleep 2
done

temporal operator namespace describe --namespace "$NAMESPACE" >/dev/null 2>&1 ||
    temporal operator namespace create --namespace "$NAMESPACE" --retention "$RETENTION"
