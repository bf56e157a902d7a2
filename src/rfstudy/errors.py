"""The error that a user can mend: bad configuration, missing or wrong files. The command line prints it as one line."""


class UserError(ValueError):
    """Something outside the code is wrong; the message says what, where and what to do."""
