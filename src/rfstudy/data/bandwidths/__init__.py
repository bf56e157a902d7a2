"""Rules for the bandwidth of a kernel, one file per rule: ``length_scale`` of the training rows."""
