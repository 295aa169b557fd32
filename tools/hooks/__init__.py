"""What a harness calls while a conversation goes on: turns go in, context comes out, and nothing ever blocks it."""
