"""Claims of the papers: functions of measured rows that return points, a file per paper (see ``registry``)."""
