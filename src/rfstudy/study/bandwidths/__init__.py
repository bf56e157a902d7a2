"""Rules for the bandwidth of a kernel that has one, one file a rule: ``length_scale`` of the rows that train."""
