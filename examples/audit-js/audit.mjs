// A second audit of a Braid log, in another language: what SPEC.md §11.1 says, with nothing but Node's own crypto.
// Findings have a kind (SPEC §11.5) and the index of a record; bad data never ends an audit.

import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { blake3 } from "./blake3.mjs";
import { Control } from "./control.mjs";
import { BadData, isSize, need, readJson, runs, unbase64 } from "./encodings.mjs";
import { readFrames, readSegmentHeader, tornAt } from "./frames.mjs";
import { authorId, checkKey, openHead, parseVkey } from "./keys.mjs";
import { TYPES, isKnown, isSigned, linkProblem, parseEnvelope, problem, readList } from "./record.mjs";
import { above, inclusionHolds, leafHash, rootOf, severalLead, sha256, tilePath } from "./tree.mjs";

class Blind extends Error {}

const SETTINGS = new Set(["format", "store_id", "origin", "durability", "durability_record", "vault"]);
const DURABILITIES = new Set(["always", "interval", "none"]);
const NO_MEMORIES = new Set(["genesis", "key", "tombstone"]);
const BLOB = /^[0-9a-f]{64}$/;

/** A file's bytes; no link is followed, no pipe waited for: somebody else may have made the folder. */
function readPlain(path) {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!fstatSync(descriptor).isFile()) throw Object.assign(new Error(path), { code: "it is no plain file" });
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Whether `step` refuses; what it says is given to `tell`. */
function refused(step, tell) {
  try {
    step();
    return false;
  } catch (error) {
    if (!(error instanceof BadData || error instanceof RangeError)) throw error;
    tell(error.message);
    return true;
  }
}

function* notesOf(data) {
  for (let at = 0; at < data.length; ) {
    const gap = data.indexOf("\n\n", at);
    const end = gap >= 0 ? data.indexOf("\n\n", gap + 2) : -1;
    if (end < 0) {
      yield [data.subarray(at), true];
      return;
    }
    yield [data.subarray(at, end + 1), false];
    at = end + 2;
  }
}

/** A vault's epoch and, where it is in the clear, its nodes; never a seed (§4.3). */
function readVault(data, storeId) {
  need(data.length >= 128 && data.toString("latin1", 0, 8) === "BRAIDVLT" && data.readUInt16LE(8) === 1, "not a vault of format 1");
  need(blake3(data.subarray(0, 96), data.subarray(128)).equals(data.subarray(96, 128)), "the vault's check does not hold");
  const mode = data.readUInt16LE(10);
  const length = Number(data.readBigUInt64LE(40));
  need(mode <= 1 && !data.readUInt32LE(12) && length === data.length - 128, "the vault's header contradicts itself");
  need(data.subarray(16, 32).equals(Buffer.from(storeId)), "the vault belongs to another store");
  const epoch = Number(data.readBigUInt64LE(32));
  const nodes = new Set();
  if (mode) return { epoch, nodes };
  need(length >= 48, "the vault's payload is short");
  const count = Number(data.readBigUInt64LE(168));
  need(data.readUInt32LE(160) === 40 && !data.readUInt32LE(164) && 48 + 40 * count === length, "the vault's payload contradicts itself");
  let behind = 0;
  for (let at = 176; at < data.length; at += 40) {
    const node = Number(data.readBigUInt64LE(at));
    need(node > 0 && node < 2 ** 41, "the vault names no such node");
    const span = 2 ** (40 - Math.floor(Math.log2(node)));
    need(node * span >= behind, "the vault's nodes overlap");
    behind = (node + 1) * span;
    nodes.add(node);
  }
  return { epoch, nodes };
}

class Audit {
  findings = [];
  notes = [];
  settings = {};
  segments = [];
  guard = null;
  /** Published head, guard's and history's, each with the name of where it comes from. */
  heads = [];
  leaves = [];
  records = new Map();
  links = new Map();
  bodies = new Map();
  entries = new Map();
  unread = new Set();
  authors = new Map();
  candidates = new Map();
  control = new Control();
  controls = [];
  end = 0;

