"""Drawings of a trace: PROV-JSON, Graphviz, Mermaid, SVG. Functions of a value; nothing here reads a store."""
