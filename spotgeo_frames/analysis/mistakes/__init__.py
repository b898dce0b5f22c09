"""What `check()` finds: offsets, exchanged columns, other units, shifted frames, identities that follow no object.

In come truth and predictions; out comes a table of suspicions. It uses the other wings of `analysis`, and none of them
uses it.
"""