  constructor(folder, vkey, guard) {
    Object.assign(this, { folder, pinned: vkey ?? null, guardPath: guard ?? null });
  }

  find(kind, message, index = null, { file = null, count = 1 } = {}) {
    this.findings.push({ kind, message, index, file, count });
  }

  /** A file's bytes; null if it doesn't exist. */
  read(name) {
    try {
      return readPlain(join(this.folder, name));
    } catch (error) {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
      throw new Blind(`${name}: ${error.code}`);
    }
  }

  run() {
    const blind = [];
    try {
      this.readSettings();
      this.readSegments();
      this.gatherKeys();
      this.readHeads();
      this.cutTail();
      this.readRecords();
      this.judgeOrder();
      this.judgeTree();
      this.judgeHeads();
      this.judgeErasures();
      this.judgeBlobs();
      this.judgeVault();
    } catch (error) {
      if (!(error instanceof Blind)) throw error;
      blind.push(error.message);
    }
    this.findings.sort((a, b) => (a.index ?? -1) - (b.index ?? -1));
    return {
      exit_code: this.findings.length ? 1 : blind.length ? 2 : 0,
      folder: this.folder,
      findings: this.findings,
      notes: this.notes,
      could_not_look: blind,
      records: this.records.size,
      size: this.end,
      root: this.end ? rootOf(this.leaves.slice(0, this.end)).toString("hex") : "",
      origin: this.settings.origin ?? "",
      vkeys: [...this.control.logKeys.keys()],
    };
  }

  // 1. settings (§1.1)

  readSettings() {
    const data = this.read("store.json");
    if (data === null) throw new Blind("there is no store.json: this is neither a store nor an auditor's copy");
    let settings;
    if (refused(() => (settings = Object.fromEntries(readJson(data))), () => {})) {
      throw new Blind("store.json is damaged");
    }
    const named = ["store_id", "origin"].every((name) => typeof settings[name] === "string" && settings[name]);
    const texts = ["vault", "durability", "durability_record"].every(
      (name) => !(name in settings) || typeof settings[name] === "string",
    );
    if (settings.format !== 1 || !named || !texts) throw new Blind("store.json is not of format 1");
    const unknown = Object.keys(settings).find((name) => !SETTINGS.has(name));
    if (unknown !== undefined) throw new Blind(`store.json is damaged: it has an unknown member ${JSON.stringify(unknown)}`);
    if (!DURABILITIES.has(settings.durability ?? "always")) {
      throw new Blind("store.json is damaged: it names no durability of this format");
    }
    this.settings = settings;
  }

  // 3. segments (§2)

