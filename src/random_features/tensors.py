"""Arrays of any library as torch tensors, the device that computes, and functions that write into memory at hand.

The functions are written once for all devices. On the CPU they call NumPy on the memory of the tensors where it is
faster, and where a gradient is needed they copy their results, because autograd follows copies only.
"""

import re
import warnings
import weakref
from functools import cache, wraps

import numpy as np
import torch
from scipy import linalg
from scipy.sparse import csr_matrix
from torch.autograd.forward_ad import unpack_dual

from random_features.arrays import check_numbers, decomposing, is_sparse, readable, without_duplicates


def resolve_device(device: str = "auto"):
    """Return the torch device for "auto" (CUDA where there is one), "cpu", "cuda" or "cuda:<number>", or such a device.

    Raises ``ValueError`` for another name and ``RuntimeError`` for a CUDA device that is absent.
    """
    device = str(device) if isinstance(device, torch.device) else device
    if device not in ("auto", "cpu") and not (isinstance(device, str) and re.fullmatch(r"cuda(:\d+)?", device)):
        raise ValueError(f"device must be 'auto', 'cpu', 'cuda' or 'cuda:1' (a number), got {device!r}")
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    found, devices = torch.device(device), torch.cuda.device_count()
    if found.type == "cuda" and (found.index or 0) >= devices:
        raise RuntimeError(f"device={device!r}: PyTorch sees {devices} CUDA devices; use 'auto' or 'cpu'")
    return found


def from_library(X):
    """Return an array of torch, JAX, CuPy or another library with ``__dlpack__`` as a tensor that shares its memory.

    None for anything else, for arrays of NumPy, and for those that share nothing but that NumPy reads, as PyArrow's of
    text. A tensor that is the negative or the conjugate of its memory is computed.
    """
    if isinstance(X, torch.Tensor):
        return X.resolve_conj().resolve_neg()
    if isinstance(X, np.ndarray | np.generic) or not hasattr(X, "__dlpack__"):
        return None
    if any(step < 0 for step in getattr(X, "strides", None) or ()):
        raise ValueError("an array of negative strides would end the process in PyTorch: give a copy of it")
    try:
        return torch.from_dlpack(X)
    except (TypeError, BufferError):
        if hasattr(X, "__array__"):
            return None
        raise


def namespace(array):
    """Return the module with the functions of an array: ``torch`` for a tensor, else ``numpy``."""
    return torch if isinstance(array, torch.Tensor) else np


def dtype_name(array) -> str:
    """Return the name of the type of an array or tensor, "float32"."""
    return _name_of(array.dtype)


@cache
def _name_of(dtype) -> str:
    return str(dtype).removeprefix("torch.")  # NumPy builds the text at every call


def float_type(dtype) -> np.dtype:
    """Return a type of NumPy or PyTorch, or its name, as one of NumPy; ``ValueError`` unless float32 or float64."""
    name = str(dtype).removeprefix("torch.") if isinstance(dtype, torch.dtype) else np.dtype(dtype).name
    if name not in ("float32", "float64"):
        raise ValueError(f"dtype must be float32 or float64, got {name}")
    return np.dtype(name)


def cast(array, dtype: str):
    """Return an array or tensor in a type, by its name; a copy unless it has the type."""
    return array.to(getattr(torch, dtype)) if isinstance(array, torch.Tensor) else array.astype(dtype, copy=False)


def empty(shape, dtype: str, like):
    """Return an array or tensor without values, of the library and on the device of ``like``."""
    if isinstance(like, torch.Tensor):
        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)
    return np.empty(shape, dtype=dtype)


def like(array, other):
    """Return an array or tensor, or None, in the library and on the device of another one."""
    return as_tensor(array, other.device) if array is not None and isinstance(other, torch.Tensor) else on_host(array)


def zeros(shape, like):
    """Return zeros in float64, of the library and on the device of ``like``."""
    is_tensor = isinstance(like, torch.Tensor)
    return torch.zeros(shape, dtype=torch.float64, device=like.device) if is_tensor else np.zeros(shape)


def concatenated(parts):
    """Return arrays or tensors of one library, at least one, in one, the rows of the first before the others."""
    parts = list(parts)
    return namespace(parts[0]).concatenate(parts)


def checked_rows(estimator, X, device: str = "auto", *, dtype=("float64", "float32"), reset: bool = False):
    """Return data X (n, d) of an estimator after scikit-learn's checks, in a type of ``dtype``, or in this type.

    An array-like or csr matrix becomes an ndarray or csr matrix of finite numbers. A tensor, or an array of another
    library, becomes a tensor on its device, whose numbers are not read: ``check_finite`` does so. Errors are as in
    ``check_numbers`` and ``validate_data``, and ``ValueError`` if X is not on the ``device`` that the estimator states.
    """
    from sklearn.utils.validation import validate_data

    tensor = from_library(X)
    if tensor is None:
        if type(X).__name__ == "RecordBatch":  # scikit-learn would not read the names of its columns
            from pyarrow import Table

            X = Table.from_batches([X])
        X = validate_data(estimator, check_numbers(X), accept_sparse="csr", dtype=dtype, reset=reset)
        return without_duplicates(X)
    tensor = _checked_tensor(tensor, device)
    validate_data(estimator, tensor, reset=reset, skip_check_array=True)
    return tensor if isinstance(dtype, tuple) else cast(tensor, np.dtype(dtype).name)


