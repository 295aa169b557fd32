"""The LanceDB projection: what memories mean and say, in an index that can be thrown away and rebuilt."""
