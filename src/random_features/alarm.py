"""Stop work that takes too long, by the signal of the clock: it interrupts a wait for a server, too."""

import signal
from contextlib import contextmanager


@contextmanager
def alarm(seconds: float, error: Exception):
    """Raise an error inside the block after so many seconds. The function that is yielded starts them anew."""
    raised = []

    def stop(*_):
        raised.append(error)
        raise error

    def renew():
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))

    before = signal.signal(signal.SIGALRM, stop)
    try:
        renew()
        yield renew
    except Exception:
        if raised:
            raise error from None  # code in C may have translated it
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
