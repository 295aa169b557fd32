"""Drawings of a trace: PROV-JSON, Graphviz, Mermaid, SVG. Pure functions of a value; nothing here reads a store."""
