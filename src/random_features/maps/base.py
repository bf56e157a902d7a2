"""The base class of all feature maps: the estimator and its phases ``draw``, ``learn`` and ``transform``.

``RandomFeatureMap`` is the template of every map: a subclass draws (``_draw``), learns (``_learn``) and takes over
learned arrays (``_use``), and defines how a block of rows is mapped (``_mapper``). To ``fit`` is to draw and to learn;
to ``restore`` is to draw and to take over arrays that were learned elsewhere.
"""

import operator
from abc import ABC, abstractmethod
from copy import copy, deepcopy
from dataclasses import dataclass, field
from inspect import get_annotations
from numbers import Integral
from typing import ClassVar, dataclass_transform

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from random_features import tensors
from random_features.arrays import block_rows, dense, gains_on_gpu, generator_of, row_blocks
from random_features.errors import all_or_nothing
from random_features.length_scales import in_length_scales
from random_features.maps.blocks import CACHE_BYTES, features_of_array, features_of_tensor, refuse_out_of_range, scaled
from random_features.maps.module import FeatureModule
from random_features.maps.options import check_option, hints_of
from random_features.maps.registry import NAMES, REGISTRY, check_kernel
from random_features.maps.stated import StatesKernel, copies_of, with_length_scale

#: The attributes that scikit-learn's checks of the data leave.
OF_DATA = ("n_features_in_", "feature_names_in_")

#: The entry of ``learned_`` that says which map learned it.
LEARNED_BY = "learned_by"

INCOMPLETE = "%(name)s is not fitted yet: call fit, or learn or restore after draw"


