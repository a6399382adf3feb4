"""The public names: the list, the type checker and the lazy table agree, and each is described."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path
from types import FunctionType

import pytest

import palace

ROOT = Path(palace.__file__).parent


def typing_block() -> dict[str, str]:
    """Name -> `module.name` as the type checker reads it."""
    tree = ast.parse((ROOT / "__init__.py").read_text("utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def public_modules() -> list[str]:
    modules = (
        ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(ROOT.rglob("*.py"))
    )
    return [name for name in modules if name != "palace.__main__"]


def public_members(module: object) -> list[tuple[str, object]]:
    """Public classes and functions that are defined here, and the public methods of the classes."""
    found = []
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", "") != module.__name__:
            continue
        if inspect.isfunction(value) or inspect.isclass(value):
            found.append((name, value))
        if inspect.isclass(value):
            kinds = (property, classmethod, staticmethod, FunctionType)
            found += [
                (f"{name}.{key}", member)
                for key, member in vars(value).items()
                if not key.startswith("_") and isinstance(member, kinds)
            ]
    return found


def written_doc(value: object) -> str:
    """The docstring, unless it is the signature that a dataclass writes for itself."""
    if inspect.isclass(value):
        doc = vars(value).get("__doc__") or ""
        return "" if doc.startswith(f"{value.__name__}(") else doc
    return inspect.getdoc(value) or ""


def test_public_names():
    assert dir(palace) == sorted({*palace.__all__})


@pytest.mark.parametrize("name", palace.__all__)
def test_name_resolves(name):
    assert getattr(palace, name) is not None


def test_type_checker_and_lazy_table_agree():
    block = typing_block()
    assert set(block) | {"__version__"} == set(palace.__all__)
    for name, home in block.items():
        module, _, inner = home.rpartition(".")
        assert getattr(palace, name) is getattr(importlib.import_module(module), inner)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Palace'"):
        palace.Palace  # noqa: B018


def test_every_error_is_public():
    from palace import errors

    tree = {name for name, value in vars(errors).items() if inspect.isclass(value)}
    assert tree <= set(palace.__all__)


def test_version_is_the_distribution_s():
    text = (ROOT.parent / "pyproject.toml").read_text("utf-8")
    assert f'\nversion = "{palace.__version__}"\n' in text


@pytest.mark.parametrize("name", public_modules())
def test_every_public_thing_says_what_it_is_for(name):
    module = importlib.import_module(name)
    assert module.__doc__
    undocumented = [
        f"{name}.{member}" for member, value in public_members(module) if not written_doc(value)
    ]
    assert undocumented == []
