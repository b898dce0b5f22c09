"""What several tests share; no test is imported by another."""
