#!/usr/bin/env node
// node braid-audit.mjs FOLDER --key VKEY [--guard FILE] [--proof FILE] [--json]
// Exit code: 0 clean, 1 findings, 2 could not look.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { audit, checkProof } from "./audit.mjs";
import { BadData } from "./encodings.mjs";

/** Text without characters that a terminal would obey. */
const plain = (text) => text.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (one) => `\\u{${one.codePointAt(0).toString(16)}}`);

function show(report, json) {
  if (json) {
    console.log(JSON.stringify(report));
    return;
  }
  for (const { kind, message, index, file } of report.findings) {
    const place = [index === null ? "" : `record ${index}: `, file === null ? "" : `${file}: `].join("");
    console.log(plain(`${kind}: ${place}${message}`));
  }
  for (const one of report.could_not_look) console.log(plain(`could not look: ${one}`));
  for (const one of report.notes) console.log(plain(`note: ${one}`));
  const verdict = ["clean", `${report.findings.length} findings`, "could not look"][report.exit_code];
  console.log(plain(`${verdict}: ${report.records} records of ${report.origin}, root ${report.root}`));
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    key: { type: "string" },
    vkey: { type: "string" },
    guard: { type: "string" },
    proof: { type: "string", multiple: true, default: [] },
    json: { type: "boolean", default: false },
  },
});
// 1 would say that something is wrong with the log.
function read(path) {
  try {
    return readFileSync(path);
  } catch (error) {
    console.error(`braid-audit.mjs: ${error.message}`);
    process.exit(2);
  }
}

let vkey = values.key ?? values.vkey;
if (vkey && !vkey.includes("+")) vkey = read(vkey).toString("utf-8").trim();
if (positionals.length > 1 || (!positionals.length && !values.proof.length) || (values.proof.length && !vkey)) {
  console.error("usage: node braid-audit.mjs FOLDER --key VKEY [--guard FILE] [--proof FILE] [--json]");
  process.exit(2);
}
for (const proof of values.proof) {
  const bytes = read(proof);
  let shown;
  try {
    shown = checkProof(bytes, vkey);
  } catch (error) {
    if (!(error instanceof BadData)) throw error;
    shown = { error: error.message };
    process.exitCode = 1;
  }
  console.log(JSON.stringify({ proof, ...shown }));
}
if (positionals.length) {
  const report = audit(positionals[0], { vkey, guard: values.guard });
  show(report, values.json);
  if (report.exit_code) process.exitCode = report.exit_code;
}
