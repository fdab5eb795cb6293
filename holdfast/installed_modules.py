"""Check that Python takes each needed module from the distribution that Holdfast requires.

Imports only the standard library: the check must run where a foreign module hides a needed one.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_OURS = "holdfast"
_MODULE_SUFFIXES = (".py", ".so")
_FIELD = re.compile(r"^(Name|Version): *(\S+)", re.MULTILINE)
_REQUIREMENT = re.compile(r"([\w.-]+)\s*(?:\[([^\]]*)\])?[^;]*;?(.*)")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")

_Requirement = tuple[str, frozenset[str]]
"""The name of a distribution, and its extras."""


class ModuleFault(NamedTuple):
    """A module that is foreign or missing, and how to repair that."""

    detail: str
    remedy: str


def find_module_faults() -> list[ModuleFault]:
    """Return the faults of Holdfast and of everything that it requires; reads file names only."""
    installed = _read_installation()
    if _OURS not in installed:
        detail = f"Holdfast runs from {Path(__file__).parent}, but is not installed"
        return [ModuleFault(detail, "install its wheel, or its source with `pip install -e`")]
    needed = _needed(installed)
    return [
        *_missing_files(installed[_OURS]),
        *(fault for each in needed for fault in _overwritten_files(each, installed)),
        *(fault for each in needed for fault in _hidden_modules(each, installed)),
    ]


class _Installed:
    """An installed distribution."""

    def __init__(self, name: str, version: str, source: Distribution) -> None:
        self.name = name
        self.version = version
        self.source = source

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @cached_property
    def root(self) -> Path:
        """The folder from which its modules are imported."""
        # PEP 610: the file says where the source of an editable installation is.
        origin = json.loads(self.source.read_text("direct_url.json") or "{}")
        if self.name == _OURS and origin.get("dir_info", {}).get("editable"):
            return Path(unquote(urlsplit(origin["url"]).path))
        return Path(str(self.source.locate_file(""))).absolute()

    @cached_property
    def files(self) -> frozenset[str]:
        """Its modules as paths below `root`; empty if the distribution has no RECORD."""
        record = self.source.read_text("RECORD") or ""
        paths = (line.rsplit(",", 2)[0] for line in record.splitlines())
        return frozenset(path for path in paths if path.endswith(_MODULE_SUFFIXES))

    @cached_property
    def modules(self) -> frozenset[str]:
        """The top-level modules that it owns."""
        names = {path.partition("/")[0].partition(".")[0] for path in self.files}
        # The RECORD of an editable installation does not name the modules.
        return frozenset({*filter(str.isidentifier, names), *({_OURS} & {self.name})})

    @property
    def reinstallation(self) -> str:
        """The remedy that brings its files back."""
        what = "the wheel of Holdfast" if self.name == _OURS else f"{self.name}=={self.version}"
        return f"reinstall {what} with `pip install --force-reinstall --no-deps`"

    def requirements(self, extras: frozenset[str]) -> Iterator[_Requirement]:
        """Yield what it requires if it is installed with these extras."""
        for line in self.source.requires or ():
            if parts := _REQUIREMENT.match(line):
                name, asked, marker = parts.groups()
                needed_by = frozenset(map(_normalized, _EXTRA.findall(marker)))
                if not needed_by or needed_by & extras:
                    yield _normalized(name), _extras((asked or "").split(","))


def _read_installation() -> dict[str, _Installed]:
    """Return the distributions by name; of two with one name, the one that Python finds first."""
    installed: dict[str, _Installed] = {}
    for source in distributions():
        text = source.read_text("METADATA") or source.read_text("PKG-INFO") or ""
        fields = dict(reversed(_FIELD.findall(text.partition("\n\n")[0])))
        if name := _normalized(fields.get("Name", "")):
            installed.setdefault(name, _Installed(name, fields.get("Version", ""), source))
    return installed


def _needed(installed: Mapping[str, _Installed]) -> list[_Installed]:
    """Return Holdfast and the installed distributions that it requires, directly or not."""
    ours = installed[_OURS].source.metadata
    # Nothing records the chosen extras of Holdfast: what is installed of them counts as needed.
    waiting: list[_Requirement] = [(_OURS, _extras(ours.get_all("Provides-Extra") or ()))]
    seen = set(waiting)
    while waiting:
        name, extras = waiting.pop()
        new = set(installed[name].requirements(extras)) - seen
        seen |= new
        waiting += (requirement for requirement in new if requirement[0] in installed)
    return [installed[name] for name in sorted({name for name, _ in seen} & installed.keys())]


def _missing_files(ours: _Installed) -> Iterator[ModuleFault]:
    """Yield a fault if modules of Holdfast were removed, as by uninstalling another owner."""
    gone = [path for path in ours.files if not Path(str(ours.source.locate_file(path))).exists()]
    if gone:
        detail = f"{ours} has lost {len(gone)} of its {len(ours.files)} modules: {min(gone)}"
        yield ModuleFault(f"{detail}{' ...' if gone[1:] else ''}", ours.reinstallation)


def _overwritten_files(
    needed: _Installed, installed: Mapping[str, _Installed]
) -> Iterator[ModuleFault]:
    """Yield a fault for each other distribution that installed the same files."""
    for other in installed.values():
        if other is needed or other.root != needed.root:
            continue
        shared = other.files & needed.files
        if needed.name == _OURS:
            shared |= {path for path in other.files if path.startswith(f"{_OURS}/")}
        if shared:
            detail = f"{other} installed {min(shared)} into a package of {needed}"
            yield ModuleFault(detail, f"uninstall {other.name}; then {needed.reinstallation}")


def _hidden_modules(
    needed: _Installed, installed: Mapping[str, _Installed]
) -> Iterator[ModuleFault]:
    """Yield a fault for each module that Python takes from elsewhere, or does not find."""
    for module in sorted(needed.modules):
        places = _places(module)
        if not places:
            yield ModuleFault(f"{needed} has lost its module {module}", needed.reinstallation)
        elif all(place.parent != needed.root for place in places):
            yield _hidden_module(module, places[0], needed, installed)


def _hidden_module(
    module: str, place: Path, needed: _Installed, installed: Mapping[str, _Installed]
) -> ModuleFault:
    detail = f"Python imports {module} from {place}, not from {needed} in {needed.root}"
    for other in installed.values():
        if other.root == place.parent and module in other.modules:
            return ModuleFault(f"{detail}; {other} installed it", f"uninstall {other.name}")
    if place.parent == Path.cwd():
        way_out = "run `holdfast` instead of `python -m holdfast`"
    else:
        way_out = f"remove {place.parent} from PYTHONPATH"
    return ModuleFault(detail, f"rename {place}, or {way_out}")


def _places(module: str) -> list[Path]:
    """Return the files or folders from which Python imports a top-level module."""
    try:
        spec = find_spec(module)
    except ValueError:  # a program put it into sys.modules itself
        spec = None
    if spec is None:
        return []
    places = list(spec.submodule_search_locations or ()) or [spec.origin or ""]
    return [Path(place).absolute() for place in places]


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _extras(names: Iterable[str]) -> frozenset[str]:
    return frozenset(_normalized(name.strip()) for name in names)
