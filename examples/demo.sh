#!/bin/sh
# The guided tour of Braid, in ./demo: a conversation goes in, is replayed, asked, verified, proved, erased in part.
# Needs only the command `braid` on the PATH (`make demo` sees to that). You may run it again: it starts over each time.
set -eu

examples=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
demo=$PWD/demo
mkdir -p "$demo"
cd "$demo"
rm -rf ./memory ./guard ./elsewhere
export BRAID_STORE=./memory BRAID_GUARD_DIR="$demo/guard"
unset BRAID_PASSPHRASE_FILE || :

bold= plain=
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); fi
step=0
tell() {
  step=$((step + 1))
  printf '\n%s%d. %s%s\n' "$bold" "$step" "$1" "$plain"
}
run() {
  printf '$ braid'
  for word; do case $word in *[!A-Za-z0-9./_:=@+-]*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac; done
  printf '\n'
  braid "$@"
}
value() { braid "$@" -o csv 2>/dev/null | tail -n 1; }

tell 'A new store: a signed log with keys of its own. Pin the vkey, back up the vault, keep the guard elsewhere.'
run init
vkey=$(braid status -o csv | sed -n 's/^vkey,//p')

tell 'Several weeks of a personal assistant go in: each turn a signed record under a Merkle tree.'
run ingest "$examples/assistant.jsonl" --user-id jonas

tell 'The log is replayed into DuckDB: a projection that can be thrown away.'
run replay

tell 'A question in SQL. Jonas moves house midway; the log keeps what he said, and when.'
run sql "SELECT occurred_at, text FROM experiences WHERE name = 'Jonas Adeyemi' AND text LIKE '%I live in%' ORDER BY occurred_at"

tell 'The whole log is verified from its files: every byte, signature, hash and signed head.'
run verify

tell 'One record is proved in another folder, without the store: only the proof and the pinned key.'
record=$(value sql "SELECT id FROM experiences WHERE external_id = 'asst-025'")
mkdir -p elsewhere
run prove "$record" --out elsewhere/record.tlog-proof
(cd elsewhere && unset BRAID_STORE BRAID_GUARD_DIR && run check-proof record.tlog-proof --key "$vkey")

tell 'That record said something about the health of somebody else. An inference was drawn from it.'
run show "$record"
run append 'Cook without shellfish.' --type inference --actor agent --parent "$record" --user-id jonas

tell 'To erase it: first what would go, with what derives from it alone; then for good.'
run erase "$record" --dry-run
run erase "$record" --reason 'said in error' --yes

tell 'It is gone: reads refuse it, the projection was rebuilt without it, its key no longer exists.'
if run show "$record"; then exit 1; fi
run sql "SELECT count(*) AS left_over FROM experiences WHERE text LIKE '%is allergic to shellfish%' OR text LIKE 'Cook without%'"

tell 'The log still verifies, the old proof too: what was erased is the content, not that there was a record.'
run verify --deep
(cd elsewhere && unset BRAID_STORE BRAID_GUARD_DIR && run check-proof record.tlog-proof --key "$vkey" -o csv)

printf '\nThe store is in %s. Look around: cd demo; braid log; braid status; braid --help\n' "$demo/memory"