  readSegments() {
    const folder = join(this.folder, "log");
    const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".seg")).sort() : [];
    for (const name of names) {
      const data = this.read(`log/${name}`) ?? Buffer.alloc(0);
      if (name === names.at(-1) && names.length > 1 && data.length < 64) {
        this.notes.push(`log/${name} was being made: it holds nothing`);
        break;
      }
      const named = /^[0-9]{12}\.seg$/.test(name) ? Number(name.slice(0, 12)) : null;
      const { first, wrong } = readSegmentHeader(data, named, this.settings.store_id);
      if (wrong) this.find("segment", wrong, null, { file: `log/${name}` });
      if (first !== null) this.segments.push({ name, first, data, seen: readFrames(data) });
    }
  }

  /** Gather the public keys that control records name. Nothing is believed: ids are hashes of keys. */
  gatherKeys() {
    for (const { seen } of this.segments) {
      for (const { records = [] } of seen) for (const { stored } of records) this.gather(stored);
    }
  }

  gather(stored) {
    let shown = new Map();
    refused(() => (shown = parseEnvelope(stored).public), () => {});
    const keys = shown.get("op") === "genesis" ? shown.get("root_keys") : [shown.get("key")];
    for (const text of Array.isArray(keys) ? keys : []) {
      refused(() => {
        const key = checkKey(unbase64(text, 32));
        this.authors.set(authorId(key), key);
      }, () => {});
    }
    for (const text of [shown.get("log_vkey"), shown.get("vkey")]) {
      refused(() => this.candidates.set(text, parseVkey(text)), () => {});
    }
  }

  // 2. signed heads (§5.3, §6)

  readHeads() {
    const { origin } = this.settings;
    if (this.guardPath !== null) this.readGuard();
    if (this.pinned === null) this.notes.push("no key was pinned: the log's key is believed because genesis names it");
    for (const text of [this.pinned, this.guard?.vkey ?? null]) {
      const tell = (why) => this.find("checkpoint", `there is no key to check heads with: ${why}`);
      if (text !== null && refused(() => this.candidates.set(text, parseVkey(text)), tell)) return;
    }
    const keys = [...this.candidates.values()];
    const note = this.read("checkpoint");
    const file = "checkpoint";
    if (note === null) this.find("checkpoint", "the published head is missing", null, { file });
    else {
      refused(
        () => this.heads.push({ name: file, ...openHead(note, keys, origin) }),
        (why) => this.find("checkpoint", why, null, { file }),
      );
    }
    const history = this.read("checkpoints");
    if (history === null) this.notes.push("there is no history of heads");
    for (const [one, last] of notesOf(history ?? Buffer.alloc(0))) {
      refused(
        () => this.heads.push({ name: "checkpoints", ...openHead(one, keys, origin) }),
        (why) =>
          last
            ? this.notes.push("the history of heads ends in an unfinished entry")
            : this.find("checkpoint", why, null, { file: "checkpoints" }),
      );
    }
  }

  readGuard() {
    const file = this.guardPath;
    if (!existsSync(file)) {
      this.notes.push(`there is no guard at ${file}`);
      return;
    }
    const data = readFileSync(file);
    const tell = (why) => this.find("guard", why, null, { file });
    let guard;
    const damaged = refused(() => {
      const end = data.lastIndexOf("\nblake3 ");
      need(end >= 0, "the guard is damaged");
      const check = `\nblake3 ${blake3(data.subarray(0, end)).toString("hex")}\n`;
      need(data.toString("latin1", end) === check, "the guard is damaged");
      guard = Object.fromEntries(readJson(data.subarray(0, end)));
      const texts = ["origin", "vkey", "root", "checkpoint"].every((name) => typeof guard[name] === "string");
      const { log_keys: more = [] } = guard;
      const named = Array.isArray(more) && more.every((one) => typeof one === "string");
      need(texts && named && isSize(guard.size) && isSize(guard.vault_epoch), "the guard is not one of this format");
    }, tell);
    if (damaged) return;
    this.guard = guard;
    if (guard.origin !== this.settings.origin) tell(`the guard is of ${JSON.stringify(guard.origin)}`);
    refused(() => {
      const keys = [parseVkey(guard.vkey), ...this.candidates.values()];
      const head = openHead(Buffer.from(guard.checkpoint), keys, guard.origin);
      const same = head.size === guard.size && head.root.toString("hex") === guard.root;
      need(same, "the guard contradicts the signed head in it");
      this.heads.push({ name: "guard", ...head });
    }, tell);
  }

  head(name) {
    return this.heads.find((head) => head.name === name);
  }

  /** Records that the published head covers. */
  get published() {
    return this.head("checkpoint")?.size ?? 0;
  }

  /** Records that the published head or the guard covers. */
  get covered() {
    return Math.max(this.published, this.head("guard")?.size ?? 0);
  }

  cutTail() {
    if (!this.segments.length) {
      this.find("segment", "the log has no segment that can be read", null, { file: "log" });
      return;
    }
    if (this.segments[0].first !== 0) this.find("segment", "the log's first segment is missing", 0);
    const last = this.segments.at(-1);
    const torn = tornAt(last, this.covered);
    if (torn === null) return;
    const behind = last.data.subarray(torn);
    if (behind.some((byte) => byte !== 0)) // only zeros: room that a writer kept (§2.6)
      this.notes.push(`${behind.length} bytes of an unfinished transaction end the log`);
    last.seen = last.seen.filter((seen) => seen.at < torn);
  }

  // 4. every record

  readRecords() {
    let lastTx = -1;
    let time = "";
    const total = this.segments.reduce((sum, { data }) => sum + data.length, 0);
    for (const segment of this.segments) {
      const file = `log/${segment.name}`;
      for (const seen of segment.seen) {
        if (seen.gap) {
          this.find("frame", `${seen.gap}; ${seen.end - seen.at} bytes passed over`, null, { file });
          continue;
        }
        const { first, count, tx } = seen;
        if (!seen.whole) {
          this.find("frame", "the checksum over the frame's envelopes does not hold", first, { file, count });
        }
        if (first < this.end || first - this.end > total) {
          this.find("frame", `the frame begins with record ${first}, ${this.end} was due`, first, { file, count });
          continue;
        }
        if (first > this.end) {
          this.find("frame", "records are missing", this.end, { file, count: first - this.end });
          this.standIn(first);
        } else if (tx !== lastTx + 1) {
          this.find("frame", `transaction ${tx} follows ${lastTx}`, first, { file, count });
        }
        lastTx = tx;
        let due = "";
        for (let place = 0; place < count; place++) {
          this.entries.set(first + place, { segment, entry: seen.records[place].entry });
          [time, due] = this.readRecord(seen, place, time, due);
        }
      }
    }
    this.checkIdx();
  }

  /** Let the stored leaves stand for records that can't be read, so that all others can be judged (§11.1.7). */
  standIn(until) {
    for (let index = this.end; index < until; index++) {
      const leaf = Buffer.alloc(32);
      this.storedTile(0, Math.floor(index / 256))?.copy(leaf, 0, 32 * (index % 256), 32 * (index % 256) + 32);
      this.leaves.push(leaf);
      this.unread.add(index);
    }
    this.end = Math.max(this.end, until);
  }

  /** Check a record by itself and where it stands; return the time of its transaction, twice. */
  readRecord(frame, place, time, due) {
    const { stored, listed, body } = frame.records[place];
    const index = frame.first + place;
    this.leaves.push(leafHash(stored));
    this.end = index + 1;
    let record;
    if (refused(() => (record = parseEnvelope(stored)), (why) => this.find("envelope", why, index))) {
      if (listed.length) this.find("link", "its list of links belongs to no readable record", index);
      return [time, due];
    }
    this.records.set(index, record);
    const key = this.authors.get(record.key);
    if (key && !isSigned(record, key)) this.find("signature", `the signature by ${record.key} does not hold`, index);
    const wrong = problem(record, this.settings.origin);
    if (wrong) this.find(...wrong, index);
    else if (record.index !== index) {
      this.find("id", `it names index ${record.index} and stands at ${index}: it was moved`, index);
    }
    const [tx, at, count] = record.tx;
    if (tx !== frame.tx || at !== place || count !== frame.count) {
      this.find("id", `it is record ${at} of transaction ${tx}, not of this one`, index);
    }
    if (due && record.created_at !== due) this.find("time", "it has another time than its transaction", index);
    else if (!due) {
      if (time && record.created_at <= time) {
        this.find("time", `its time ${record.created_at} is not after ${time}`, index);
      }
      time = due = record.created_at;
    }
    this.readLinks(index, record, listed);
    for (const [name, size] of record.blobs) {
      if (!(BLOB.test(name) && isSize(size))) this.find("blob", "its media have no name that media can have", index);
    }
    const [digest, size] = record.body;
    if (body.length !== size || sha256(body).toString("base64url") !== digest) {
      const blank = body.length === size && body.every((byte) => byte === 0) ? "blank" : "altered";
      this.bodies.set(index, body.length ? blank : "absent");
    }
    return [time, due];
  }

  readLinks(index, record, listed) {
    let { links } = record;
    if (record.listed) {
      const tell = (why) => this.find("link", why, index);
      if (refused(() => (links = readList(listed, record.listed, index)), tell)) links = [];
    } else if (listed.length) {
      this.find("link", "a list of links that nothing signed stands behind it", index);
    }
    this.links.set(index, links.filter((link) => linkProblem(link, index) === null));
  }

  /** Compare the place indexes with the frames, for records under a head (§2.4). */
  checkIdx() {
    for (const segment of this.segments) {
      const file = `log/${segment.name.slice(0, -4)}.idx`;
      const data = this.read(file) ?? Buffer.alloc(0);
      const wrong = [...this.entries]
        .filter(([index, one]) => one.segment === segment && index < this.covered)
        .filter(([index, { entry }]) => {
          const at = 24 * (index - segment.first);
          return !data.subarray(at, at + 24).equals(entry);
        });
      for (const [first, count] of runs(wrong.map(([index]) => index))) {
        this.find("idx", "the place index does not agree with the frames", first, { file, count });
      }
    }
  }

  // 5. the braid

  judgeOrder() {
    for (const [index, record] of this.records) {
      if (record.isControl) this.fold(index, record);
      for (const link of this.links.get(index)) this.judgeLink(index, record, link);
    }
    this.judgeKeys();
    this.judgeChain();
    for (const [index, { kind, type }] of this.records) {
      if (kind === "experience" && !TYPES.includes(type)) this.find("lattice", "its type is none of the lattice", index);
    }
    this.judgeGenesis();
  }

  /** Take a control record in, if its signature holds and its key may sign it. */
  fold(index, record) {
    this.controls.push(index);
    const key = this.authors.get(record.key);
    if (index && (this.control.refusal(record, index) || !key || !isSigned(record, key))) return; // named by its key
    const links = this.links.get(index);
    if (record.listed && !links.length) return; // named with its list
    const unlawful = refused(() => {
      need(record.index === index, "it was moved");
      this.control.take(record, links);
    }, (why) => this.find("control", why, index));
    if (unlawful) return;
    if (record.op === "certify" && !isSize(record.public.get("records"))) {
      this.find("erasure", "the certificate states no count", index);
    }
    if (record.op !== "erase") return;
    const targets = new Set(links.filter(({ role }) => role === "target").map((link) => link.index));
    for (const target of [...targets].sort((a, b) => a - b)) {
      const there = this.records.get(target);
      if (there && (NO_MEMORIES.has(there.kind) || there.isControl)) {
        this.find("erasure", `it erases record ${target}, which is no memory`, index);
      }
    }
  }

  /** Hold a link to its target (§3.6). */
  judgeLink(index, record, link) {
    const there = this.records.get(link.index);
    if (there && there.id !== link.id) {
      this.find("link", `a link names another record than the one at ${link.index}`, index);
    }
    if (link.role === "parent" && there?.kind === "experience" && record.kind === "experience") {
      const [mine, theirs] = [TYPES.indexOf(record.type), TYPES.indexOf(there.type)];
      if (mine >= 0 && theirs >= 0 && mine < theirs) this.find("lattice", `it stands below its parent ${link.index}`, index);
    }
    const by = this.control.erased.get(link.index);
    if (by !== undefined && by < index && record.op !== "certify") {
      this.find("link", `it links to record ${link.index}, which record ${by} had erased`, index);
    }
  }

  /** Name what keys signed that they might not, by runs of records. */
  judgeKeys() {
    const groups = new Map();
    const disputed = new Map();
    for (const [index, record] of this.records) {
      const refusal = this.control.refusal(record, index);
      if (refusal) {
        const name = JSON.stringify([...refusal, record.kind, record.isControl]);
        if (!groups.has(name)) groups.set(name, { refusal, indexes: [] });
        groups.get(name).indexes.push(index);
      }
      const since = this.control.keys.get(record.key)?.disputed ?? null;
      if (since !== null && index >= since) disputed.set(record.key, (disputed.get(record.key) ?? 0) + 1);
    }
    for (const { refusal, indexes } of groups.values()) {
      for (const [first, count] of runs(indexes)) this.find(...refusal, first, { count });
    }
    for (const [key, count] of disputed) this.notes.push(`${count} records by ${key} are disputed`);
  }

  /** Hold each record to the newest control record before it. */
  judgeChain() {
    const groups = new Map();
    let newest = 0;
    let next = 0;
    for (const [index, { control }] of this.records) {
      while (next < this.controls.length && this.controls[next] < index) newest = this.controls[next++];
      if (control === newest) continue;
      const message = `it names ${control} as the newest control record; that is ${newest}`;
      if (!groups.has(message)) groups.set(message, []);
      groups.get(message).push(index);
    }
    for (const [message, indexes] of groups) {
      for (const [first, count] of runs(indexes)) this.find("control", message, first, { count });
    }
  }

  /** The key that heads are judged by: the pinned one, else the guard's; null where neither is a key. */
  get key() {
    const text = this.pinned ?? this.guard?.vkey ?? null;
    return this.candidates.has(text) ? text : null;
  }

  /** Whether that key isn't one of this log's: then nothing says whose heads these are. */
  get foreign() {
    const { logKeys } = this.control;
    return logKeys.size > 0 && this.key !== null && !logKeys.has(this.key);
  }

  /** Name a key that the auditor pinned, or that the guard remembers, and the log does not name. */
  judgeKey() {
    const { guard, key, control: { logKeys }, guardPath: file } = this;
    const remembered = guard === null ? [] : [guard.vkey, ...(guard.log_keys ?? [])];
    if (logKeys.size && !remembered.every((vkey) => logKeys.has(vkey))) {
      this.find("guard", "the guard remembers a log key that this log does not name", null, { file });
    }
    if (!this.foreign) return;
    this.find("checkpoint", `the log names no key ${key}`, 0);
    if (guard !== null && guard.vkey !== key) {
      this.find("guard", `the guard names another log key than ${key}`, null, { file });
    }
  }

  /** Hold settings to the log's own first record, and the pinned key and the guard's to all that it names. */
  judgeGenesis() {
    const { genesis } = this.control;
    this.judgeKey();
    if (genesis === null) return;
    if (genesis.origin !== this.settings.origin) this.find("settings", "store.json and genesis name another origin", 0);
    for (const name of ["store_id", "format"]) {
      if (genesis.public.get(name) !== this.settings[name]) {
        this.find("settings", `store.json and genesis name another ${name}`, 0, { file: "store.json" });
      }
    }
  }

  // 7. the tree (§5)

  widthOf(level, n) {
    return Math.min(above(this.published, level) - n * 256, 256);
  }

  /** The tile that the published tree has at a place; null where it has none, or the file is missing. */
  storedTile(level, n) {
    const width = this.widthOf(level, n);
    return width > 0 ? this.read(tilePath(level, n, width)) : null;
  }

  /** Compare every stored tile with the records; where they differ, what lies above says which is right. */
  judgeTree() {
    const { end } = this;
    if (end < this.published && this.published <= end + 1e6) {
      this.standIn(this.published);
      this.end = end;
    }
    let row = this.leaves;
    for (let level = 0; above(this.published, level); level++) {
      for (let n = 0; n * 256 < above(this.published, level); n++) this.judgeTile(level, n, row);
      const next = [];
      for (let at = 0; at + 256 <= row.length; at += 256) next.push(rootOf(row.slice(at, at + 256)));
      row = next;
    }
  }

  judgeTile(level, n, row) {
    const width = this.widthOf(level, n);
    const mine = row.slice(n * 256, n * 256 + width);
    const file = tilePath(level, n, width);
    const stored = this.read(file);
    if (!mine.length || (stored && stored.equals(Buffer.concat(mine)))) return;
    if (stored === null || stored.length !== 32 * width) {
      this.find("tile", "the tile is missing, or has another length", null, { file });
      return;
    }
    if (mine.length < width) return; // the log ends before the head: named there
    const theirs = Array.from({ length: width }, (_, i) => stored.subarray(32 * i, 32 * i + 32));
    if (this.confirmed(level, n, width, mine, row) || !this.confirmed(level, n, width, theirs, row)) {
      this.find("tile", "the tile is not that of the records", null, { file });
      return;
    }
    const span = 256 ** level;
    theirs.forEach((hash, i) => {
      const index = (n * 256 + i) * span;
      if (!hash.equals(mine[i]) && !this.unread.has(index)) {
        this.find("leaf", "the record is not the one that the tree holds there", index, { count: span });
      }
    });
    row.splice(n * 256, width, ...theirs);
  }

  /** Whether the tile above has this tile or, for one on the right edge, the signed head. */
  confirmed(level, n, width, tile, row) {
    if (width === 256) {
      const at = 32 * (n % 256);
      const up = this.storedTile(level + 1, Math.floor(n / 256));
      if (up && up.length >= at + 32) return up.subarray(at, at + 32).equals(rootOf(tile));
    }
    if (level || n * 256 + width !== this.published) return false;
    return rootOf([...row.slice(0, n * 256), ...tile]).equals(this.head("checkpoint").root);
  }

  // 8. heads against records

  judgeHeads() {
    const order = ["checkpoint", "guard", "checkpoints"];
    const signed = new Set();
    const heads = [...this.heads].sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
    for (const { name, size, root, signers } of heads) {
      const kind = name === "guard" ? "guard" : "checkpoint";
      const file = name === "guard" ? this.guardPath : name;
      const lacking = this.foreign ? undefined : this.control.signing(size).find((vkey) => !signers.has(vkey));
      if (size > this.end) {
        this.find(kind, `the head covers ${size} records; the log holds ${this.end}`, null, { file });
      } else if (!rootOf(this.leaves.slice(0, size)).equals(root)) {
        this.find(kind, `the head of ${size} records has another root than they give`, null, { file });
      } else {
        if (lacking) this.find(kind, `the head of ${size} records lacks a signature by ${lacking}`, null, { file });
        for (const vkey of signers) signed.add(vkey);
      }
    }
    if (this.pinned !== null && this.control.logKeys.has(this.pinned) && !signed.has(this.pinned)) {
      this.find("checkpoint", "no head of this log is signed by the pinned key");
    }
  }

  // 6. erasures and media (§9)

  judgeErasures() {
    const { erased, epochs, certified } = this.control;
    const blank = [];
    for (const [index, state] of this.bodies) {
      const by = erased.get(index);
      if (by === undefined && state !== "altered") blank.push(index);
      else if (by === undefined) this.find("body", "the sealed body is not what was signed", index);
      else if (state === "altered" && certified.has(by)) this.find("erasure", "its erased body is not blank", index);
    }
    for (const [first, count] of runs(blank)) {
      this.find("body", "the body is blank, and no erasure names it", first, { count });
    }
    const done = [...erased].filter(([, by]) => certified.has(by)).map(([index]) => index).sort((a, b) => a - b);
    const left = done.filter((index) => !this.bodies.has(index) && this.records.has(index));
    for (const [first, count] of runs(left)) {
      this.find("erasure", "its erasure is certified, but its body is still there", first, { count });
    }
    for (const index of this.controls) {
      const shown = this.records.get(index).public;
      const erase = shown.get("op") === "certify" ? shown.get("erase") : undefined;
      const targets = [...erased.values()].filter((by) => by === erase).length;
      if (epochs.has(erase) && shown.get("records") !== targets) {
        this.find("erasure", "the certificate has another count than its erasure", index);
      }
    }
    for (const index of epochs.keys()) {
      if (!certified.has(index)) this.notes.push(`the erasure of record ${index} is not certified yet`);
    }
  }

  judgeBlobs() {
    const named = new Map();
    for (const [index, { blobs }] of this.records) {
      for (const [name, size] of blobs) {
        if (BLOB.test(name) && isSize(size)) named.set(name, [...(named.get(name) ?? []), [index, size]]);
      }
    }
    const { erased, certified } = this.control;
    for (const [name, users] of [...named].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const file = `blobs/${name.slice(0, 2)}/${name.slice(2)}`;
      const living = users.find(([index]) => !erased.has(index));
      const data = this.read(file);
      if (living) {
        const [index, size] = living;
        if (data === null) this.find("blob", "the media file is missing, and no erasure names the record", index, { file });
        else if (data.length !== size || sha256(data).toString("hex") !== name) {
          this.find("blob", "the media file is not what was sealed", index, { file });
        }
      } else if (data !== null && users.every(([index]) => certified.has(erased.get(index)))) {
        this.find("erasure", "its erasure is certified, but its media are still there", users[0][0], { file });
      }
    }
  }

  /** Where a vault lies in the folder: its header, its check, its epoch, and that erased keys are gone (§4.3). */
  judgeVault() {
    const path = join(this.folder, this.settings.vault ?? "vault");
    const inside = existsSync(path) && !relative(realpathSync(this.folder), realpathSync(path)).startsWith("..");
    if (!inside || !statSync(path).isFile()) {
      this.notes.push("there is no vault here: whether erased keys are gone was not looked at");
      return;
    }
    const file = this.settings.vault ?? "vault";
    let vault;
    const tell = (why) => this.find("vault", why, null, { file });
    if (refused(() => (vault = readVault(readPlain(realpathSync(path)), this.settings.store_id)), tell)) return;
    const { erased, epochs, certified } = this.control;
    const least = Math.max(0, ...[...certified.keys()].map((one) => epochs.get(one)));
    if (vault.epoch < least) tell(`it has epoch ${vault.epoch}; erasures up to ${least} are certified`);
    const alive = [...erased]
      .filter(([index, by]) => {
        if (!certified.has(by)) return false;
        for (let node = 2 ** 40 + index; node >= 1; node = Math.floor(node / 2)) if (vault.nodes.has(node)) return true;
        return false;
      })
      .map(([index]) => index)
      .sort((a, b) => a - b);
    for (const [first, count] of runs(alive)) {
      this.find("erasure", "its erasure is certified, but the vault still holds its key", first, { count });
    }
    if (this.guard && vault.epoch < this.guard.vault_epoch) tell("the guard remembers a higher epoch of the vault");
  }
}

