"""Which of the turns that were found answers, and how sure that is."""
