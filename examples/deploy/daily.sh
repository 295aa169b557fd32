#!/bin/sh
# What a store needs daily: audit, retention, a signed head to keep, a backup without the vault, a snapshot for quick
# replays, the log for others. docs/operate.md says why.
#
#   BRAID_STORE  the store
#   VKEY         file with the log's public key, as it was pinned when the store was made
#   BACKUP       folder on another disk; heads/, memory/ (the backup) and what was verified are kept in it
#   LOG          folder that is served to others ($BACKUP/log)
#   POLICY       witnesses that must cosign what is published, a tlog-policy (none; with it the network is needed)
#   SHARED       "--shared" where a service that shares the store is running
#
# Ends with the exit code of the first step that failed. Findings (1) end it before anything is erased, copied over the
# good backup, or shown to others. An alarm of the monitor (an erasure, a key) ends it last: it may be meant.
set -eu
umask 077
: "${BRAID_STORE:?}" "${VKEY:?}" "${BACKUP:?}"
log=${LOG:-$BACKUP/log}
mkdir -p "$BACKUP/heads"

braid verify --since --state "$BACKUP/verified.json" --key "$VKEY"
braid retain ${SHARED:-}
braid checkpoint ${SHARED:-} --out "$BACKUP/heads/$(date -u +%Y-%m-%d)"

braid backup "$BACKUP/memory" >/dev/null
# A copy has no guard of its own: the machine's is ahead of it as soon as the store goes on.
braid --store "$BACKUP/memory" --guard-dir "$BACKUP/no-guard" verify --hash-only --key "$VKEY" >/dev/null

braid snapshot >/dev/null
braid publish "$log" ${POLICY:+--policy "$POLICY"}
alarms=0
braid monitor "$log" --state "$BACKUP/seen" --key "$VKEY" || alarms=$?

braid doctor
exit "$alarms"
