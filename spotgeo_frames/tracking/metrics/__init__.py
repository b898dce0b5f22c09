"""Track metrics, one module each: pure functions of pairs and identities.

Each module computes sums of each sequence, which can be added up over sequences in any order, and the metrics that
follow from the sums.
"""
