// Segments and frames (SPEC §2).

import { blake3 } from "./blake3.mjs";
import { BadData } from "./encodings.mjs";
import { parseEnvelope } from "./record.mjs";
import { sha256 } from "./tree.mjs";

const u64 = (data, at) => Number(data.readBigUInt64LE(at));

/** A frame's header, or what is wrong with it. */
function readHeader(data, at) {
  if (data.length - at < 96) return "the frame header is incomplete";
  if (data.toString("latin1", at, at + 4) !== "BRF1") return "no frame begins here";
  const check = blake3(data.subarray(at, at + 48)).subarray(0, 16);
  if (!check.equals(data.subarray(at + 48, at + 64))) return "the frame header's check does not hold";
  const [first, tx, group, head, body] = [8, 16, 24, 32, 40].map((place) => u64(data, at + place));
  const count = data.readUInt32LE(at + 4);
  if (!(count > 0 && count <= 2 ** 20 && 12 * count <= head && head + body <= 2 ** 30)) {
    return "the frame header states impossible sizes";
  }
  if (at + 96 + head + body > data.length) return "the frame is longer than the file";
  return { count, first, tx, group, head, body };
}

/** The frame at an offset with its records, or what is wrong there and where the next header stands. */
function readFrame(data, at) {
  const header = readHeader(data, at);
  if (typeof header === "string") {
    let found = data.indexOf("BRF1", at + 1);
    while (found >= 0 && typeof readHeader(data, found) === "string") found = data.indexOf("BRF1", found + 1);
    return { at, end: found >= 0 ? found : data.length, gap: header };
  }
  const { count, head, body } = header;
  const end = at + 96 + head + body;
  let place = at + 96 + 12 * count;
  let sealed = at + 96 + head;
  const records = [];
  for (let k = 0; k < count; k++) {
    const [e, m, b] = [0, 4, 8].map((part) => data.readUInt32LE(at + 96 + 12 * k + part));
    records.push({
      stored: data.subarray(place, place + e),
      listed: data.subarray(place + e, place + e + m),
      body: data.subarray(sealed, sealed + b),
      entry: entryOf(place, sealed, e, b),
    });
    [place, sealed] = [place + e + m, sealed + b];
  }
  if (place !== at + 96 + head || sealed !== end) return { at, end, gap: "the frame's table does not add up" };
  const content = blake3(data.subarray(at, at + 64), data.subarray(at + 96, at + 96 + head));
  return { at, end, ...header, whole: content.equals(data.subarray(at + 64, at + 96)), records };
}

/** A record's entry in the place index (§2.4). */
function entryOf(place, sealed, envelope, body) {
  const entry = Buffer.alloc(24);
  entry.writeBigUInt64LE(BigInt(place), 0);
  entry.writeBigUInt64LE(BigInt(sealed), 8);
  entry.writeUInt32LE(envelope, 16);
  entry.writeUInt32LE(body, 20);
  return entry;
}

/** Frames and gaps behind a segment's header. */
export function readFrames(data) {
  const seen = [];
  for (let at = 64; at < data.length; at = seen.at(-1).end) seen.push(readFrame(data, at));
  return seen;
}

/** A segment's first index, and what is wrong with its header (§2.1). */
export function readSegmentHeader(data, named, storeId) {
  if (data.length < 64 || !blake3(data.subarray(0, 48)).subarray(0, 16).equals(data.subarray(48, 64))) {
    return { first: named, wrong: "the segment's header is not whole" };
  }
  const zeros = data.readUInt16LE(10) || data.readUInt32LE(12) || data.subarray(40, 48).some((byte) => byte);
  if (data.toString("latin1", 0, 8) !== "BRAIDSEG" || data.readUInt16LE(8) !== 1 || zeros) {
    return { first: named, wrong: "this is not a segment of format 1" };
  }
  if (!data.subarray(24, 40).equals(Buffer.from(storeId))) {
    return { first: named, wrong: "the segment belongs to another store" };
  }
  const first = u64(data, 16);
  const wrong = first === named ? null : `the header says that its first record is ${first}`;
  return { first: named ?? first, wrong };
}

/** Whether every body of a frame has its digest; in a tail none was erased (§2.3). */
function bodiesHold(frame) {
  try {
    return frame.records.every(({ stored, body }) => parseEnvelope(stored).body[0] === sha256(body).toString("base64url"));
  } catch (error) {
    if (error instanceof BadData) return false;
    throw error;
  }
}

/** Where a torn tail begins in the last segment (§2.3): behind what heads cover, before no later write; or null. */
export function tornAt(segment, covered) {
  let torn = null;
  let first = segment.first;
  for (const seen of segment.seen) {
    if (torn !== null) {
      if (!seen.gap && seen.group > torn) return null;
    } else if (first >= covered && (seen.gap || !(seen.whole && bodiesHold(seen)))) {
      torn = seen.at;
    } else if (seen.gap) {
      return null;
    } else {
      first = seen.first + seen.count;
    }
  }
  return torn;
}
