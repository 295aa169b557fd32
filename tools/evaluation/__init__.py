"""What `braid evaluate` measures: recall and answers, on conversations whose questions have known answers."""
