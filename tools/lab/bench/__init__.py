"""The bench as the makers run it: truth maintenance beside `braid bench`, tables in pages, the drawing."""