def checked_targets(y, n_rows: int, **checks):
    """Return targets y of so many rows after scikit-learn's checks; errors are as in ``check_numbers``, too."""
    from sklearn.utils.validation import check_X_y

    return check_X_y(np.zeros((n_rows, 1)), check_numbers(y, "y"), **checks)[1]


def _checked_tensor(X, device):
    if X.ndim != 2 or not X.numel() or X.layout != torch.strided or X.is_complex():
        raise ValueError(
            f"X must be a dense real tensor (n, d) with rows and columns, got {X.dtype}, {X.layout}, of shape"
            f" {tuple(X.shape)}: give a sparse one as a csr matrix of SciPy"
        )
    stated = X.device if device == "auto" else resolve_device(device)
    if stated.type != X.device.type or stated.index not in (None, X.device.index):
        raise ValueError(f"X is on {X.device}, device={device!r}: move X there, or set device='auto'")
    if X.device.type not in ("cpu", "cuda"):  # others, as Apple's, have no float64
        raise ValueError(f"X is on {X.device}: maps and machines compute on the CPU and on CUDA; move X to the CPU")
    return X if X.dtype in (torch.float32, torch.float64) else X.double()


def check_finite(X) -> list[float]:
    """Return the smallest and the largest number of a tensor; ``ValueError`` if not all are finite."""
    extremes = torch.stack(torch.aminmax(X.detach())).tolist()
    if not np.isfinite(extremes).all():
        raise ValueError("X contains NaN or infinity")
    return extremes


def on_host(X):
    """Return a tensor, another library's array, or a column of integers or bools, as an ndarray; else X as it is.

    scikit-learn makes floats of the nullable columns of pandas. A float of a type that NumPy lacks becomes float64.
    """
    if isinstance(X, np.ndarray | np.generic):
        return X
    if (tensor := from_library(X)) is not None:
        return readable(tensor.detach().cpu()).numpy()
    if hasattr(X, "columns") or not hasattr(X, "__array__"):
        return X
    array = np.asarray(X)
    return array if array.dtype.kind in "biu" else X


def times_columns(X, factors):
    """Return a tensor X (n, d), dense or sparse and coalesced, with its columns multiplied by factors (d,)."""
    if not X.is_sparse:
        return X * factors
    indices = X.indices()
    how = {"is_coalesced": True, "check_invariants": False}
    return torch.sparse_coo_tensor(indices, X.values() * factors[indices[1]], X.shape, **how)


#: Copies of a map's arrays on CUDA devices, which live as long as the arrays do.
_COPIES: dict[tuple, torch.Tensor] = {}


def constant(array: np.ndarray, device, dtype=None):
    """Return an array that is never changed as a tensor on a device, by default in its own type.

    The copy on a CUDA device is made once. On the CPU the tensor shares the memory of the array if the types agree.
    """
    key = id(array), device, dtype
    if key in _COPIES:
        return _COPIES[key]
    own = array if array.flags.writeable else array.copy()  # PyTorch warns of what joblib maps into memory
    if device.type == "cpu":
        return torch.from_numpy(own).to(dtype=dtype)
    with torch.inference_mode(False):  # a tensor of inference mode can have no part in a later gradient
        _COPIES[key] = torch.from_numpy(own).to(device, dtype)
    weakref.finalize(array, _COPIES.pop, key, None)
    return _COPIES[key]


def needs_gradient(*tensors) -> bool:
    """Return whether autograd records what is computed from these tensors, or carries their tangents forward."""
    is_recorded = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
    return is_recorded or any(unpack_dual(tensor).tangent is not None for tensor in tensors)


