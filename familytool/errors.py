"""The errors a user can meet, each one sentence: where, what was found, and the way out."""


class FamilytoolError(Exception):
    """A bad file, endpoint, run folder or release; `familytool` prints it without a traceback and exits with 1."""

    exit_code = 1


class UsageError(FamilytoolError):
    """What was asked for cannot be meant: an unknown campaign, key or option; exit code 2."""

    exit_code = 2


class ShortfallError(FamilytoolError):
    """A stratum or quota that cannot be filled; the message says which one lacks how many."""
