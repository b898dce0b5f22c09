"""The commands: their arguments, the calls they make, and what they print.

In come the words of a command line; out come text or JSON, and files. Nobody uses it; it uses all rooms.
"""
