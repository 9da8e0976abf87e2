"""The directive ``tf1-names``: the names of TF1 that TF2 does not have, or ``tf1-names:: arguments`` their arguments.

What stands for a name, and what compat.v1 has of it, is read off the tables of the rules.
Which rules speak of it, the rules say: all names are linted, for both targets, in a file that reads each in a line.
Rules about calls, which need arguments to be judged, are those that ask for calls of that name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from migrate_lint.linter.analysis.names import canonical
from migrate_lint.linter.analysis.public_names import of_compat_v1
from migrate_lint.linter.finding import Target
from migrate_lint.linter.registry.registry import all_rules
from migrate_lint.linter.rule_api import contrib as contrib_names
from migrate_lint.linter.run.engine import analyze
from migrate_lint.rules.keras import keras_removed_symbol
from migrate_lint.rules.tf1_api import api_status, contrib, moved_or_removed_symbol, v1_metrics
from migrate_lint.rules.tf1_api.signatures import signatures
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from docutils import nodes
    from migrate_lint.linter.rule_api.rule import Rule
    from sphinx.application import Sphinx

__all__ = ["Row", "TF1Names", "arguments", "names", "rows", "setup", "tables"]

_OWN = "migrate_lint."


class Row(NamedTuple):
    """One name of TF1, without ``tf.``, and what is known of it."""

    name: str
    instead: str
    """What takes its place in TF2, in Markdown."""
    compat: str
    """What ``tf.compat.v1`` has of it, in words."""
    rules: tuple[type[Rule], ...]


def names() -> tuple[str, ...]:
    """Every name of TF1 that some table has and that TF2 with Keras 3 lacks, without ``tf.``, sorted."""
    found = {*of_compat_v1(), *api_status.natives(), *moved_or_removed_symbol.successors()}
    found |= {name.removeprefix("tensorflow.") for name in _gates() if name.startswith("tensorflow.")}
    found = {name for name in found if _standing(name).status != "ok"}
    found |= {f"keras.{name}" for name in keras_removed_symbol.SUCCESSORS}
    found |= {f"contrib.{name}" for name in (*contrib.SUCCESSORS, *contrib_names.listed())}
    return tuple(sorted(found, key=lambda name: (_module(name), name.lower(), name)))


@cache
def rows() -> tuple[Row, ...]:
    """A row for each of `names` of which a rule speaks, in their order; of the others both targets have some."""
    spoken = _spoken(names())
    return tuple(Row(name, _instead(name), _compat(name), rules) for name, rules in spoken.items() if rules)


def tables() -> Iterator[str]:
    """Markdown: a heading and a table for each module."""
    for module, members in groupby(rows(), key=lambda row: _module(row.name)):
        yield f"## tf.{module}" if module else "## tf"
        yield ""
        yield "| TF1 | in TF2 | in compat.v1 | rules | recipe |"
        yield "|---|---|---|---|---|"
        for row in members:
            recipes = dict.fromkeys(rule.recipe for rule in row.rules if rule.recipe)
            cells = (
                f"`tf.{row.name}`",
                row.instead,
                row.compat,
                ", ".join(map(_link, row.rules)),
                ", ".join(f"[{name}](recipes/{name}.md)" for name in recipes),
            )
            yield f"| {' | '.join(cells)} |"
        yield ""


def arguments() -> Iterator[str]:
    """Markdown: a row for each argument of TF1 that a function of TF2 does not take."""
    yield "| function | argument | in TF2 |"
    yield "|---|---|---|"
    for function, signature in sorted(signatures().items(), key=lambda item: item[0].lower()):
        for old, new in sorted(signature.gone.items()):
            written = function.replace("tensorflow.", "tf.", 1)
            yield f"| `{written}` | `{old}` | {f'`{new}`' if new else ''} |"


def _module(name: str) -> str:
    """The module that a name is listed under: of contrib and Keras the module below it."""
    parts = name.split(".")[:-1]
    return ".".join(parts[: 2 if parts and parts[0] in ("contrib", "keras") else 1])


def _standing(name: str, target: Target = Target.KERAS3) -> api_status.Standing:
    return api_status.standing(f"tensorflow.{name}", target)


def _instead(name: str) -> str:
    module, _, rest = name.partition(".")
    if module == "keras":
        return f"`tf.keras.{keras_removed_symbol.SUCCESSORS[rest]}`"
    if module == "contrib":
        return _instead_of_contrib(rest)
    metric = v1_metrics.instead(rest) if module == "metrics" else ""
    return metric or moved_or_removed_symbol.instead(_standing(name))


def _instead_of_contrib(path: str) -> str:
    found = contrib_names.successor(f"tensorflow.contrib.{path}")
    if found is None or found.parts != 1 + path.count("."):
        return contrib.instead(path)
    if found.kind == "code":
        return contrib.WRITTEN_OUT
    if found.kind == "tf":
        same = _standing(found.name)
        if same.native or same.status == "ok":
            return f"`tf.{same.native or found.name}`"
        return f"`tf.compat.v1.{found.name}`{'' if same.status == 'v1' else ' with Keras 2'}"
    return f"`{f'tf_slim.{found.name}'.rstrip('.') if found.kind == 'slim' else found.name}`"


def _compat(name: str) -> str:
    if name.startswith(("contrib.", "keras.")):
        return ""
    with_keras3, with_keras2 = (_standing(name, target).status for target in (Target.KERAS3, Target.KERAS2))
    if "v1" not in (with_keras3, with_keras2):
        return ""
    eager = api_status.in_eager(name)
    return f"{'yes' if with_keras3 == 'v1' else 'with Keras 2'}{f'; {eager}' if eager else ''}"


def _link(rule: type[Rule]) -> str:
    return f"[{rule.code}](rules/{rule.slug()}.md)"


@cache
def _gates() -> Mapping[str, frozenset[type[Rule]]]:
    """The rules that ask for calls of a name, or for it where it is read, by canonical name; not those below a name."""
    found: dict[str, set[type[Rule]]] = defaultdict(set)
    for rule in all_rules():
        if type(rule).__module__.startswith(_OWN):
            for name in (*rule.calls, *rule.references):
                if "(" not in name and "*" not in name:
                    found[name].add(type(rule))
    return {name: frozenset(asking) for name, asking in found.items()}


def _spoken(told: Iterable[str]) -> dict[str, tuple[type[Rule], ...]]:
    """The rules that speak of each name, by code."""
    lines = list(told)
    codes: dict[str, set[str]] = defaultdict(set)
    with TemporaryDirectory() as folder:
        path = Path(folder).resolve() / "names.py"
        path.write_text("import tensorflow as tf\n\n" + "".join(f"tf.{name}\n" for name in lines), "utf-8")
        for target in Target:
            for finding in analyze([(path, path.name)], root=path.parent, target=target)[path.name].findings:
                if finding.line > 2:
                    codes[lines[finding.line - 3]].add(finding.code)
    by_code = {rule.code: type(rule) for rule in all_rules()}
    found = {}
    for name in lines:
        asking = {rule.code for rule in _gates().get(canonical(f"tensorflow.{name}"), ()) if rule.calls}
        found[name] = tuple(by_code[code] for code in sorted(codes[name] | asking))
    return found


class TF1Names(SphinxDirective):
    """Lists the names, or with ``arguments`` the arguments."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Read the tables as if they stood in the page."""
        self.env.note_reread()  # the tables change, and the page does not
        lines = arguments() if self.arguments == ["arguments"] else tables()
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the directive known."""
    app.add_directive("tf1-names", TF1Names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
