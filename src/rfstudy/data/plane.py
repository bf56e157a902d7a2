"""Points of a plane whose angle decides their target, and a plane embedded into many columns, for the generated
stand-ins.

Their classes are the blades of a windmill: the sign of sin(blades x angle) in a plane, moved to the wanted balance. The
boundary depends on directions only, so it survives scaling of the columns and standardising of the rows; a linear
classifier cannot learn it, but random features can, better with more of them.
"""

import numpy as np

#: Standard deviation of the noise (of the whole vector; the points have lengths of 0.5 to 1).
NOISE = 0.1


def points_of(n: int, random: np.random.Generator, label) -> tuple[np.ndarray, np.ndarray]:
    """Return points of the plane (n, 2) with length in [0.5, 1], and the values of ``label`` at their angles (n,)."""
    angle = random.uniform(0, 2 * np.pi, n)
    y = label(angle)
    length = random.uniform(0.5, 1.0, n)
    return np.column_stack([length * np.cos(angle), length * np.sin(angle)]), y


def blades_of(angle: np.ndarray, blades: int, positives: float) -> np.ndarray:
    """Return the classes of angles: +1 for the share ``positives`` with the largest sin(blades x angle), else -1."""
    # the classes have the wanted counts exactly: the boundary is a quantile of the drawn heights
    rank = np.argsort(np.argsort(np.sin(blades * angle)))
    return np.where(rank >= len(angle) - round(positives * len(angle)), 1, -1)


def lay_into_columns(points: np.ndarray, d: int, random: np.random.Generator) -> np.ndarray:
    """Return points (n, 2) embedded in a random plane of d columns, with noise across that plane: (n, d) float32."""
    plane = np.linalg.qr(random.standard_normal((d, 2)))[0]
    noise = random.normal(0, NOISE / np.sqrt(d), (len(points), d))
    return (points @ plane.T + noise - noise @ plane @ plane.T).astype(np.float32)
