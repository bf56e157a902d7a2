"""Claims of the papers: functions of measured rows that return points, one file per paper (see ``registry``)."""
