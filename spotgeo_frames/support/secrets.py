"""Takes secrets out of addresses, so that no message, file or heading has them.

An address such as s3://KEY:SECRET@bucket/folder?token=... may have a user name, a password and a query. Only the file
system that is made of it needs them.
"""

import re

# An address with one slash has been a Path. The first user name is one of a sound address. The second is followed by a
# password with characters that no address may have, such as a slash, so it ends at the last @; a port is no password.
_ADDRESS = re.compile(
    r"""(?P<scheme> [A-Za-z][A-Za-z0-9+.-]+ :/{1,2})
        (?: [^\s/?\#@]* @ (?=[^\s@/?\#'"]* (?:[\s/?\#'"] | $)) | [^\s/?\#@:]* : (?!\d*/) (?=\S) (?:(?!:/)[^\n])* @ )?
        (?P<place> [^\s?]*)
        (?: \? \S*? (?=[]:;,.)'"]* (?:\s | $)) )?""",
    re.VERBOSE,
)


def without_secrets(text: str) -> str:
    """A text whose addresses have neither user names nor passwords nor queries; other text stays as it is.

    >>> without_secrets("s3://KEY:SECRET@bucket/truth?region=eu-west-1: cannot be read")
    's3://bucket/truth: cannot be read'
    """
    return _ADDRESS.sub(r"\g<scheme>\g<place>", text) if ":/" in text else text