def full_precision(function):
    """Decorate a function whose products keep their precision within ``torch.autocast``: phases would be spoilt."""

    @wraps(function)
    def precise(*args, **options):
        if not (torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")):
            return function(*args, **options)
        # contexts of this call: one that calls or threads share restores the state that another has found
        with torch.autocast("cpu", enabled=False), torch.autocast("cuda", enabled=False):
            return function(*args, **options)

    return precise


def write(function, *inputs, out) -> None:
    """Write ``function(*inputs)`` into ``out``; the function is one of torch that takes ``out``."""
    if needs_gradient(*(value for value in inputs if isinstance(value, torch.Tensor))):
        out.copy_(function(*inputs))
    else:
        function(*inputs, out=out)


def exponential(exponents, out) -> None:
    """Write the exponentials of a tensor into another. On the CPU, NumPy takes half the time of torch."""
    _write_by_numpy("exp", exponents, out, exponents.device.type == "cpu")


def cosine(angles, out) -> None:
    """Write the cosines of a tensor, in radians, into another.

    On the CPU, NumPy takes half the time of torch in float32, and several times as long in float64.
    """
    _write_by_numpy("cos", angles, out, angles.device.type == "cpu" and angles.itemsize == 4)


def sine(angles, out) -> None:
    """Write the sines of a tensor, in radians, into another, as ``cosine`` does."""
    _write_by_numpy("sin", angles, out, angles.device.type == "cpu" and angles.itemsize == 4)


def _write_by_numpy(name: str, values, out, in_numpy: bool) -> None:
    """Write a function of a tensor into another, by NumPy if that is asked for and no gradient is needed."""
    if in_numpy and not needs_gradient(values):
        getattr(np, name)(values.numpy(), out=out.numpy())
    else:
        write(getattr(torch, name), values, out=out)


def numpy_reads(tensor) -> bool:
    """Return whether NumPy can compute on the memory of a tensor."""
    return tensor.device.type == "cpu"


def product(A, B, out) -> None:
    """Write A @ B into ``out``, arrays or tensors of one device.

    On the CPU NumPy computes it, with the faster BLAS, in half the time where A is the transpose of B.
    """
    if isinstance(A, np.ndarray):
        np.matmul(A, B, out=out)
    elif numpy_reads(A) and not needs_gradient(A, B):
        np.matmul(A.numpy(), B.numpy(), out=out.numpy())
    else:
        write(torch.matmul, A, B, out=out)


def cholesky(matrix):
    """Return the lower Cholesky factor of a symmetric matrix in float64, which is overwritten.

    ``numpy.linalg.LinAlgError`` if the matrix is not positive definite.
    """
    if isinstance(matrix, torch.Tensor):
        factor, failed = torch.linalg.cholesky_ex(matrix)
    else:  # the transpose of a symmetric C-ordered matrix is no copy
        with decomposing(len(matrix)):
            factor, failed = linalg.lapack.dpotrf(np.asfortranarray(matrix.T), lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the matrix is not positive definite")
    return factor


def cholesky_solve(factor, rhs):
    """Return the solution (D, m) of the system of a factor of ``cholesky``."""
    if isinstance(factor, torch.Tensor):
        return torch.cholesky_solve(rhs, factor)
    return linalg.lapack.dpotrs(factor, rhs, lower=1)[0]


def diagonal_of_inverse(factor):
    """Return the diagonal (D,) of the inverse of the matrix of a factor of ``cholesky``, which is overwritten."""
    if isinstance(factor, torch.Tensor):
        return torch.cholesky_inverse(factor).diagonal()
    with decomposing(len(factor)):
        return linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)[0].diagonal()


def solve_triangular(factor, rhs, *, transposed=False):
    """Return the solution of L x = rhs, or L' x = rhs, for a lower triangular matrix L (D, D) and rhs (D, m)."""
    if isinstance(factor, torch.Tensor):
        return torch.linalg.solve_triangular(factor.T if transposed else factor, rhs, upper=transposed)
    return linalg.solve_triangular(factor, rhs, lower=True, trans=int(transposed))


def row_reader(X, *, sparse: bool):
    """Return a function that reads the rows in a slice of X (n, d) as a torch tensor, on the device of X.

    Parameters
    ----------
    X : ndarray, tensor, or csr or csc matrix without duplicate entries
        The tensors of an ndarray share its memory; they are only read.
    sparse : bool
        Whether its rows are returned as sparse tensors (COO, coalesced). Otherwise they are made dense.
    """
    if isinstance(X, torch.Tensor):
        return X.__getitem__
    if not is_sparse(X):
        return as_tensor(X).__getitem__
    if not sparse:
        return lambda part: torch.from_numpy(X[part].toarray())
    X = X.tocsr()  # the indices of a csc matrix are rows
    return lambda part: _sparse_tensor(X[part])


def as_tensor(array, device="cpu"):
    """Return an array, or tensor, as a tensor on a device that shares its memory where possible; it is only read."""
    if isinstance(array, torch.Tensor):
        return array.to(device)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        array = np.ravel(array).reshape(np.shape(array))  # the steps of a single reversed row stay negative otherwise
        return torch.from_numpy(array.astype(array.dtype.newbyteorder("="), copy=False)).to(device)


def as_rows(tensor):
    """Return a tensor on the CPU (n, d) as an array; a sparse one of ``row_reader`` as a csr matrix."""
    if not tensor.is_sparse:
        return tensor.numpy()
    of_entries, columns = tensor.indices().numpy()
    starts = np.searchsorted(of_entries, np.arange(len(tensor) + 1))
    return csr_matrix((tensor.values().numpy(), columns, starts), shape=tuple(tensor.shape))


def _sparse_tensor(rows):
    """Return a csr matrix as a coalesced tensor."""
    of_entries = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    indices = torch.from_numpy(np.stack([of_entries, rows.indices]))
    how = {"is_coalesced": True, "check_invariants": False}  # a csr matrix has them
    return torch.sparse_coo_tensor(indices, as_tensor(rows.data), rows.shape, **how)
