"""The registry of maps: names, what is said of them, and what importing it costs."""

import inspect
import subprocess
import sys

import pytest

from rfstudy.kernels import Gaussian, Kernel
from rfstudy.maps import list_maps, make_map
from rfstudy.maps.registry import ALIASES, REGISTRY, map_class, module_path

COMMON = {"kernel", "n_components", "device", "random_state"}


class Unsupported(Kernel):
    name = "unsupported"

    def __call__(self, X, Y=None):
        raise NotImplementedError


def test_registry_imports_the_standard_library_only():
    program = (
        "import sys, rfstudy.maps.registry; "
        "outside = {name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names); "
        "print(*sorted(outside & {'numpy', 'scipy', 'sklearn', 'torch', 'pandas', 'yaml'}))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert run.stdout.strip() == ""


@pytest.mark.parametrize("name", REGISTRY)
def test_entry_agrees_with_its_class(name):
    cls = map_class(name)
    assert cls.method == name
    assert module_path(name) == type(module_path(name))(inspect.getfile(cls))
    parameters = inspect.signature(cls).parameters
    options = {key: value.default for key, value in parameters.items() if key not in COMMON}
    assert REGISTRY[name].defaults == options
    assert set(parameters) >= COMMON
    assert REGISTRY[name].kernels


def test_list_maps_has_a_row_per_map():
    rows = list_maps()
    assert [row["name"] for row in rows] == list(REGISTRY)
    expected = {"name", "family", "kernels", "data_dependent", "unbiased", "reference", "cost", "defaults"}
    assert all(set(row) == expected for row in rows)


def test_make_map_sets_parameters():
    kernel = Gaussian(2.0)
    phi = make_map("rom", kernel=kernel, n_components=7, n_factors=2, random_state=3)
    assert phi.kernel is kernel
    assert (phi.n_components, phi.n_factors, phi.random_state) == (7, 2, 3)


@pytest.mark.parametrize("alias", ALIASES)
def test_alias_is_its_map_with_options(alias):
    name, options = ALIASES[alias]
    phi = make_map(alias, n_components=5)
    assert type(phi) is map_class(name)
    assert options.items() <= phi.get_params().items()


def test_unknown_name_lists_the_maps():
    with pytest.raises(ValueError, match=r"'fourier'.*rff, orf"):
        make_map("fourier")


@pytest.mark.parametrize("name", REGISTRY)
def test_unsupported_kernel_fails_at_construction_and_at_fit(name):
    message = f"{name} does not apply to the kernel unsupported; it supports {', '.join(REGISTRY[name].kernels)}"
    with pytest.raises(ValueError, match=message):
        make_map(name, kernel=Unsupported())
    with pytest.raises(ValueError, match=message):
        map_class(name)(kernel=Unsupported()).fit([[0.0]], [0])


def test_a_kernel_from_elsewhere_says_which_one_it_is_like():
    class Like(Unsupported):
        like = "laplacian"

    assert isinstance(make_map("rff", kernel=Like()).kernel, Like)
    with pytest.raises(ValueError, match="orf does not apply to the kernel unsupported; it supports gaussian"):
        make_map("orf", kernel=Like())


@pytest.mark.parametrize("kernel", ["gaussian", 1.0, len])
def test_kernel_must_be_an_object_of_the_package(kernel):
    with pytest.raises(TypeError, match=r"rfstudy\.kernels"):
        make_map("rff", kernel=kernel)
