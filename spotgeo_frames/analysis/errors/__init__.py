"""What goes wrong: kinds of error and their costs, identity breaks, changes, offsets, histories, confused classes.

In come match tables and results; out come tables of errors. It uses `certainty`, and `mistakes` uses it.
"""
