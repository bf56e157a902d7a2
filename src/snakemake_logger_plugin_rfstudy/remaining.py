"""Estimate the remaining time of a run: the work that is left, at the pace of the finished work."""

#: Jobs and seconds that a run must have finished before it estimates its remaining time.
LEAST_JOBS, LEAST_SECONDS = 5, 20


class Remaining:
    """The remaining work of a run: cores times seconds.

    Parameters
    ----------
    jobs : dict, by the id of a job, its share of the cores and its seconds the last time, or None if these are unknown:
        such a job is expected to take the mean of the others
    """

    def __init__(self, jobs: dict[int, tuple[float, float | None]]):
        known = [seconds for _, seconds in jobs.values() if seconds is not None]
        usual = sum(known) / len(known) if known else 1.0
        self.work = {job: share * (usual if seconds is None else seconds) for job, (share, seconds) in jobs.items()}
        self.finished, self.done = 0, 0.0

    def finish(self, job: int) -> None:
        """Count the work of a job as done."""
        self.done += self.work.pop(job, 0.0)
        self.finished += 1

    def seconds(self, elapsed: float) -> float | None:
        """Return the estimated seconds of the rest after ``elapsed`` seconds; None while that would be a guess."""
        if self.finished < LEAST_JOBS or elapsed < LEAST_SECONDS or not self.done:
            return None
        return elapsed * sum(self.work.values()) / self.done


def clock(seconds: float) -> str:
    """Return seconds as on a clock.

    >>> clock(75), clock(3_723)
    ('1:15', '1:02:03')
    """
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def about(seconds: float) -> str:
    """Return an estimated duration in words, no finer than it can be known.

    >>> about(20), about(100), about(17 * 60), about(100 * 60), about(30 * 3600)
    ('under a minute', 'about 2 min', 'about 15 min', 'about 1.5 h', 'about 30 h')
    """
    minutes = seconds / 60
    if minutes < 0.75:
        return "under a minute"
    if minutes < 55:
        return f"about {max(1, round(minutes)) if minutes < 10 else 5 * round(minutes / 5)} min"
    return f"about {round(minutes / 30) / 2 if minutes < 300 else round(minutes / 60):g} h"
