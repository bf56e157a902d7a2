"""Maps of tensors: features have the type and the device of the data, and a gradient where a map is only drawn."""

import pickle
from functools import partial
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
import torch
from in_memory import keep_tensors_in_place, torch_threads
from map_variants import VARIANTS, build, data, fitted, slow_unless_plain
from scipy.sparse import csr_matrix
from torch.autograd.forward_ad import dual_level, make_dual

from random_features import hadamard, make_map
from random_features.arrays import block_rows, row_blocks
from random_features.kernels import ArcCosine, Gaussian
from random_features.maps import blocks
from random_features.maps.base import RandomFeatureMap
from random_features.maps.blocks import features_of_tensor
from random_features.maps.registry import REGISTRY
from random_features.tensors import constant, full_precision, row_reader

every_map = pytest.mark.parametrize("variant", VARIANTS)


def has_gradient(variant):
    return not REGISTRY[VARIANTS[variant][0]].data_dependent and not variant.startswith("lprff")


DRAWN = [variant for variant in VARIANTS if has_gradient(variant)]


@every_map
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_tensor_gives_a_tensor_with_the_same_bits(variant, dtype):
    phi, expected = fitted(variant, dtype)
    X, y = data(dtype=dtype)
    fitted_on_tensors = build(variant).fit(torch.from_numpy(X), torch.from_numpy(y))
    np.testing.assert_array_equal(fitted_on_tensors.transform(X), expected)
    # it has nothing but the protocol by which libraries share memory
    of_another_library = SimpleNamespace(__dlpack__=X.__dlpack__, __dlpack_device__=X.__dlpack_device__)
    for given in (torch.from_numpy(X), of_another_library):
        features = phi.transform(given)
        assert isinstance(features, torch.Tensor)
        np.testing.assert_array_equal(features.numpy(), expected)
    blocks = list(phi.transform_blocks(torch.from_numpy(X), rows=40))
    assert [rows.start for rows, _ in blocks] == list(range(0, len(X), 40))
    np.testing.assert_allclose(torch.cat([block for _, block in blocks]).numpy(), expected, rtol=1e-4, atol=1e-5)


@every_map
@pytest.mark.filterwarnings("error:The given NumPy array is not writable")
def test_arrays_of_a_map_that_processes_share_are_only_read(variant, tmp_path, request):
    phi, expected = fitted(variant)
    joblib.dump(phi, tmp_path / "map")
    shared = joblib.load(tmp_path / "map", mmap_mode="r")
    torch.set_warn_always(True)  # PyTorch warns of the first array only
    request.addfinalizer(partial(torch.set_warn_always, False))
    np.testing.assert_array_equal(shared.transform(data()[0]), expected)


#: Modes that a program may be in; the device "meta" has no numbers.
MODES = {
    "inference": torch.inference_mode, "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "default device": lambda: torch.device("meta"),
}  # fmt: skip


@pytest.mark.parametrize("variant", slow_unless_plain(VARIANTS))
@pytest.mark.parametrize("mode", MODES)
def test_a_mode_of_pytorch_changes_no_features(variant, mode, monkeypatch):
    """Not on three threads, with a gradient, or with a gradient that follows."""
    (phi, expected), X = fitted(variant, np.float32), torch.from_numpy(data(dtype=np.float32)[0])
    monkeypatch.setattr("random_features.maps.base.CACHE_BYTES", 2**10)
    hadamard._orthonormal.cache_clear()
    given = [X, X.clone().requires_grad_()] if has_gradient(variant) else [X]
    with torch_threads(3), MODES[mode]():
        found = [phi.transform(each) for each in given]
        copied = constant(np.ones(2), torch.device("meta"))  # as to a GPU, for all later uses
    for features in found:
        np.testing.assert_allclose(features.detach().numpy(), expected, rtol=1e-4, atol=1e-5 * abs(expected).max())
    assert not copied.is_inference()
    if has_gradient(variant):
        phi.transform(given[1]).sum().backward()


def test_autocast_goes_on_after_a_function_that_calls_itself():
    nested = full_precision(lambda depth: depth and nested(depth - 1))
    with torch.autocast("cpu"):
        nested(1)
        assert torch.is_autocast_enabled("cpu")


LEARNED_THERE = [variant for variant in VARIANTS if build(variant)._learns_on_device]


