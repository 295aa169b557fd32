"""The parsers of examples/audit-js over many inputs in one process."""

import base64
import json
import subprocess
from collections.abc import Sequence
from typing import Any, Final

from tests.system.fuzz.targets import ORIGIN, TARGETS, VKEY
from tests.system.spec.auditors import JS_FOLDER, node

READS: Final = ("head", "envelope", "frame", "proof")
_SCRIPT: Final = """
import {{ readFileSync }} from "node:fs";
const [{{ BadData }}, {{ openHead, parseVkey }}, {{ parseEnvelope, problem }}, {{ readFrames }}, {{ checkProof }}] =
  await Promise.all(
    ["encodings", "keys", "record", "frames", "audit"].map((name) => import("{folder}/" + name + ".mjs")),
  );
const {{ origin, vkey, asked }} = JSON.parse(readFileSync(0));
const text = (data) => Buffer.from(data).toString("base64");
const reads = {{
  head: (data) => {{
    const head = openHead(data, [parseVkey(vkey)], origin);
    return [head.size, text(head.root)];
  }},
  envelope: (data) => {{
    const one = parseEnvelope(data);
    if (problem(one, origin) !== null) return null;
    const links = one.links.map((link) => [link.role, link.index, link.id]);
    return [text(one.payload), text(one.signature), one.index, one.id, one.kind, one.key, links];
  }},
  frame: (data) => {{
    const [one] = readFrames(Buffer.concat([Buffer.alloc(64), data]));
    if (!one || one.gap || !one.whole) return null;
    const records = one.records.map((part) => [text(part.stored), text(part.listed), text(part.body)]);
    return [one.first, one.tx, one.group, records, one.end - 64];
  }},
  proof: (data) => {{
    const shown = checkProof(data, vkey);
    return [shown.ids ?? [shown.id], shown.size, shown.root];
  }},
}};
console.log(JSON.stringify(asked.map(([name, data]) => {{
  try {{
    return reads[name](Buffer.from(data, "base64"));
  }} catch (error) {{
    if (error instanceof BadData) return null;
    throw error;
  }}
}})));
"""


def disagreements(inputs: Sequence[tuple[str, bytes]]) -> list[str]:
    """Return each input, resealed ones among them, of which Node says otherwise than Braid."""
    asked = [
        (name, variant) for name, data in inputs if name in READS for variant in TARGETS[name].variants(data)
    ]
    order = {
        "origin": ORIGIN,
        "vkey": VKEY,
        "asked": [(name, base64.b64encode(data).decode()) for name, data in asked],
    }
    done = subprocess.run(
        [node(), "--input-type=module", "-e", _SCRIPT.format(folder=JS_FOLDER.as_uri())],
        input=json.dumps(order), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: list[str] = []
    for (name, data), said in zip(asked, json.loads(done.stdout), strict=True):
        ours = json.loads(json.dumps(TARGETS[name].braid(data), default=_text))
        if _rounded(ours) != _rounded(said):
            found.append(f"{name}: Braid says {ours!r}, Node says {said!r} of {data!r}")
    return found


def _text(value: Any) -> str:
    return base64.b64encode(value).decode()


def _rounded(value: Any) -> Any:
    """JavaScript's numbers are doubles: a place beyond 2^53, which no log has, is rounded there."""
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return float(value) if isinstance(value, int) else value
