"""What a line of a chat asks of the memory itself: told, asked, forgotten, put right, changed. Pure."""