def _equal(value, other) -> bool:
    """Return whether two parameters, which may be arrays, sparse matrices or tensors, are equal."""
    return value is other or np.array_equal(*(dense(tensors.on_host(each)) for each in (value, other)))


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
@dataclass(eq=False, repr=False, kw_only=True)
class RandomFeatureMap(StatesKernel, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Base class of the feature maps: ``transform(X) @ transform(Y).T`` approximates ``kernel(X, Y)``.

    Type and device follow the data: tensors give tensors on their device, and arrays give arrays. For arrays
    ``device="auto"`` is the CPU, unless they are so much work that copies to a GPU do not count
    (``arrays.gains_on_gpu``). Maps that learn from tensors on a GPU say whether they learn there.

    Data may be sparse. Maps that project rows on frequencies never make them dense. The others say so, and make one
    block of rows dense at a time. Features are dense.

    Subclasses are dataclasses: their options are the annotated fields of the class, from which ``__init__`` is made;
    ``ClassVar`` fixes an option of a base class. Every option has a plain value as its default; attributes of a fitted
    map have no annotation. An option is checked by its annotation (``check_option``), and in ``_check_options`` if the
    annotation is not enough.

    A parameter that is set after the map was drawn or fitted takes effect at the next ``fit`` or ``draw``. Until then
    ``transform`` and all other methods do not change. Only ``device`` may change at any time. A ``fit``, ``draw``,
    ``learn`` or ``restore`` that fails leaves the map as it was.

    Attributes
    ----------
    n_features_in_ : int
        d, the columns of the data.
    n_columns_ : int
        D, the columns of the features.
    kernel_ : kernel object
        The kernel that is approximated, of columns that are divided by their ``length_scales_``.
    length_scales_ : ndarray (d,) or None
        The length scales of the columns, where the kernel has one per column.
    learned_ : dict of ndarray
        Everything that depends on the data and cannot be drawn again from the seed, and the map that learned it
        (``learned_by``); empty for most maps.
    """

    kernel: object = field(default=None, kw_only=False)
    n_components: int = field(default=100, kw_only=False)
    device: str = "auto"
    random_state: object = None

    method: ClassVar[str]  #: The name in the registry; a class without an entry has the name of its base class.
    #: Whether ``fit`` needs the targets.
    _requires_y = False
    #: Whether ``_mapper`` takes sparse tensors of sparse data; it takes dense blocks otherwise.
    _takes_sparse_rows = False
    #: Whether ``_learn`` takes a tensor, on its device. Other maps learn from a copy on the CPU.
    _learns_on_device = False
    #: Whether features have a gradient by the data. Maps that learn from data have none in any case.
    _has_gradient = True
    #: Whether rows divided by length scales per column are float64, because the map computes with their differences.
    _in_double = False
    #: The size of a block of rows over ``CACHE_BYTES``: larger where one large product is most of the work.
    _caches_per_block = 1

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.method = NAMES.get(cls.__name__, getattr(cls, "method", None))
        # a class without parameters of its own keeps the __init__ that it inherits
        dataclass(init=bool(get_annotations(cls)), eq=False, repr=False, kw_only=True)(cls)

    @abstractmethod
    def _draw(self, n_features: int, rng: np.random.Generator) -> None:
        """Draw everything that does not depend on the data, in float64; store it by ``_cast``."""

    def _learn(self, X, y, rng: np.random.Generator) -> dict:
        """Return the results of learning from data, as arrays by name; ``_draw`` has been called."""
        return {}

    def _learn_resumably(self, X, y, rng: np.random.Generator, checkpoints) -> dict:
        """Return the results of ``_learn`` for a map that learns for long; ``checkpoints`` as for ``fit``, or None."""
        return self._learn(X, y, rng)

    def _use(self, learned: dict) -> None:
        """Complete the map with the result of ``_learn``, in this process or in another."""

    def _check_drawn(self) -> None:
        """Raise ``ValueError`` if what was drawn, or learned, gives features that are not finite."""

    @abstractmethod
    def _count_columns(self) -> int:
        """Return D, once the map is complete."""

    @abstractmethod
    def _mapper(self, rows: int, device, dtype):
        """Return a function that writes the features of X (r, d) into out (r, D) for r <= ``rows``, torch tensors.

        X may be a sparse tensor where ``_takes_sparse_rows`` says so. The function may keep buffers: every thread makes
        one of its own, and the map itself is only read.
        """

    def _work_columns(self) -> int:
        """Return the columns of the widest intermediate array of ``_mapper``; they decide how many rows fit a cache."""
        return self._count_columns()

    def _products(self) -> int:
        """Return the multiply-adds for a row in products with dense matrices, if these are most of the work, or 0."""
        return 0

    @tensors.full_precision
    @all_or_nothing
    def fit(self, X, y=None, checkpoints=None):
        """Draw the map for the columns of X, and learn from X (and y) if the method uses data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            float32 and float64 are kept, other types become float64. NaN and infinity raise ``ValueError``.
        y : array-like of shape (n,), optional
            Targets; maps that do not learn from them ignore them.
        checkpoints : object, optional
            Store for a map that learns for long. The map saves its state by ``append(**arrays)``. ``load()`` returns
            the states of an earlier process with the same parameters and data, a list of dicts of arrays. Other maps
            ignore it.

        Returns
        -------
        self
        """
        tensors.resolve_device(self.device)  # one that is absent is an error here, not in ``transform``
        X, y = self._rows_to_learn(X, y, reset=True)
        self._draw_for(X.shape[1], tensors.dtype_name(X), lambda kernel: kernel.completed_by(X, y))
        return self._learn_from(X, y, checkpoints)

    @all_or_nothing
    def draw(self, n_features_in: int, *, dtype=np.float32):
        """Draw everything that does not depend on the data; ``learn`` or ``restore`` completes the map.

        Parameters
        ----------
        n_features_in : int
            d, the columns of the data.
        dtype : float32 or float64
            The type of the data that the map is for.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is outside its range, or the map does not support the kernel.
        NotDefinedError
            If the map does not exist for d columns.
        """
        self._draw_first(n_features_in, dtype)
        return self

    def _draw_first(self, n_features_in, dtype, complete=None):
        """Draw the map before any data are seen."""
        check_scalar(n_features_in, "n_features_in", Integral, min_val=1)
        # These belong to an earlier fit: this map knows only the width.
        vars(self).pop("feature_names_in_", None)
        self.n_features_in_ = n_features_in
        self._draw_for(n_features_in, dtype, complete)

    @tensors.full_precision
    @all_or_nothing
    def learn(self, X, y=None, checkpoints=None):
        """Complete the map that ``draw`` has drawn from data; the result is the same every time.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Cast to the type that the map was drawn for. NaN and infinity raise ``ValueError``.
        y, checkpoints : optional
            As in ``fit``.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
            If nothing was drawn before.
        ValueError
            If a parameter was set after the draw.
        """
        check_is_fitted(self, "_rng", msg="%(name)s has nothing to complete: call draw before learn, or fit for both")
        changed = [name for name, value in self._drawn_with.items() if not _equal(getattr(self, name), value)]
        if changed:
            raise ValueError(f"{self.method}: {', '.join(changed)} changed since draw: draw again before learn, or fit")
        width, named = self.n_features_in_, hasattr(self, "feature_names_in_")
        X, y = self._rows_to_learn(X, y, dtype=self._dtype, reset=not named)  # names that ``draw`` did not see
        if X.shape[1] != width:
            raise ValueError(f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {width} features")
        return self._learn_from(X, y, checkpoints)

    @all_or_nothing
    def restore(self, n_features_in: int, learned: dict | None = None, *, dtype=np.float32):
        """Rebuild the map as ``fit`` left it, without data: draw from the seed and use the learned arrays.

        Parameters
        ----------
        n_features_in : int
            d, the columns of the data.
        learned : dict of ndarray
            ``learned_`` of the fitted map.
        dtype : float32 or float64
            The type of the data that the map was fitted on.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If ``random_state`` is not an integer: the draw could not be repeated. If ``learned`` was learned by a map
            with other parameters or another number of columns, or is not complete.
        """
        if not isinstance(self.random_state, Integral):
            raise ValueError(f"only a map with an integer random_state can be restored, got {self.random_state!r}")
        learned = copies_of(learned or {}, self.method)
        learned_by = str(learned.pop(LEARNED_BY, ""))
        try:
            self._draw_first(n_features_in, dtype, lambda kernel: with_length_scale(kernel, learned))
            if learned and learned_by != self._description(learned):
                raise ValueError(
                    f"{self.method}: cannot be restored from what another map learned: this is"
                    f" {self._description(learned)}, it was learned by {learned_by or 'an unknown map'}"
                )
            return self._complete(learned)
        except (KeyError, IndexError) as error:
            raise ValueError(
                f"{self.method}: this map did not learn {', '.join(learned) or 'nothing'}: {error}"
            ) from error

    def prefix(self, n_components: int):
        """Return the fitted map of a smaller size that consists of the first features of this one.

        Only maps with ``prefix`` in their registry entry have it. Their prefix is the map that ``fit`` finds with fewer
        components, and costs nothing.

        Parameters
        ----------
        n_components : int
            From 1 to this map's ``n_components``.

        Returns
        -------
        fitted map of the same class; this one does not change

        Raises
        ------
        NotImplementedError
            If a prefix of this map's features is not the map at a smaller size.
        """
        raise NotImplementedError(f"{self.method}: a prefix of its features is not the map at a smaller size; fit that")

    def transform(self, X):
        """Return the features of X.

        Parameters
        ----------
        X : array-like, sparse matrix or tensor of shape (n, d)
            A tensor, or an array of another library with ``__dlpack__``, is mapped on its own device.

        Returns
        -------
        ndarray of shape (n, D), float32 for float32 data, else float64; of a tensor a tensor
        """
        return self._features(self._rows_to_map(X))

    def transform_blocks(self, X, rows: int | None = None):
        """Return the features of X in blocks of rows, so that the whole matrix is never held.

        Parameters
        ----------
        X : array-like, sparse matrix or tensor of shape (n, d)
        rows : int, optional
            Rows per block; by default as many as ``arrays.block_rows`` allows.

        Returns
        -------
        iterator of (slice, ndarray of shape (rows, D)), every block an array of its own; of a tensor tensors
        """
        X, fitted = self._rows_to_map(X), self._as_fitted()
        if rows is None:
            rows = block_rows(self.n_columns_ * X.dtype.itemsize, getattr(X, "device", None))
        check_scalar(rows, "rows", Integral, min_val=1)
        return ((part, fitted._features(X[part])) for part in row_blocks(X.shape[0], rows))

    def as_module(self):
        """Return the drawn map as a ``torch.nn.Module`` with a learnable length scale (``FeatureModule``).

        Raises
        ------
        ValueError
            For a map that learns from data, or whose features have no gradient.

        Examples
        --------
        >>> import torch
        >>> from random_features import make_map
        >>> module = make_map("orf", n_components=8, random_state=0).fit(torch.zeros(1, 3)).as_module()
        >>> module(torch.zeros(2, 3)).shape
        torch.Size([2, 16])
        """
        check_is_fitted(self, "n_columns_", msg=INCOMPLETE)
        self._check_gradient()
        return FeatureModule(self._as_fitted())

    def _rows_to_map(self, X):
        """Return X after scikit-learn's checks."""
        check_is_fitted(self, "n_columns_", msg=INCOMPLETE)
        X = tensors.checked_rows(self, X, self.device)
        if not isinstance(X, torch.Tensor):
            self._warn_of_rounding(X)
        return X

    def _warn_of_rounding(self, X, extremes=None) -> None:
        """Warn if rounding of numbers as large as in X, an array, csr matrix or tensor, spoils the features.

        ``extremes`` are the smallest and the largest, if they are known.
        """

    def _reads_data(self) -> bool:
        """Return whether ``fit`` uses more of X than its columns and its type."""
        has_rule = isinstance(getattr(self._kernel_object(), "length_scale", None), str)
        return has_rule or REGISTRY[self.method].data_dependent

    def _learns_on_host(self, X) -> bool:
        """Return whether a tensor X is learned from as an array: on the CPU, and if the map cannot learn elsewhere."""
        return X.device.type == "cpu" or (REGISTRY[self.method].data_dependent and not self._learns_on_device)

    def _features(self, X):
        """Return the features (n, D) of X (n, d), which was checked, on the device of a tensor."""
        if torch.compiler.is_compiling():  # which cannot follow NumPy into the memory of tensors
            return torch.compiler.disable(self._features)(X)
        if isinstance(X, torch.Tensor):
            extremes = tensors.check_finite(X)
            self._warn_of_rounding(X, extremes)
            if tensors.needs_gradient(X):
                self._check_gradient()
            elif X.device.type == "cpu":
                return torch.from_numpy(self._features(X.numpy()))
        fitted = self._as_fitted()
        how = scaled(fitted._mapper, self.length_scales_, self._in_double), X, self.n_columns_, fitted._work_columns()
        if not isinstance(X, torch.Tensor):
            device, cache_bytes = fitted._device_for(X), self._caches_per_block * CACHE_BYTES
            return features_of_array(*how, device, cache_bytes, fitted._growth(), sparse=fitted._takes_sparse_rows)
        features = features_of_tensor(*how)
        refuse_out_of_range(extremes, features.detach(), fitted._growth())
        return features

    def _device_for(self, X):
        """Return the device that maps an array X (n, d): the one that is stated, or the one that gains."""
        gains = X.dtype == np.float32 and gains_on_gpu(X.shape[0], X.shape[1] + self.n_columns_, self._products())
        return tensors.resolve_device("cpu" if self.device == "auto" and not gains else self.device)

    def _check_gradient(self) -> None:
        """Raise ``ValueError`` if features of this map have no gradient by the data."""
        if REGISTRY[self.method].data_dependent or not self._has_gradient:
            raise ValueError(f"{self.method}: its features have no gradient: detach X, or use a map that is only drawn")

    def _rows_to_learn(self, X, y, **checks):
        """Return X, and y if the map learns from it, after scikit-learn's checks; X as it is learned from."""
        X, y = tensors.checked_rows(self, X, self.device, **checks), tensors.on_host(y)
        if isinstance(X, torch.Tensor) and self._reads_data():
            tensors.check_finite(X)
            X = tensors.on_host(X) if self._learns_on_host(X) else X.detach()
        return X, tensors.checked_targets(y, X.shape[0]) if self._requires_y else y

    def check_parameters(self) -> None:
        """Raise ``ValueError`` for parameters outside their range, and for a kernel that the map does not support.

        ``draw`` and ``fit`` call it themselves.
        """
        checked = copy(self)
        checked.kernel_ = checked._kernel_object()
        check_kernel(checked.method, checked.kernel_)
        for name, hint in hints_of(type(self)).items():
            check_option(name, getattr(self, name, None), hint)
        checked._check_options()

    def _draw_for(self, n_features, dtype, complete=None):
        """Check the parameters, then draw what does not depend on data.

        ``complete`` turns a kernel whose length scale needs data into one with a number.
        """
        self.check_parameters()
        # What an earlier fit drew and learned belongs to another map.
        for name in [name for name in vars(self) if name.endswith("_") and name not in OF_DATA]:
            delattr(self, name)
        self._completed = self._kernel_object() if complete is None else complete(self._kernel_object())
        self.kernel_, self.length_scales_ = self._completed.isotropic()
        dtype = tensors.float_type(dtype)
        in_length_scales(np.empty((0, n_features), dtype), self.length_scales_)  # as many as columns, in its range
        self._dtype = dtype
        # NumPy's integers have few bits, and overflow in the numbers of columns that are computed from this one.
        self.n_components = operator.index(self.n_components)
        self._drawn_with = {name: value for name, value in self.get_params(deep=False).items() if name != "device"}
        rng = generator_of(self.random_state)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # ``_check_drawn`` refuses the result
            self._draw(n_features, rng)
        self._rng = rng

    def _learn_from(self, X, y, checkpoints):
        X = in_length_scales(X, self.length_scales_, self._in_double)
        # A copy of the generator as the draw has left it, so that learning again gives the same.
        return self._complete(self._learn_resumably(X, y, deepcopy(self._rng), checkpoints))

    def _check_options(self) -> None:
        """Raise ``ValueError`` for options outside their range."""

    def _complete(self, learned):
        learned = {name: array for name, array in learned.items() if name != LEARNED_BY}
        self._use(learned)
        self._check_drawn()
        from_data = self._completed != self._kernel_object()
        self.learned_ = learned | ({"length_scale": np.array(self._completed.length_scale)} if from_data else {})
        if self.learned_:
            self.learned_[LEARNED_BY] = np.array(self._description(self.learned_))
        self.n_columns_ = self._count_columns()
        return self

    def _as_fitted(self):
        """Return a shallow copy of this map with the parameters that it was drawn with, if it was."""
        fitted = copy(self)
        vars(fitted).update(vars(self).get("_drawn_with", {}))
        return fitted

    def _shortened(self, n_components):
        """Return this map as it was fitted, not yet complete, with fewer components."""
        check_is_fitted(self, "n_columns_", msg=INCOMPLETE)
        shorter = self._as_fitted()
        check_scalar(n_components, "n_components", Integral, min_val=1, max_val=shorter.n_components)
        shorter.n_components = n_components
        shorter._drawn_with = self._drawn_with | {"n_components": n_components}
        return shorter

    def _cast(self, array):
        """Return the array in the type of the data that the map was fitted on."""
        with np.errstate(over="ignore"):  # ``_check_drawn`` refuses the result
            return np.ascontiguousarray(array, dtype=self._dtype)

    def _growth(self):
        """Return the power with which the features, or the numbers they are computed from, grow with the data."""
        return 2

    @property
    def _n_features_out(self):
        return self.n_columns_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = getattr(self.kernel, "name", self.kernel) == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = self._requires_y
        return tags
