"""One reader of dates, numbers, sentences and words for every room above the ledger. English, pure, linear in the text.

words       lower-case words, stems, words that say nothing, equal spellings of one name
numbers     number words and what they are worth
quantities  numbers with what they count: "£1,180 a month", "46 kilometres"
calendar    names of months, weekdays and seasons; spans of time
dates       times that words name, relative to a given now
ranges      times that a question names: "between March and May 2023", "Q2 2023"
sentences   a text in sentences and clauses, each with its place
parse       what a parser gives; chat: what a language model takes and gives
fence       a stranger's text as data in a prompt; redact: secrets and their placeholders
"""
