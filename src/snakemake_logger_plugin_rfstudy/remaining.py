"""How long a run will still take, from the jobs that are planned, those that run and those that have finished."""

from dataclasses import dataclass, field

#: Jobs and seconds that a run must have behind it before it says how long it will take, unless earlier runs tell.
LEAST_JOBS, LEAST_SECONDS = 5, 20

#: Share of the jobs whose earlier times are known from which they are believed at once.
KNOWN = 0.5


@dataclass(frozen=True)
class Planned:
    """A job that is to run: its stage, the share of the cores that it takes, and how long it took the last time."""

    stage: str
    share: float
    before: float | None = None  # seconds, None where there is no record


@dataclass
class Remaining:
    """The jobs of a run by id, with what is known of their times."""

    planned: dict[int, Planned] = field(default_factory=dict)
    started: dict[int, float] = field(default_factory=dict)
    took: dict[int, float] = field(default_factory=dict)

    def start(self, job: int, now: float) -> None:
        """A job has been started, or started again."""
        self.started[job] = now

    def finish(self, job: int, now: float) -> float:
        """A job has finished; the seconds that it took."""
        seconds = now - self.started.pop(job, now)
        if job in self.planned:
            self.took[job] = seconds
        return seconds

    def fail(self, job: int) -> None:
        """A job does not run any more, and has not finished."""
        self.started.pop(job, None)

    def seconds(self, elapsed: float, now: float) -> float | None:
        """About how long the rest takes after ``elapsed`` seconds; None while that would be a guess.

        A job is expected to take what it took in an earlier run, at the pace of this one, else the mean of the
        finished jobs of its stage, else of all finished jobs. The cores are expected to be as busy as until now.
        """
        known = sum(job.before is not None for job in self.planned.values())
        if not self.planned:
            return None
        if known < KNOWN * len(self.planned) and (len(self.took) < LEAST_JOBS or elapsed < LEAST_SECONDS):
            return None
        left = work = 0.0
        for number, job in self.planned.items():
            running = now - self.started[number] if number in self.started else 0.0
            if number in self.took:
                work += job.share * self.took[number]
            else:
                work += job.share * running
                left += job.share * max(0.0, self.expected(job) - running)
        busy = min(1.0, max(0.3, work / elapsed)) if elapsed >= LEAST_SECONDS else 1.0
        return left / busy

    def expected(self, job: Planned) -> float:
        """The seconds that a job is expected to take from its beginning."""
        if job.before is not None:
            return job.before * self.pace()
        of_stage = [seconds for number, seconds in self.took.items() if self.planned[number].stage == job.stage]
        finished = of_stage or list(self.took.values()) or [j.before for j in self.planned.values() if j.before]
        return sum(finished) / len(finished) if finished else 0.0

    def pace(self) -> float:
        """How much longer the finished jobs took than in an earlier run."""
        pairs = [(seconds, self.planned[number].before) for number, seconds in self.took.items()]
        pairs = [(seconds, before) for seconds, before in pairs if before]
        # a job finished by a journal takes no time and says nothing of the others: a single one is not believed
        return sum(s for s, _ in pairs) / sum(b for _, b in pairs) if len(pairs) >= LEAST_JOBS else 1.0


def clock(seconds: float) -> str:
    """Seconds as on a clock.

    >>> clock(75), clock(3_723)
    ('1:15', '1:02:03')
    """
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def about(seconds: float) -> str:
    """A time to come, no finer than it can be known.

    >>> about(20), about(100), about(17 * 60), about(100 * 60), about(30 * 3600)
    ('under a minute', 'about 2 min', 'about 15 min', 'about 1.5 h', 'about 30 h')
    """
    minutes = seconds / 60
    if minutes < 0.75:
        return "under a minute"
    if minutes < 55:
        return f"about {max(1, round(minutes)) if minutes < 10 else 5 * round(minutes / 5)} min"
    return f"about {round(minutes / 30) / 2 if minutes < 300 else round(minutes / 60):g} h"
