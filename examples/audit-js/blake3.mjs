// BLAKE3's hash of bytes, 32 bytes of it: enough for a log's frames (github.com/BLAKE3-team/BLAKE3-specs).

const IV = Uint32Array.of(
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
);
const PERMUTE = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
const ROUNDS = [Array.from({ length: 16 }, (_, i) => i)];
for (let i = 1; i < 7; i++) ROUNDS.push(PERMUTE.map((place) => ROUNDS[i - 1][place]));
const START = 1, END = 2, PARENT = 4, ROOT = 8;

const v = new Uint32Array(16);

function mix(a, b, c, d, x, y) {
  v[a] = v[a] + v[b] + x;
  let turned = v[d] ^ v[a];
  v[d] = (turned >>> 16) | (turned << 16);
  v[c] = v[c] + v[d];
  turned = v[b] ^ v[c];
  v[b] = (turned >>> 12) | (turned << 20);
  v[a] = v[a] + v[b] + y;
  turned = v[d] ^ v[a];
  v[d] = (turned >>> 8) | (turned << 24);
  v[c] = v[c] + v[d];
  turned = v[b] ^ v[c];
  v[b] = (turned >>> 7) | (turned << 25);
}

function compress(chain, m, counter, length, flags) {
  v.set(chain);
  v.set(IV.subarray(0, 4), 8);
  v[12] = counter;
  v[13] = Math.floor(counter / 2 ** 32);
  v[14] = length;
  v[15] = flags;
  for (const s of ROUNDS) {
    mix(0, 4, 8, 12, m[s[0]], m[s[1]]);
    mix(1, 5, 9, 13, m[s[2]], m[s[3]]);
    mix(2, 6, 10, 14, m[s[4]], m[s[5]]);
    mix(3, 7, 11, 15, m[s[6]], m[s[7]]);
    mix(0, 5, 10, 15, m[s[8]], m[s[9]]);
    mix(1, 6, 11, 12, m[s[10]], m[s[11]]);
    mix(2, 7, 8, 13, m[s[12]], m[s[13]]);
    mix(3, 4, 9, 14, m[s[14]], m[s[15]]);
  }
  const out = new Uint32Array(8);
  for (let i = 0; i < 8; i++) out[i] = v[i] ^ v[i + 8];
  return out;
}

function subtree(data, first, root) {
  const m = new Uint32Array(16);
  if (data.length > 1024) {
    const left = 1024 * 2 ** Math.floor(Math.log2(Math.floor((data.length - 1) / 1024)));
    m.set(subtree(data.subarray(0, left), first, 0));
    m.set(subtree(data.subarray(left), first + left / 1024, 0), 8);
    return compress(IV, m, 0, 64, PARENT | root);
  }
  let chain = IV;
  const blocks = Math.max(Math.ceil(data.length / 64), 1);
  const padded = Buffer.alloc(64 * blocks);
  data.copy(padded);
  for (let i = 0; i < blocks; i++) {
    for (let word = 0; word < 16; word++) m[word] = padded.readUInt32LE(64 * i + 4 * word);
    const flags = (i ? 0 : START) | (i === blocks - 1 ? END | root : 0);
    chain = compress(chain, m, first, Math.min(64, data.length - 64 * i), flags);
  }
  return chain;
}

export function blake3(...parts) {
  const out = Buffer.alloc(32);
  subtree(Buffer.concat(parts), 0, ROOT).forEach((word, i) => out.writeUInt32LE(word, 4 * i));
  return out;
}
