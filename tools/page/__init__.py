"""Reports as HTML pages: self-contained, for screen, paper and a screen reader."""
