"""Who is who: mentions of people and things in, entities out, and proposals where nothing decides. Pure.

Three tiers: (1) one name in normal form, an alias, or a name that was stated; (2) close names, borne out by what else
is said; (3) what stays open is proposed to a person or a model, and never joined by itself. A duplicate is better than
a wrong merge.
"""
