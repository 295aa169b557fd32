"""What an agent does with its memory: from a question to an answer that cites, and to what is written back."""