/** Audit a store or an auditor's copy. */
export function audit(folder, { vkey, guard } = {}) {
  return new Audit(folder, vkey, guard).run();
}

/** What a braid/multi-proof@v1 file shows of the envelopes in it (§5.5). */
function checkMultiproof(lines, note, vkey) {
  const leaves = new Map();
  let behind = -1;
  for (lines.shift(); lines.length; lines.shift()) {
    const match = /^leaf (0|[1-9][0-9]{0,12}) ([A-Za-z0-9+/=]+)$/.exec(lines[0]);
    if (!match) break;
    need(Number(match[1]) > behind, "the records are not by rising index");
    behind = Number(match[1]);
    leaves.set(behind, unbase64(match[2]));
  }
  const key = parseVkey(vkey);
  const head = openHead(note, [key], key.name);
  const hashes = new Map([...leaves].map(([index, stored]) => [index, leafHash(stored)]));
  const held = severalLead(hashes, head.size, lines.map((line) => unbase64(line, 32)), head.root);
  need(held, "the hashes do not lead to the signed root");
  const ids = [...leaves].map(([index, stored]) => {
    const record = parseEnvelope(stored);
    need(record.index === index && problem(record, key.name) === null, "a record contradicts its place");
    return record.id;
  });
  return { ids, size: head.size, root: head.root.toString("hex") };
}

