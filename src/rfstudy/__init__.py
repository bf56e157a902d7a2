"""Random features for kernel methods: the maps, the learners and the study that compares them.

Import what you need from the submodules (``rfstudy.maps``, ``rfstudy.kernels``, ``rfstudy.learners``);
this module imports nothing, so that the command line starts at once.
"""

__version__ = "0.1.0"
