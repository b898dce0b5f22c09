"""The values of options, parsed; what is none of its kind is an error that says what is."""

import argparse


def number(text: str) -> float:
    """Parses the value of an option that is a number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number; give one such as 10 or 0.5") from None


def count(text: str) -> int:
    """Parses the value of an option that is a count."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no count; give an integer of 1 or more, such as 300")
    return int(text)


def numbers(text: str) -> list[float]:
    """Parses the value of an option that is a list of numbers."""
    return [number(item) for item in text.split(",")]


def thresholds(text: str) -> list[float] | dict[str | None, float]:
    """Parses thresholds: a list of numbers, or of CLASS=NUMBER, where a number alone is that of all other classes."""
    if "=" not in text:
        return numbers(text)
    pairs = [item.rpartition("=") for item in text.split(",")]
    return {name or None: number(value) for name, _, value in pairs}
