"""What one turn says: the sentence, the day, the number or the name in it that may answer."""
