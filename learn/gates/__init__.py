"""Gates: what stands between a candidate and a claim. Pure; `gate.judge` is the way in."""