/** What a proof shows of the records whose envelopes are in it; a BadData that it shows nothing. */
export function checkProof(data, vkey) {
  const gap = data.indexOf("\n\n");
  need(gap >= 0, "the proof has no checkpoint");
  const lines = data.toString("latin1", 0, gap).split("\n");
  if (lines[0] === "braid/multi-proof@v1") return checkMultiproof(lines, data.subarray(gap + 2), vkey);
  need(lines.shift() === "c2sp.org/tlog-proof@v1", "neither a tlog-proof nor a multi-proof");
  need(lines[0]?.startsWith("extra "), "the proof has no envelope in its extra");
  const stored = unbase64(lines.shift().slice(6));
  const match = /^index (0|[1-9][0-9]{0,12})$/.exec(lines.shift() ?? "");
  need(match, "the proof has no index");
  const index = Number(match[1]);
  const key = parseVkey(vkey);
  const head = openHead(data.subarray(gap + 2), [key], key.name);
  const path = lines.map((line) => unbase64(line, 32));
  need(inclusionHolds(index, head.size, leafHash(stored), path, head.root), "the path does not lead to the signed root");
  const record = parseEnvelope(stored);
  need(record.index === index && problem(record, key.name) === null, "the record contradicts its place");
  return { index, id: record.id, size: head.size, root: head.root.toString("hex") };
}
