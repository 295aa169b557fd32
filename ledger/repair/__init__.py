"""What is wrong with a store's derived files, and making them again."""
