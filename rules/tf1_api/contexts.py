"""How certain it is that code written for a graph runs eagerly."""

from __future__ import annotations

from ...linter.rule_api.model import Call, Context, File, Site
from ...linter.rule_api.rule import Severity

V2_OFF = ("tensorflow.disable_v2_behavior", "tensorflow.disable_eager_execution")
GRAPHS = (
    "tensorflow.Graph",
    "tensorflow.Session",
    "tensorflow.InteractiveSession",
    "tensorflow.train.MonitoredSession",
    "tensorflow.train.MonitoredTrainingSession",
    "tensorflow.train.SingularMonitoredSession",
    "tensorflow.train.Supervisor",
    "tensorflow.estimator.*",
    "tensorflow.contrib.tpu.*",
    "tensorflow.get_default_graph",
)


def certainty(site: Site) -> Severity | None:
    """The severity of a compat.v1 call that needs a graph; None inside a graph that is built on purpose.

    An error needs a way that leads there with eager execution on.
    A program that turns v2 behaviour off, that also comes here from a graph, or that builds graphs elsewhere and does
    not show how it gets here, is TF1 kept on compat.v1: it may well work, so info.
    Where the file itself turns it off, all that is not known to run otherwise is in a graph; so is what follows an
    `InteractiveSession` of a graph in the same function.
    """
    if site.in_graph or site.version_checked:
        return None
    turned_off = site.file.once("turns v2 off", lambda: _turns_v2_off(site.file))
    ended = turned_off + site.file.once("enters a graph for good", lambda: _enters_graph(site.file))
    before = [call for call in ended if call.line < site.line and call.scope is site.scope]
    if (turned_off and not site.contexts) or any(call.block in site.block.chain() for call in before):
        return None
    project = site.file.project
    if project.uses(*V2_OFF) or any(context & Context.GRAPH for context in site.contexts):
        return Severity.INFO
    if site.runs(Context.EAGER) or site.runs(Context.TRACED, without=Context.FIT):
        return Severity.ERROR
    if project.uses(*GRAPHS):
        return Severity.INFO
    return Severity.ERROR if site.proven_eager else Severity.WARNING


def is_only_traced(site: Site) -> bool:
    """Whether a place runs in traces alone, as far as is known, also where eager code calls what is traced."""
    return site.in_trace and not site.runs(Context.EAGER, without=Context.TRACED)


def _turns_v2_off(file: File) -> list[Call]:
    return [call for call in file.calls if call.name in V2_OFF and not call.version_checked]


def _enters_graph(file: File) -> list[Call]:
    """The sessions that make the graph which they are given the default one, and end eager execution with it."""
    calls = [call for call in file.calls if call.name == "tensorflow.InteractiveSession"]
    return [call for call in calls if call.value("graph", 1) is not None and not call.version_checked]
