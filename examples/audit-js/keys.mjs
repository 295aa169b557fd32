// Ed25519 as strictly as libsodium has it, author keys' ids, and signed notes of log keys (SPEC §3.4, §5.3).

import { createPublicKey, verify } from "node:crypto";
import { need, unbase64 } from "./encodings.mjs";
import { EMPTY_ROOT, sha256 } from "./tree.mjs";

const P = 2n ** 255n - 19n;
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const mod = (a) => ((a % P) + P) % P;

function power(base, exponent) {
  let out = 1n;
  for (base = mod(base); exponent; exponent >>= 1n, base = mod(base * base)) if (exponent & 1n) out = mod(out * base);
  return out;
}

const D = mod(-121665n * power(121666n, P - 2n));
const ROOT_OF_MINUS_1 = power(2n, (P - 1n) / 4n);

function add([x1, y1, z1, t1], [x2, y2, z2, t2]) {
  const a = mod((y1 - x1) * (y2 - x2));
  const b = mod((y1 + x1) * (y2 + x2));
  const c = mod(2n * D * t1 * t2);
  const d = mod(2n * z1 * z2);
  const [e, f, g, h] = [b - a, d - c, d + c, b + a];
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)];
}

function times(k, point) {
  let out = [0n, 1n, 1n, 0n];
  for (; k; k >>= 1n, point = add(point, point)) if (k & 1n) out = add(out, point);
  return out;
}

const isNeutral = ([x, y, z]) => x === 0n && y === z;

/** Whether 32 bytes are a canonical point of the main subgroup and not of small order. */
function isSound(raw) {
  if (raw.length !== 32) return false;
  const n = BigInt(`0x${Buffer.from(raw).reverse().toString("hex")}`);
  const y = n & (2n ** 255n - 1n);
  if (y >= P) return false;
  const u = mod(y * y - 1n);
  const v = mod(D * y * y + 1n);
  let x = mod(u * v ** 3n * power(u * v ** 7n, (P - 5n) / 8n));
  if (mod(v * x * x) !== u) x = mod(x * ROOT_OF_MINUS_1);
  if (mod(v * x * x) !== u) return false;
  if (x === 0n && n >> 255n) return false;
  if ((x & 1n) !== n >> 255n) x = mod(-x);
  const point = [x, y, 1n, mod(x * y)];
  return !isNeutral(times(8n, point)) && isNeutral(times(L, point));
}

const checked = new Map();

/** A public key that is sound; each is looked at once, since that takes milliseconds. */
export function checkKey(raw) {
  const name = raw.toString("hex");
  if (!checked.has(name)) checked.set(name, isSound(raw));
  need(checked.get(name), "not a sound public key");
  return raw;
}

// Encodings of small order: libsodium refuses them as a signature's first half, OpenSSL does not.
const SMALL = new Set(
  [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  ],
);
const SPKI = Buffer.from("302a300506032b6570032100", "hex");
const objects = new Map();

/** Whether an ed25519 signature holds, by a key that was checked. */
export function signedBy(key, message, signature) {
  if (signature.length !== 64) return false;
  const r = Buffer.from(signature.subarray(0, 32));
  r[31] &= 0x7f;
  if (SMALL.has(r.toString("hex"))) return false;
  const name = key.toString("hex");
  if (!objects.has(name)) {
    objects.set(name, createPublicKey({ key: Buffer.concat([SPKI, key]), format: "der", type: "spki" }));
  }
  return verify(null, message, objects.get(name), signature);
}

/** An author key's id: 20 characters of base32 of its hash. */
export function authorId(key) {
  const digits = "abcdefghijklmnopqrstuvwxyz234567";
  let bits = BigInt(`0x${sha256(key).subarray(0, 13).toString("hex")}`) >> 4n;
  let text = "";
  for (let i = 0; i < 20; i++, bits >>= 5n) text = digits[Number(bits & 31n)] + text;
  return `k_${text}`;
}

/** A log's key: its C2SP verifier key, `<name>+<hex id>+<base64>`, taken apart. */
export function parseVkey(vkey) {
  need(typeof vkey === "string", "not a verifier key");
  const match = /^([^\p{White_Space}+]+)\+([0-9a-f]{8})\+(.+)$/su.exec(vkey);
  need(match, "not a verifier key");
  const raw = unbase64(match[3], 33);
  need(raw[0] === 1, "not an ed25519 verifier key");
  const id = sha256(`${match[1]}\n`, raw).subarray(0, 4);
  need(id.toString("hex") === match[2], "its id is not its key's");
  return { name: match[1], id: match[2], public: checkKey(raw.subarray(1)), vkey };
}

function readNote(data) {
  let note;
  try {
    note = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    need(false, "the note is not UTF-8");
  }
  const gap = note.lastIndexOf("\n\n");
  need(!/[\u0000-\u0009\u000b-\u001f]/.test(note), "the note has a control character");
  need(gap >= 0 && note.endsWith("\n") && gap + 2 < note.length, "the note does not end in signature lines");
  const seen = new Set();
  const signatures = note.slice(gap + 2, -1).split("\n").map((line) => {
    const match = /^— ([^\p{White_Space}+]+) ([A-Za-z0-9+/=]+)$/u.exec(line);
    need(match, "not a signature line");
    const raw = unbase64(match[2]);
    need(raw.length > 4, "a signature line without a signature");
    const by = `${match[1]}+${raw.subarray(0, 4).toString("hex")}`;
    need(!seen.has(by), "two signatures by one key");
    seen.add(by);
    return { by, signature: raw.subarray(4) };
  });
  return { text: note.slice(0, gap + 1), signatures };
}

function readHead(text, origin) {
  const lines = text.split("\n");
  need(lines.length >= 4 && lines.at(-1) === "" && lines.slice(0, -1).every((line) => line), "not a checkpoint");
  need(/^(0|[1-9][0-9]{0,17})$/.test(lines[1]), "not the size of a tree");
  const head = { size: Number(lines[1]), root: unbase64(lines[2], 32) };
  need(head.size || head.root.equals(EMPTY_ROOT), "a checkpoint of nothing with a root of something");
  need(lines[0] === origin, `a checkpoint of ${JSON.stringify(lines[0])}, not of ${JSON.stringify(origin)}`);
  return head;
}

/** A head that a key of `keys` signed, and which did; a wrong signature under one of their names and ids is refused. */
export function openHead(data, keys, origin) {
  const known = new Map(keys.map((key) => [`${key.name}+${key.id}`, key]));
  const { text, signatures } = readNote(data);
  const signers = new Set();
  for (const { by, signature } of signatures) {
    const key = known.get(by);
    if (!key) continue;
    need(signedBy(key.public, Buffer.from(text), signature), "the log key's signature does not hold");
    signers.add(key.vkey);
  }
  need(signers.size, "the log's key has not signed it");
  return { ...readHead(text, origin), signers };
}
