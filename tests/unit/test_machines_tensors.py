"""Machines on tensors: tensors in, tensors out, on their device, and the results of arrays."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from in_memory import keep_tensors_in_place
from sklearn.base import clone, is_classifier

from random_features import make_map
from random_features.kernels import Gaussian, Laplacian, Polynomial
from random_features.machines import KernelMachineClassifier, KernelMachineRegressor, base

RNG = np.random.default_rng(0)
X, NEW = RNG.uniform(-2, 2, (300, 3)), RNG.uniform(-2, 2, (50, 3))
Y = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1], X[:, 2]]) + 0.1 * RNG.normal(size=(300, 2))
CLASSES, WEIGHTS = (X[:, :2] > 0) @ [1, 2], RNG.integers(0, 4, 300).astype(float)
PHI, GRID = make_map("orf", Gaussian(2.0), n_components=50, random_state=0), [1e-5, 1e-3, 1e-1]
#: A machine of every loss on a map, and of the exact kernel, whose matrix is held or not. They use all learners
#: of the registry but l1_svm, which is libsvm's.
MACHINES = {
    "ridge": KernelMachineRegressor(PHI, GRID),
    "ridge, uncertain": KernelMachineRegressor(PHI, 1e-3, uncertainty=True),
    "exact": KernelMachineRegressor(Gaussian(1.0), GRID, uncertainty=True),
    "exact, not Gaussian": KernelMachineRegressor(Laplacian(1.0), 1e-3),
    "exact, not held": KernelMachineRegressor(Gaussian(1.0), 1e-3),
    "nystroem": KernelMachineRegressor(make_map("nystroem", "rbf", random_state=0), 1e-3),
    "ridge of classes": KernelMachineClassifier(PHI, GRID),
    "logistic": KernelMachineClassifier(PHI, GRID, loss="logistic"),
    "svm": KernelMachineClassifier(PHI, GRID, loss="squared_hinge", class_weight="balanced"),
    "exact of classes": KernelMachineClassifier(Gaussian(1.0), GRID),
}
every_machine = pytest.mark.parametrize("name", MACHINES)
every_device = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])


@pytest.fixture(autouse=True)
def few_rows_held(request, monkeypatch):
    """Let conjugate gradients solve where the name of the machine says it, and tensors be as far as on a device."""
    monkeypatch.setattr("random_features.tensors.numpy_reads", lambda tensor: False)
    if "not held" in request.node.name:
        monkeypatch.setattr(base, "MOST_HELD", 100)
        monkeypatch.setattr(base, "TOLERANCE", 1e-10)


def there(array, device):
    return torch.from_numpy(array).to(device)


def targets_of(machine):
    return CLASSES if is_classifier(machine) else Y


@every_device
@every_machine
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["no weights", "weights"])
def test_cuda_agrees_with_the_cpu(name, weights, device):
    """Every machine, and so the learners behind it, on tensors of each device against arrays."""
    machine, y = MACHINES[name], targets_of(MACHINES[name])
    expected = clone(machine).fit(X, y, weights)
    for labels in (y, there(y, device)):
        found = clone(machine).fit(there(X, device), labels, weights)
        assert found.penalty_ == expected.penalty_
        assert found.model_.coef.device.type == device
        new = there(NEW, device)
        for method in ("predict", "decision_function", "predict_proba"):
            if hasattr(machine, method):
                values = getattr(found, method)(new)
                assert (isinstance(values, torch.Tensor), values.device.type) == (True, device)
                close = {"atol": 2e-3 if "s" in name[:1] or "log" in name else 1e-6, "rtol": 1e-6}
                np.testing.assert_allclose(values.cpu().numpy(), getattr(expected, method)(NEW), **close)
        assert found.score(new, found.predict(new)) == 1.0
    assert isinstance(found.predict(NEW), np.ndarray)
    if name.startswith("ridge"):  # the predictions before they are clipped, with a gradient
        assert found.model_.decision(found.map_.transform(new.clone().requires_grad_())).requires_grad
    assert isinstance(expected.predict(new), torch.Tensor)
    np.testing.assert_allclose(expected.predict(new).cpu().numpy(), expected.predict(NEW), atol=1e-6)


@every_device
@pytest.mark.parametrize("name", [name for name, machine in MACHINES.items() if getattr(machine, "uncertainty", False)])
def test_deviations_and_random_functions_of_tensors(name, device):
    expected, found = MACHINES[name].fit(X, Y, WEIGHTS + 1), clone(MACHINES[name])
    found.fit(there(X, device), there(Y, device), WEIGHTS + 1)
    new = there(NEW, device)
    for ours, theirs in zip(found.predict(new, return_std=True), expected.predict(NEW, return_std=True), strict=True):
        assert ours.device.type == device
        np.testing.assert_allclose(ours.cpu().numpy(), theirs, atol=1e-7)
    np.testing.assert_allclose(found.predict(NEW, return_std=True)[1], theirs, atol=1e-7)
    assert float(found.log_marginal_likelihood()) == pytest.approx(float(expected.log_marginal_likelihood()))
    functions = pickle.loads(pickle.dumps(found.sample_functions(3)))
    values = functions(new)
    assert (values.shape, values.device.type) == ((50, 2, 3), device)
    np.testing.assert_allclose(values.cpu().numpy(), expected.sample_functions(3)(NEW), atol=1e-6)
    np.testing.assert_allclose(functions(NEW), values.cpu().numpy(), atol=1e-9)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@every_machine
def test_features_and_kernel_matrices_keep_their_place_and_precision(name, dtype, monkeypatch):
    # the rows of an exact kernel are the points of its tiles, and a preconditioner draws 100 rows at a time of its
    # factor; landmarks and steps are fewer numbers, and features, or a matrix, 30,000 and 90,000
    keep_tensors_in_place(monkeypatch, 100 * 300 if "not held" in name else X.size, ("cpu", "tolist"))
    rows, y = there(X, "cpu").to(dtype), targets_of(MACHINES[name])
    expected = clone(MACHINES[name]).fit(rows, y).predict(rows)
    with torch.autocast("cpu"):  # whose products of float32 numbers are bfloat16
        assert torch.equal(clone(MACHINES[name]).fit(rows, y).predict(rows), expected)
    with torch.inference_mode():  # a tensor of this mode can have no part in a later gradient
        model = clone(MACHINES[name]).fit(rows, y).model_
    assert not any(each.is_inference() for each in (model.coef, model.intercept))


@every_device
def test_parts_of_the_rows_on_tensors(device):
    far = make_map("trp", Polynomial(degree=2, coef0=1e6), n_components=40, random_state=0)
    phi = clone(PHI).set_params(kernel=Gaussian(there(np.array([1.0, 2.0, 3.0]), device)))
    numbers, labels = KernelMachineRegressor(phi, 1e-3), KernelMachineClassifier(phi, 1e-3)
    for machine, y in ((numbers, Y), (KernelMachineRegressor(far, 1e-3), Y), (labels, CLASSES)):
        classes = {"classes": there(np.arange(4), device)} if y is CLASSES else {}
        expected = clone(machine).fit(X, y)._decide(NEW)
        for tensors in ((True, True), (True, False), (False, True)):  # also next to parts that are arrays
            parts = clone(machine)
            for rows, is_tensor in zip((slice(0, 120), slice(120, 300)), tensors, strict=True):
                part = (X[rows], y[rows])
                parts.partial_fit(*(there(each, device) if is_tensor else each for each in part), **classes)
            np.testing.assert_allclose(parts._decide(there(NEW, device)).cpu().numpy(), expected, atol=1e-8)


@pytest.mark.parametrize(
    "labels",
    [torch.tensor(CLASSES).bfloat16(),
     CLASSES.astype(">i4"), CLASSES.astype(">f8"), CLASSES.astype(str),
     pa.array(CLASSES), pa.array(CLASSES > 1), pa.array(CLASSES.astype(str)),
     pa.array(CLASSES.astype(str)).dictionary_encode(),
     pd.Series(CLASSES + 2**53, dtype="Int64"), pd.array(CLASSES > 1, dtype="boolean")],
    ids=lambda labels: f"{type(labels).__name__} {getattr(labels, 'dtype', getattr(labels, 'type', None))}",
)  # fmt: skip
def test_labels_of_any_library_and_type_are_like_those_of_numpy(labels):
    plain = np.array(labels.tolist())
    expected = KernelMachineClassifier(PHI, 1e-3).fit(X, plain)
    for rows, new in ((X, NEW), (torch.from_numpy(X), torch.from_numpy(NEW))):
        for method in ("fit", "partial_fit"):
            more = {"classes": np.unique(plain)} if method == "partial_fit" else {}
            machine = getattr(KernelMachineClassifier(PHI, 1e-3), method)(rows, labels, **more)
            np.testing.assert_array_equal(machine.classes_, expected.classes_)
            assert machine.classes_.dtype.kind == plain.dtype.kind or plain.dtype.kind == "U"
            np.testing.assert_array_equal(machine.predict(new), expected.predict(NEW))
            assert machine.score(rows, labels) == expected.score(X, plain)


@pytest.mark.parametrize("machine", [MACHINES["ridge"], MACHINES["ridge of classes"]], ids=["numbers", "classes"])
@pytest.mark.parametrize(
    "y",
    [pa.array([1, None] * 150), pa.array([1.5, None] * 150),
     pd.Series([1, None] * 150, dtype="Int64"), pd.Series([True, None] * 150, dtype="boolean")],
    ids=lambda y: f"{type(y).__name__} {getattr(y, 'dtype', getattr(y, 'type', None))}",
)  # fmt: skip
def test_missing_targets_of_any_library_are_refused(y, machine):
    with pytest.raises(ValueError, match="y contains NaN"):
        clone(machine).fit(X, y)


@pytest.mark.parametrize("weights", [torch.tensor(WEIGHTS).bfloat16(), pa.array(WEIGHTS > 1), WEIGHTS.astype(">f4")])
def test_weights_of_any_library_and_type_are_like_those_of_numpy(weights):
    plain = np.array(weights.tolist(), dtype=float)
    expected, found = (clone(MACHINES["ridge"]).fit(X, Y, each) for each in (plain, weights))
    np.testing.assert_array_equal(found.predict(NEW), expected.predict(NEW))
    assert found.score(X, Y, weights) == expected.score(X, Y, plain)


@pytest.mark.parametrize(("wrong", "message"), [
    (torch.full((300, 3), np.nan), "NaN or infinity"), (torch.zeros(300, 5), "2 features|5 features"),
    (torch.zeros(300), "dense real tensor"), (torch.zeros(300, 3).to_sparse(), "dense real tensor"),
    (torch.empty(300, 3, device="meta"), "X is on meta: maps and machines compute on the CPU and on CUDA"),
])  # fmt: skip
@pytest.mark.parametrize("name", ["ridge", "exact"])
def test_tensors_are_checked_as_arrays_are(name, wrong, message):
    machine = clone(MACHINES[name]).fit(torch.from_numpy(X), Y)
    with pytest.raises(ValueError, match=message):
        machine.predict(wrong)
    for other in (Y[:5], np.full(300, np.nan), np.ma.masked_greater(X[:, 0], 1.0)):
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples|NaN|masked"):
            clone(machine).fit(torch.from_numpy(X), other)
    with pytest.raises(ValueError, match="X is on meta, device='cpu'"):
        clone(MACHINES["ridge"]).set_params(features__device="cpu").fit(torch.empty(300, 3, device="meta"), Y)


def test_arrays_go_to_a_gpu_where_it_gains(monkeypatch):
    """The machine asks for a device by the map's parameter; "auto" by the work of n rows and D columns squared."""
    placed = []
    monkeypatch.setattr(base.tensors, "resolve_device", lambda stated: placed.append(stated) or torch.device("cpu"))
    machine = KernelMachineRegressor(make_map("rff", Gaussian(1.0), n_components=2000), 1e-3)
    for rows, device in ((100, "auto"), (400_000, "auto"), (100, "cuda"), (400_000, "cpu")):
        machine.set_params(features__device=device)._placed(np.empty((rows, 3)), 2000**2)
    KernelMachineRegressor(Gaussian(1.0), 1e-3)._placed(np.empty((400_000, 3)), 0)
    assert placed == ["cpu", "auto", "cuda", "cpu", "cpu"]


@pytest.mark.cuda
@every_machine
def test_arrays_in_and_out_through_a_gpu(name):
    machine = clone(MACHINES[name])
    if not machine._has_map():
        pytest.skip("an exact kernel computes where its rows are")
    expected = clone(machine).fit(X, targets_of(machine)).predict(NEW)
    found = machine.set_params(features__device="cuda").fit(X, targets_of(machine))
    assert found.model_.coef.device.type == "cuda"
    assert isinstance(found.predict(NEW), np.ndarray)
    np.testing.assert_allclose(found.predict(NEW), expected, atol=2e-3)


ARRAY_API = """
import numpy as np
from sklearn.utils.estimator_checks import check_array_api_input
from test_machines_tensors import MACHINES
for name, machine in MACHINES.items():
    for dtype in ("float64", "float32"):
        check_array_api_input(name, machine, "torch", device_name="cpu", dtype_name=dtype, check_values=True)
"""


@pytest.mark.slow
def test_the_array_api_checks_of_scikit_learn():
    """SciPy reads the variable when it is imported, so that the checks run in a process of their own."""
    own = os.environ | {"SCIPY_ARRAY_API": "1", "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    subprocess.run([sys.executable, "-W", "ignore", "-c", ARRAY_API], check=True, env=own)
