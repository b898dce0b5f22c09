"""What a threshold of the score does: sweeps, operating points, calibration.

In come truth and predictions, or results with scores; out come tables over thresholds. It uses `certainty`.
"""
