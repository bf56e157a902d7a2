"""The registry of maps: names, what is said of them, and what importing it costs."""

import ast
import inspect
from pathlib import Path

import pytest

from random_features.kernels import Gaussian, Matern
from random_features.kernels.base import Kernel
from random_features.maps import list_maps, make_map
from random_features.maps.base import RandomFeatureMap
from random_features.maps.registry import ALIASES, REGISTRY, defaults_of, map_class, plain_default, resolved_options

COMMON = {"kernel", "n_components", "device", "random_state"}


class Unsupported(Kernel):
    name = "unsupported"

    def _values(self, X, Y):
        raise NotImplementedError


@pytest.mark.parametrize("name", REGISTRY)
def test_entry_agrees_with_its_class(name):
    cls = map_class(name)
    assert cls.method == name
    assert REGISTRY[name].module == Path(inspect.getfile(cls)).stem
    assert set(inspect.signature(cls).parameters) >= COMMON
    assert REGISTRY[name].kernels
    assert REGISTRY[name].prefix == (cls.prefix is not RandomFeatureMap.prefix)


def test_list_maps_has_a_row_per_map():
    rows = list_maps()
    assert [row["name"] for row in rows] == list(REGISTRY)
    expected = {"name", "family", "kernels", "data_dependent", "unbiased", "reference", "fit", "cost", "defaults"}
    assert all(set(row) == expected for row in rows)
    for kernel, name in [(Gaussian(2.0), "rbf"), (Matern(2.0), "matern32"), (min, "precomputed")]:
        assert [row["name"] for row in list_maps(kernel=kernel)] == [row["name"] for row in list_maps(name)]
    assert all("arccos1" in row["kernels"] for row in list_maps(kernel="arccos1"))
    with pytest.raises(ValueError, match=r"called 'gausian'; did you mean gaussian\? known are arccos0"):
        list_maps(kernel="gausian")


@pytest.mark.parametrize("name", [*REGISTRY, *ALIASES])
def test_resolved_options_are_those_of_the_map_that_is_made(name):
    options, phi = resolved_options(name, {}), make_map(name)
    target, of_alias = ALIASES.get(name, (name, {}))
    assert type(phi) is map_class(target)
    assert of_alias.items() <= options.items()
    assert options == {key: value for key, value in phi.get_params().items() if key not in COMMON}


def test_resolved_options_put_the_experiments_over_the_alias_over_the_defaults():
    assert resolved_options("rom", {"n_factors": 2}) == {"n_factors": 2, "order": "natural", "layout": "cos_sin"}
    assert resolved_options("rks", {"layout": "cos_sin"}) == {"layout": "cos_sin"}
    assert resolved_options("rff", {"layout": "phase"}) == resolved_options("rks", {}) == {"layout": "phase"}
    with pytest.raises(ValueError, match="no feature map is called 'fourier'"):
        resolved_options("fourier", {})
    for home in ("montecarlo", "nowhere"):
        with pytest.raises(ValueError, match=f"{home}.py in the folder of the maps must define the class Mine, as REG"):
            defaults_of(home, "Mine")
    for option in ("share: float", "share: float = np.pi"):
        with pytest.raises(ValueError, match=f"^Mine: an option needs a plain value as its default, got '{option}'"):
            plain_default("Mine", ast.parse(option).body[0])
    resolved_options("rom", {})["n_factors"] = 7
    assert resolved_options("rom", {})["n_factors"] == 3


@pytest.mark.parametrize("name", [name for name in REGISTRY if not REGISTRY[name].prefix])
def test_a_map_without_prefixes_says_so(name):
    with pytest.raises(NotImplementedError, match=f"{name}: a prefix of its features is not the map at a smaller size"):
        make_map(name, n_components=5).prefix(3)


@pytest.mark.parametrize("name", REGISTRY)
def test_unsupported_kernel_fails_at_construction_and_at_fit(name):
    message = f"{name} does not apply to the kernel unsupported; it supports {', '.join(REGISTRY[name].kernels)}"
    with pytest.raises(ValueError, match=message):
        make_map(name, kernel=Unsupported())
    with pytest.raises(ValueError, match=message):
        map_class(name)(kernel=Unsupported()).fit([[0.0]], [0])


def test_a_kernel_from_elsewhere_says_which_one_it_is_like():
    Like = type("Like", (Unsupported,), {"like": "laplacian"})
    assert isinstance(make_map("rff", kernel=Like()).kernel, Like)
    with pytest.raises(ValueError, match="orf does not apply to the kernel unsupported; it supports gaussian"):
        make_map("orf", kernel=Like())
