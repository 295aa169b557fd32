// Envelopes: what an auditor reads of a record (SPEC §3).

import { isWhole, need, readJson, unbase64 } from "./encodings.mjs";
import { signedBy } from "./keys.mjs";
import { leafHash, rootOf } from "./tree.mjs";

export const PREFIXES = {
  experience: "exp", view: "view", stance: "stance", affect: "aff", embedding: "emb", tombstone: "tomb",
  key: "key", event: "evt", genesis: "gen",
};
export const TYPES = ["occurrence", "observation", "inference", "reconciliation"];
const LINK_ROLES = new Set([
  "parent", "evidence", "applied_to", "support", "candidate", "experience", "supersedes", "target", "kept",
]);
const MEMBERS = [
  "braid", "origin", "index", "id", "kind", "type", "created_at", "tx", "control", "key", "commit", "body",
  "links", "blobs", "public",
];
const OPTIONAL = new Set(["type", "links", "blobs", "public"]);
const ID = /^([a-z]{1,12})_([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)_([0-9a-v]{12})$/;
const TIME = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$/;
const TYPE = "application/vnd.braid.record+json";
const HEAD = Buffer.from('{"payload":"');
const MIDDLE = Buffer.from(`","payloadType":"${TYPE}","signatures":[{"sig":"`);
const TAIL = Buffer.from('"}]}');

export const isKnown = (kind) => Object.hasOwn(PREFIXES, kind);
const indexOf = (parts) => parseInt(parts[3].slice(0, 8), 32);
const isText = (value) => typeof value === "string";
const isSized = (value) => Array.isArray(value) && value.length === 2 && isText(value[0]) && isWhole(value[1]);

/** Cut the payload out of the template (§3.1) and read its members, which stand once and in order (§3.2). */
export function parseEnvelope(stored) {
  const cut = stored.length - MIDDLE.length - 88 - TAIL.length;
  const end = stored.length - TAIL.length;
  need(
    stored.length <= 65535 && cut >= HEAD.length && stored.subarray(0, HEAD.length).equals(HEAD) &&
      stored.subarray(cut, cut + MIDDLE.length).equals(MIDDLE) && stored.subarray(end).equals(TAIL),
    "not of the signed template",
  );
  const payload = unbase64(stored.subarray(HEAD.length, cut).toString("latin1"));
  const signature = unbase64(stored.subarray(end - 88, end).toString("latin1"), 64);
  const members = readJson(payload);
  const expected = MEMBERS.filter((name) => members.has(name) || !OPTIONAL.has(name));
  const names = [...members.keys()];
  need(expected.every((name, i) => names[i] === name), "its members are not a record's, or not in order");
  const m = Object.fromEntries(expected.map((name) => [name, members.get(name)]));
  need(m.braid === 1, "not a record of format 1");
  need(["origin", "id", "kind", "created_at", "key", "commit"].every((name) => isText(m[name])), "a member is not text");
  need(isWhole(m.index) && isWhole(m.control), "a member is not a number");
  need(Array.isArray(m.tx) && m.tx.length === 3 && m.tx.every(isWhole), "not a place");
  need(isSized(m.body), "body is not digest and size");
  let listed = null;
  let links = m.links === undefined ? [] : m.links;
  if (links instanceof Map) {
    listed = Object.fromEntries(["count", "root", "bytes"].map((name) => [name, links.get(name)]));
    need(isWhole(listed.count) && isWhole(listed.bytes) && isText(listed.root), "not the head of a list of links");
    links = [];
  }
  need(
    Array.isArray(links) &&
      links.every((l) => Array.isArray(l) && l.length === 3 && isText(l[0]) && isWhole(l[1]) && isText(l[2])),
    "not a list of links",
  );
  const blobs = m.blobs === undefined ? [] : m.blobs;
  need(Array.isArray(blobs) && blobs.every(isSized), "not a list of blobs");
  const shown = m.public === undefined ? new Map() : m.public;
  need(shown instanceof Map && (m.type === undefined || isText(m.type)), "a member of another type");
  return {
    ...m,
    payload,
    signature,
    listed,
    blobs,
    type: m.type ?? "",
    links: links.map(([role, index, id]) => ({ role, index, id })),
    public: shown,
    op: shown.get("op"),
    isControl: shown.has("op"),
  };
}

/** Whether the author's signature holds (DSSE v1). */
export function isSigned(record, key) {
  const head = Buffer.from(`DSSEv1 ${TYPE.length} ${TYPE} ${record.payload.length} `);
  return signedBy(key, Buffer.concat([head, record.payload]), record.signature);
}

/** What is wrong with a link of the record at `index`, or null. */
export function linkProblem(link, index) {
  const parts = ID.exec(link.id);
  if (!LINK_ROLES.has(link.role)) return `a link has the unknown role ${JSON.stringify(link.role)}`;
  if (!(link.index >= 0 && link.index < index)) return "a link points forward";
  if (!parts) return "a link names no record";
  return indexOf(parts) === link.index ? null : "a link's id names another index";
}

/** [kind of finding, sentence] where an envelope contradicts itself (§1.2, §3.2, §3.6), or null. */
export function problem(record, origin) {
  const parts = ID.exec(record.id);
  const [tx, place, count] = record.tx;
  const what =
    (record.origin !== origin && `it belongs to ${JSON.stringify(record.origin)}`) ||
    (!(record.index >= 0 && record.index < 2 ** 40) && "its index is out of range") ||
    (!parts && "its id is none") ||
    (indexOf(parts) !== record.index && "its id names another index") ||
    (parts[1] !== (isKnown(record.kind) ? PREFIXES[record.kind] : record.kind) && "its id names another kind") ||
    (!TIME.test(record.created_at) && "its time is malformed") ||
    (parts[2].slice(0, -1) !== record.created_at.slice(0, 19) && "its id names another time") ||
    (!(place >= 0 && place < count && tx >= 0) && "its place in the transaction is impossible") ||
    (record.control > Math.max(record.index - 1, 0) && "its control record comes later");
  if (what) return ["id", what];
  if (record.listed) {
    const fits = record.listed.count > 256 && record.listed.count <= 1e6;
    return fits ? null : ["link", "its list of links has an impossible length"];
  }
  if (record.links.length > 256) return ["link", "it holds too many links inline"];
  const wrong = record.links.map((link) => linkProblem(link, record.index)).find((one) => one);
  return wrong ? ["link", wrong] : null;
}

/** The links of a list that is the signed one (§3.6). */
export function readList(data, head, index) {
  const lines = data.toString("latin1").split(/(?<=\n)/);
  if (!data.length) lines.length = 0;
  const links = lines.map((line) => {
    const match = /^([^ ]+) (0|[1-9][0-9]{0,18}) ([^ ]+)\n$/.exec(line);
    need(match, "its list of links has a malformed line");
    return { role: match[1], index: Number(match[2]), id: match[3] };
  });
  const root = rootOf(lines.map((line) => leafHash(Buffer.from(line, "latin1")))).toString("base64url");
  need(
    links.length === head.count && data.length === head.bytes && root === head.root,
    "its list of links is not the one that was signed",
  );
  for (const link of links) {
    const wrong = linkProblem(link, index);
    need(!wrong, wrong);
  }
  return links;
}
