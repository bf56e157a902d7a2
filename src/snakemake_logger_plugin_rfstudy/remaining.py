"""Estimate the remaining time of a run: the work that is left, at the pace of the finished work."""

#: Jobs and seconds that a run must have finished before it estimates its remaining time.
LEAST_JOBS, LEAST_SECONDS = 5, 20


class Remaining:
    """The remaining work of a run: cores times seconds.

    Parameters
    ----------
    jobs : dict, by the id of a job, its share of the cores and its seconds the last time, or None if these are unknown:
        such a job is expected to take the mean of the others

    Examples
    --------
    Five jobs of 10 s and one of 100 s with the machine to themselves, and two of unknown time with half of it each: the
    mean of the known ones is 25 s. The pace of few jobs, or of few seconds, is not believed.

    >>> run = Remaining(dict.fromkeys(range(5), (1.0, 10.0)) | {5: (1.0, 100.0), 6: (0.5, None), 7: (0.5, None)})
    >>> for job in range(4):
    ...     run.finish(job)
    >>> run.seconds(80.0)
    >>> run.finish(5)
    >>> run.seconds(19.0)
    >>> run.seconds(280.0), 280 / (4 * 10 + 100) * (10 + 2 * 0.5 * 25)
    (70.0, 70.0)
    >>> run.finish(6)
    >>> run.seconds(305.0), 305 / (140 + 0.5 * 25) * (10 + 0.5 * 25)
    (45.0, 45.0)
    >>> Remaining({}).seconds(100.0)
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
    >>> about(44), about(45), about(9.9 * 60), about(54.9 * 60), about(55 * 60), about(299 * 60), about(300 * 60)
    ('under a minute', 'about 1 min', 'about 10 min', 'about 55 min', 'about 1 h', 'about 5 h', 'about 5 h')
    """
    minutes = seconds / 60
    if minutes < 0.75:
        return "under a minute"
    if minutes < 55:
        return f"about {max(1, round(minutes)) if minutes < 10 else 5 * round(minutes / 5)} min"
    return f"about {round(minutes / 30) / 2 if minutes < 300 else round(minutes / 60):g} h"