def rows_to_learn_from(dtype):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 5)).astype(dtype)
    return X, np.where(X[:, 0] + rng.normal(size=600) > 0, "b", "a")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("variant", LEARNED_THERE)
def test_a_map_learns_on_the_device_of_its_data(variant, dtype, monkeypatch):
    (X, y), phi = rows_to_learn_from(dtype), build(variant)
    expected = build(variant).fit(X, y).learned_
    # as if the memory of tensors were not the host's
    monkeypatch.setattr(RandomFeatureMap, "_learns_on_host", lambda self, X: False)
    if phi._kernel_object().name in ("gaussian", "matern", "linear"):  # the others compute blocks of values on the host
        # fewer numbers than the data have; primitives use NumPy on tensors of the CPU
        keep_tensors_in_place(monkeypatch, 2999, ["cpu", "tolist", "__array__"])
    learned = phi.fit(torch.from_numpy(X), y).learned_
    again = phi.draw(5, dtype=getattr(torch, dtype.__name__)).learn(torch.from_numpy(X), y).learned_
    for name in expected.keys() - {"learned_by"}:
        np.testing.assert_allclose(learned[name], expected[name], rtol=1e-9 if dtype == np.float64 else 2e-3)
        np.testing.assert_array_equal(again[name], learned[name])


@pytest.mark.cuda
@pytest.mark.parametrize("variant", LEARNED_THERE)
def test_a_map_learns_on_cuda_as_on_the_cpu(variant):
    (X, y), phi = rows_to_learn_from(np.float64), build(variant)
    expected, learned = build(variant).fit(X, y).learned_, phi.fit(torch.from_numpy(X).cuda(), y).learned_
    arrays = {name: learned[name] for name in expected.keys() - {"learned_by"}}
    for name, array in arrays.items():
        np.testing.assert_allclose(array, expected[name], rtol=1e-6)
    there = {name: torch.from_numpy(array).cuda() for name, array in arrays.items()}
    restored = build(variant).restore(5, learned | there, dtype=np.float64)
    np.testing.assert_array_equal(restored.transform(X), phi.transform(X))


