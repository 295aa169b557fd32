// What the control records come to: keys and their lives, erasures, log keys (SPEC §3.4, §3.5).

import { isWhole, need, unbase64 } from "./encodings.mjs";
import { authorId, checkKey, parseVkey, signedBy } from "./keys.mjs";
import { isKnown } from "./record.mjs";

const WORDS = new Set(["experience", "view", "stance", "affect", "embedding", "event"]);
const MAY_SIGN = {
  root: new Set(["genesis", "key"]),
  operator: new Set(["tombstone", "event"]),
  recorder: WORDS, user: WORDS, agent: WORDS, tool: WORDS,
};
const OPS = {
  genesis: ["genesis"],
  key: ["admit", "revoke", "log_key", "retire_log_key"],
  tombstone: ["forget", "recover", "erase"],
  event: ["clock", "certify"],
};

export class Control {
  origin = "";
  genesis = null;
  keys = new Map();
  /** Verifier key → the index from which on it signs heads, and the one behind which it no longer does. */
  logKeys = new Map();
  erased = new Map();
  epochs = new Map();
  certified = new Map();

  /** [kind of finding, sentence] where a record's key may not sign it at its index, or null. */
  refusal(record, index) {
    const key = this.keys.get(record.key);
    if (!key) return ["signature", `key ${record.key} was never admitted to this log`];
    if (index < key.admitted) return ["signature", `key ${record.key} was admitted only at ${key.admitted}`];
    if (key.revoked !== null && index > key.revoked) {
      return ["signature", `key ${record.key} was revoked at ${key.revoked}`];
    }
    const operates = !record.isControl || key.role === "root" || key.role === "operator";
    if (isKnown(record.kind) && !(MAY_SIGN[key.role].has(record.kind) && operates)) {
      return ["key-role", `a key of role ${key.role} may not sign this ${record.kind}`];
    }
    return null;
  }

  /** Fold a control record in; refuse an unlawful one. */
  take(record, links) {
    const lawful = Object.hasOwn(OPS, record.kind) && OPS[record.kind].includes(record.op);
    need(lawful, `a ${record.kind} has no operation ${JSON.stringify(record.op)}`);
    if (record.op === "genesis") this.open(record);
    else this[record.op](record, record.public, links);
  }

  open(record) {
    const shown = record.public;
    need(record.index === 0 && !this.keys.size, "genesis stands at index 0 alone");
    const { vkey, public: own } = parseVkey(shown.get("log_vkey"));
    const roots = shown.get("root_keys");
    need(isWhole(shown.get("retention_days")) && Array.isArray(roots), "its public part is malformed");
    const keys = roots.map((text) => checkKey(unbase64(text, 32)));
    need(!keys.some((key) => key.equals(own)), "the log's key is a root key");
    [this.genesis, this.origin] = [record, record.origin];
    this.logKeys.set(vkey, [0, null]);
    for (const key of keys) {
      this.keys.set(authorId(key), { key, role: "root", admitted: 0, revoked: null, disputed: null });
    }
  }

  admit(record, shown) {
    const [id, role] = [shown.get("id"), shown.get("role")];
    const key = checkKey(unbase64(shown.get("key"), 32));
    const known = Object.hasOwn(MAY_SIGN, role) && role !== "root";
    need(authorId(key) === id && !this.keys.has(id) && known, "the admission is not lawful: id, role or repetition");
    const shared = [...this.logKeys.keys()].some((vkey) => parseVkey(vkey).public.equals(key));
    need(!shared, "the author's key is the log's");
    const said = Buffer.from(`braid/key-possession/v1\n${this.origin}\n${id}\n${role}\n`);
    need(signedBy(key, said, unbase64(shown.get("proof"), 64)), "the proof of possession does not hold");
    this.keys.set(id, { key, role, admitted: record.index, revoked: null, disputed: null });
  }

  revoke(record, shown) {
    const key = this.keys.get(shown.get("id"));
    const since = shown.get("compromised_since") ?? null;
    need(key && (since === null || isWhole(since)), "its public part is malformed");
    key.revoked ??= record.index;
    if (since !== null) key.disputed = key.disputed === null ? since : Math.min(since, key.disputed);
  }

  log_key(record, shown) {
    const { name, vkey, public: own } = parseVkey(shown.get("vkey"));
    need(name === this.origin && !this.logKeys.has(vkey), "the log key is another log's, or known");
    need(![...this.keys.values()].some(({ key }) => key.equals(own)), "the log key is an author's");
    this.logKeys.set(vkey, [record.index, null]);
  }

  retire_log_key(record, shown) {
    const life = this.logKeys.get(shown.get("vkey"));
    const others = [...this.logKeys.values()].some((one) => one !== life && one[1] === null);
    need(life && life[1] === null && others, "the log key is retired already, or the only one");
    life[1] = record.index;
  }

  /** The log keys that must sign a head of this size. */
  signing(size) {
    return [...this.logKeys]
      .filter(([, [since, until]]) => since < size && (until === null || size <= until))
      .map(([vkey]) => vkey);
  }

  forget() {}

  recover() {}

  clock() {}

  erase(record, shown, links) {
    need(isWhole(shown.get("epoch")), "its public part is malformed");
    this.epochs.set(record.index, shown.get("epoch"));
    for (const { role, index } of links) if (role === "target" && !this.erased.has(index)) this.erased.set(index, record.index);
  }

  certify(record, shown) {
    const erase = shown.get("erase");
    need(this.epochs.has(erase), "the certificate names no erasure");
    if (!this.certified.has(erase)) this.certified.set(erase, record.index);
  }
}
