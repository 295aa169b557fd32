"""Models that are passed in: embedders, behind the protocol of `braid.views.embedder`."""
