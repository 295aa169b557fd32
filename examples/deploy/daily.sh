#!/bin/sh
# One day's round of a store: audit, retention, a signed head to keep, a backup without the vault. docs/operate.md says why.
#
#   BRAID_STORE  the store
#   VKEY         file with the log's public key, as it was pinned when the store was made
#   BACKUP       folder on another disk; heads/ and copies/ are made in it
#   KEEP         how many daily copies stay (7)
#   SHARED       "--shared" where a service that shares the store is running
#
# Ends with the exit code of the first step that failed. Findings (1) end it before anything is erased, or an older,
# good copy is let go.
set -eu
umask 077
: "${BRAID_STORE:?}" "${VKEY:?}" "${BACKUP:?}"
day=$(date -u +%Y-%m-%d)
mkdir -p "$BACKUP/heads" "$BACKUP/copies"

braid verify --since --state "$BACKUP/verified.json" --key "$VKEY"
braid retain ${SHARED:-}
braid checkpoint ${SHARED:-} --out "$BACKUP/heads/$day"

rm -rf "$BACKUP/copies/$day" "$BACKUP/copies/.unfinished"
braid export --audit "$BACKUP/copies/.unfinished"
# A copy has no guard of its own: the machine's is ahead of it as soon as the store goes on.
braid --store "$BACKUP/copies/.unfinished" --guard-dir "$BACKUP/no-guard" verify --hash-only --key "$VKEY" >/dev/null
mv "$BACKUP/copies/.unfinished" "$BACKUP/copies/$day"
ls "$BACKUP/copies" | sort -r | tail -n +$((${KEEP:-7} + 1)) | while read -r old; do rm -rf "$BACKUP/copies/$old"; done

braid doctor
