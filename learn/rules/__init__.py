"""What verbs state of whom: tables of rules, one module for each part of a life."""
