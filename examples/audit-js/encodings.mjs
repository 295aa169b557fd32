// What can be written in only one way: base64, JSON without repeated members, runs of numbers.

export class BadData extends Error {}

/** Refuse what does not hold. */
export function need(held, what) {
  if (!held) throw new BadData(what);
}

/** Canonical base64 (RFC 4648 §4), decoded. */
export function unbase64(text, size) {
  need(typeof text === "string", "not base64");
  const raw = Buffer.from(text, "base64");
  need(raw.toString("base64") === text, "base64 that is not canonical");
  need(size === undefined || raw.length === size, `${raw.length} bytes where ${size} belong`);
  return raw;
}

/** A number of JSON that is not whole, or too large to be exact: known, and never taken for a count. */
class Inexact {}

export const isWhole = (value) => typeof value === "number";
export const isSize = (value) => isWhole(value) && value >= 0 && value < 2 ** 62;

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const BLANK = /[ \t\n\r]*/y;
const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const WORDS = [["true", true], ["false", false], ["null", null]];

class Json {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  take(pattern) {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match) this.at = pattern.lastIndex;
    return match;
  }

  char(expected) {
    this.take(BLANK);
    if (this.text[this.at] !== expected) return false;
    this.at += 1;
    return true;
  }

  value(depth) {
    need(depth < 500, "not JSON");
    if (this.char("{")) return this.object(depth);
    if (this.char("[")) return this.array(depth);
    if (this.char('"')) return this.string();
    for (const [word, value] of WORDS) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    const match = this.take(NUMBER);
    need(match, "not JSON");
    const whole = match[1] === undefined && match[2] === undefined && Number.isSafeInteger(Number(match[0]));
    return whole ? Number(match[0]) : new Inexact();
  }

  object(depth) {
    const members = new Map();
    if (this.char("}")) return members;
    do {
      need(this.char('"'), "not JSON");
      const name = this.string();
      need(!members.has(name), "a member is repeated");
      need(this.char(":"), "not JSON");
      members.set(name, this.value(depth + 1));
    } while (this.char(","));
    need(this.char("}"), "not JSON");
    return members;
  }

  array(depth) {
    const values = [];
    if (this.char("]")) return values;
    do values.push(this.value(depth + 1));
    while (this.char(","));
    need(this.char("]"), "not JSON");
    return values;
  }

  string() {
    let text = "";
    for (;;) {
      text += this.take(PLAIN)[0];
      const next = this.text[this.at++];
      if (next === '"') break;
      need(next === "\\", "not JSON");
      const escape = this.text[this.at++];
      if (escape === "u") {
        const hex = this.text.slice(this.at, this.at + 4);
        need(/^[0-9a-fA-F]{4}$/.test(hex), "not JSON");
        this.at += 4;
        text += String.fromCharCode(parseInt(hex, 16));
      } else {
        need(Object.hasOwn(ESCAPES, escape ?? ""), "not JSON");
        text += ESCAPES[escape];
      }
    }
    need(text.isWellFormed(), "not JSON");
    return text;
  }
}

/** A JSON object as a Map, in order; repeated members at any depth, and text that is no Unicode, are refused. */
export function readJson(data) {
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    throw new BadData("not JSON");
  }
  const json = new Json(text);
  const value = json.value(0);
  json.take(BLANK);
  need(json.at === text.length, "not JSON");
  need(value instanceof Map, "not an object of JSON");
  return value;
}

/** [first, count] of each run of consecutive numbers, which ascend. */
export function* runs(numbers) {
  let first = 0;
  let count = 0;
  for (const number of numbers) {
    if (count && number !== first + count) {
      yield [first, count];
      count = 0;
    }
    if (!count) first = number;
    count += 1;
  }
  if (count) yield [first, count];
}
