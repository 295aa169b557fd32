// The Merkle tree of RFC 6962 and its tiles (SPEC §5).

import { createHash } from "node:crypto";

export const sha256 = (...parts) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);
export const EMPTY_ROOT = sha256();

export const leafHash = (data) => sha256(LEAF, data);
export const nodeHash = (left, right) => sha256(NODE, left, right);

/** The root over leaf hashes: the last of an odd row goes up as it is. */
export function rootOf(leaves) {
  if (!leaves.length) return EMPTY_ROOT;
  let row = leaves;
  while (row.length > 1) {
    const above = [];
    for (let i = 0; i < row.length; i += 2) {
      above.push(i + 1 < row.length ? nodeHash(row[i], row[i + 1]) : row[i]);
    }
    row = above;
  }
  return row[0];
}

/** Whether a path leads from a leaf to the root (RFC 9162 §2.1.3.2). */
export function inclusionHolds(index, size, leaf, path, root) {
  if (!(index >= 0 && index < size)) return false;
  let fn = BigInt(index);
  let sn = BigInt(size) - 1n;
  let at = leaf;
  for (const sibling of path) {
    if (sn === 0n) return false;
    if (fn & 1n || fn === sn) {
      at = nodeHash(sibling, at);
      while (!(fn & 1n) && fn) [fn, sn] = [fn >> 1n, sn >> 1n];
    } else {
      at = nodeHash(at, sibling);
    }
    [fn, sn] = [fn >> 1n, sn >> 1n];
  }
  return sn === 0n && at.equals(root);
}

/** Whether leaf hashes by index, and the hashes of their unknown siblings, level by level, give the root (§5.5). */
export function severalLead(leaves, size, hashes, root) {
  const outside = [...leaves.keys()].some((index) => index >= size);
  if (!leaves.size || outside) return false;
  let row = leaves;
  let next = 0;
  for (let width = size; width > 1; width = Math.ceil(width / 2)) {
    const above = new Map();
    for (const [node, hash] of row) {
      const up = Math.floor(node / 2);
      const sibling = node % 2 ? node - 1 : node + 1;
      if (above.has(up)) continue;
      if (sibling === width) {
        above.set(up, hash);
        continue;
      }
      const other = row.get(sibling) ?? hashes[next++];
      if (!other) return false;
      above.set(up, node % 2 ? nodeHash(other, hash) : nodeHash(hash, other));
    }
    row = above;
  }
  return next === hashes.length && row.get(0).equals(root);
}

/** Whole division by 256^level. */
export const above = (size, level) => Math.floor(size / 256 ** level);

/** A tile's place; a full one has 256 hashes (C2SP tlog-tiles). */
export function tilePath(level, n, width) {
  const groups = [String(n % 1000).padStart(3, "0")];
  for (n = Math.floor(n / 1000); n; n = Math.floor(n / 1000)) groups.unshift(`x${String(n % 1000).padStart(3, "0")}`);
  return `tile/${level}/${groups.join("/")}${width < 256 ? `.p/${width}` : ""}`;
}