@pytest.mark.parametrize("rule", ["median", "scale", "ard", [1.0, 2.0, 3.0, 4.0, 5.0]])
def test_length_scales_of_tensors_are_found_where_they_are(rule, monkeypatch):
    X, y = rows_to_learn_from(np.float64)
    maps = [make_map("rff", Gaussian(rule), random_state=0) for _ in range(2)]
    expected = maps[0].fit(X, y).transform(X)
    monkeypatch.setattr(RandomFeatureMap, "_learns_on_host", lambda self, X: False)
    features = maps[1].fit(torch.from_numpy(X), torch.from_numpy(y == "b")).transform(torch.from_numpy(X))
    np.testing.assert_allclose(features.numpy(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [(torch.full((3, 2), np.nan), [0, 1, 0], "NaN"), (torch.zeros(3, 2), [0, 1], "inconsistent"),
     (torch.zeros(3, 2).to_sparse(), [0, 1, 0], "give a sparse"), (torch.zeros(3, 0), [0, 1, 0], "rows and columns"),
     (torch.zeros(3, 2), None, "y"), (torch.zeros(3, 2), np.array(["2020-01-01"] * 3, "M8[D]"), "dates")],
)  # fmt: skip
@pytest.mark.parametrize("on_host", [True, False])
def test_what_a_map_learns_from_is_checked(X, y, message, on_host, monkeypatch):
    monkeypatch.setattr(RandomFeatureMap, "_learns_on_host", lambda self, X: on_host)
    with pytest.raises((ValueError, TypeError), match=message):
        make_map("kprff", n_components=4).fit(X, y)


@pytest.mark.parametrize("variant", ["rff", "sorf", "nystroem", "lprff"])
@pytest.mark.parametrize("container", [np.asarray, csr_matrix])
def test_blocks_through_buffers_are_the_features(variant, container):
    """The way of arrays to a GPU and back, on the CPU: each thread has buffers of its own."""
    (phi, expected), X = fitted(variant, np.float32), container(data(dtype=np.float32)[0])
    features, read = torch.zeros(expected.shape), row_reader(X, sparse=phi._takes_sparse_rows)

    def make():
        with torch.device("meta"):  # a default that is not the CPU
            fill = blocks.staged(phi._mapper, X.shape[1], expected.shape[1], 7, features.device, features.dtype)
        return lambda part: fill(read(part), features[part])

    blocks.for_each_block(make, list(row_blocks(len(expected), 7)), 3)
    np.testing.assert_allclose(features, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("n", "d", "s", "dtype", "device", "expected"),
    [(10**5, 54, 864, np.float32, "auto", "cpu"),  # copies take longer
     (10**3, 10**4, 10**4, np.float32, "auto", "cpu"),  # the start of CUDA takes longer
     (10**4, 10**4, 10**4, np.float32, "auto", "cuda"), (10**4, 10**4, 10**4, np.float64, "auto", "cpu"),
     (10, 5, 5, np.float32, "cuda", "cuda"), (10**4, 10**4, 10**4, np.float32, "cpu", "cpu")],
)  # fmt: skip
def test_arrays_go_to_a_gpu_where_copies_do_not_count(n, d, s, dtype, device, expected, monkeypatch):
    phi, X = make_map("rff", n_components=1, random_state=0).draw(1).learn(np.ones((1, 1))), np.empty((1, 1), dtype)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    asked = []
    monkeypatch.setattr("random_features.maps.base.features_of_array", lambda *of, **how: asked.append(of[4].type))
    vars(phi).update(n_features_in_=d, n_columns_=2 * s, device=device)
    phi._drawn_with["n_components"] = s
    phi._features(np.broadcast_to(X, (n, d)))
    assert asked == [expected]


def test_blocks_on_a_gpu_take_what_pytorch_keeps_for_later(monkeypatch):
    for name, value in {"mem_get_info": (1000, 9999), "memory_reserved": 800, "memory_allocated": 200}.items():
        monkeypatch.setattr(torch.cuda, name, lambda device, value=value: value)
    assert block_rows(8, torch.device("cuda")) == 1600 // 4 // 8


@pytest.mark.parametrize("variant", DRAWN)
def test_the_gradient_is_that_of_finite_differences(variant):
    phi, X = fitted(variant)[0], torch.from_numpy(data()[0][:3]).requires_grad_()
    in_both_orders = lambda X: torch.cat([phi.transform(X), phi.transform(X.T.contiguous().T)])  # noqa: E731
    assert torch.autograd.gradcheck(in_both_orders, (X,), atol=1e-5, check_forward_ad=True)


@pytest.mark.parametrize("variant", [variant for variant in VARIANTS if not has_gradient(variant)])
def test_a_map_without_a_gradient_says_so(variant):
    phi, X = fitted(variant)[0], torch.from_numpy(data()[0]).requires_grad_()
    for refused in (lambda: phi.transform(X), phi.as_module):
        with pytest.raises(ValueError, match="have no gradient"):
            refused()
    with dual_level(), pytest.raises(ValueError, match="have no gradient"):
        phi.transform(make_dual(X.detach(), torch.ones_like(X)))
    with torch.no_grad():
        assert len(phi.transform(X)) == len(X)


@pytest.mark.parametrize("variant", DRAWN)
def test_features_do_not_visit_the_host(variant):
    """A tensor of the device "meta" has no numbers: a copy to the host, an item or a branch on a value raises."""
    phi, expected = fitted(variant)
    X = torch.empty(expected.shape[0], phi.n_features_in_, device="meta", dtype=torch.float64)
    features = features_of_tensor(phi._mapper, X, phi.n_columns_, phi._work_columns())
    assert (features.device.type, features.shape) == ("meta", expected.shape)


def test_a_tensor_is_warned_of_once():
    phi, X = make_map("prf", n_components=8, random_state=0), np.full((3, 64), 10.0)
    for features in (phi.fit(X).transform, lambda data: list(phi.transform_blocks(data, rows=1))):
        with pytest.warns(UserWarning, match="underflow") as warned:
            features(torch.from_numpy(X))
        assert len(warned) == 1


@pytest.mark.cuda
@every_map
def test_a_tensor_on_cuda_gives_features_there(variant):
    phi, expected = fitted(variant)
    X = torch.from_numpy(data()[0]).cuda()
    features = phi.transform(X)
    assert features.device == X.device
    np.testing.assert_allclose(features.cpu().numpy(), expected, atol=1e-10 * np.abs(expected).max())
    assert torch.equal(phi.transform(X), features)


def test_what_a_tensor_must_be():
    phi = make_map("rff", n_components=4, random_state=0).fit(torch.zeros(3, 2))
    assert phi.transform(torch.zeros(3, 2, dtype=torch.int32)).dtype == torch.float64
    wrong = {"2 features": torch.zeros(3, 5), "real tensor": torch.zeros(3), "with rows": torch.zeros(0, 2),
             "rows and columns": torch.zeros(3, 0),
             "NaN": torch.full((3, 2), np.nan, requires_grad=True), "give a sparse": torch.zeros(3, 2).to_sparse(),
             "infinity": torch.full((3, 2), np.inf, requires_grad=True)}  # fmt: skip
    wrong["negative strides"] = SimpleNamespace(__dlpack__=None, strides=(-8, 4))  # PyTorch would end the process
    for message, X in wrong.items():
        with pytest.raises(ValueError, match=message):
            phi.transform(X)
    with pytest.raises(ValueError, match="X is on meta, device='cpu'"):
        phi.set_params(device="cpu").transform(torch.empty(3, 2, device="meta"))


def test_views_devices_and_frames_that_a_user_has():
    X = torch.randn(6, 3)
    phi = make_map("rff", n_components=4, device=torch.device("cpu"), random_state=0).fit(X)
    expected = phi.transform(X)
    for same in (torch._neg_view(-X), X.T.contiguous().T, torch.nn.Parameter(X).detach(), X.repeat(2, 1)[:6]):
        assert torch.equal(phi.transform(same), expected)
    np.testing.assert_array_equal(phi.set_output(transform="pandas").transform(X), expected)
    torch.testing.assert_close(phi.as_module()(X), expected)


@pytest.mark.parametrize("variant", [each for each in DRAWN if "gaussian" in REGISTRY[VARIANTS[each][0]].kernels])
def test_the_length_scale_of_a_module_is_that_of_the_map(variant):
    X, y = data()
    module = build(variant, kernel=Gaussian(2.0)).fit(X, y).as_module()
    with torch.no_grad():
        module.log_length_scale.fill_(float(np.log(3.0)))
    wide = build(variant, kernel=Gaussian(3.0)).fit(X, y).transform(X)
    features = module(torch.from_numpy(X))
    np.testing.assert_allclose(features.detach().numpy(), wide, atol=1e-6)
    features.sum().backward()
    assert module.log_length_scale.grad.abs() > 0


@pytest.mark.parametrize("variant", DRAWN)
def test_the_state_of_a_module_is_its_draws_and_its_length_scale(variant):
    (X, y), kernel = data(), fitted(variant)[0].kernel_
    another = {"kernel": kernel.with_params(length_scale=1.7)} if "length_scale" in kernel.get_params() else {}
    one = fitted(variant)[0].as_module()
    other = build(variant, random_state=7, **another).fit(X, y).as_module()
    if variant == "rm":  # as many signs as the drawn powers ask for
        with pytest.raises(RuntimeError, match="size mismatch"):
            other.load_state_dict(one.state_dict())
        return
    other.load_state_dict(one.state_dict())
    T = torch.from_numpy(X)
    with torch.no_grad():
        assert torch.equal(one(T), other(T))
        assert torch.equal(pickle.loads(pickle.dumps(other))(T), one(T))
    with torch.device("meta"):  # a default that is not the CPU
        assert {each.device.type for each in fitted(variant)[0].as_module().state_dict().values()} == {"meta"}


@pytest.mark.parametrize("dtype", [torch.int32, torch.bool, torch.float16, torch.bfloat16])
def test_a_module_rounds_nothing_but_its_answer(dtype):
    module, X = fitted("rff")[0].as_module(), torch.from_numpy(3 * data()[0]).to(dtype)
    torch.nn.init.constant_(module.log_length_scale, 0.3)
    features = module(X[:6].unflatten(0, (3, 2)))
    assert torch.equal(features, module(X[:6].double()).unflatten(0, (3, 2)).to(features.dtype))
    assert features.dtype == (dtype if dtype.is_floating_point else torch.float64)
    other = fitted("rff")[0].as_module().to(features.dtype)
    other.load_state_dict(module.to(features.dtype).state_dict())
    assert torch.equal(other(X), module(X))


@pytest.mark.slow
def test_a_module_of_a_kernel_without_a_length_scale():
    X = torch.randn(5, 3, dtype=torch.float64)
    module = make_map("rff", ArcCosine(1), n_components=8, random_state=0).fit(X).as_module()
    assert (module.log_length_scale, module(X).shape) == (None, (5, 8))
    torch.testing.assert_close(torch.compile(module, backend="eager")(X), module(X))
