"""How certain it is that code written for a graph runs eagerly."""

from __future__ import annotations

from ...linter.rule_api.model import Context, Site
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
    """
    if site.in_graph or site.version_checked:
        return None
    project = site.file.project
    if project.uses(*V2_OFF) or any(context & Context.GRAPH for context in site.contexts):
        return Severity.INFO
    if site.runs(Context.EAGER) or site.runs(Context.TRACED, without=Context.FIT):
        return Severity.ERROR
    if project.uses(*GRAPHS):
        return Severity.INFO
    return Severity.ERROR if site.proven_eager else Severity.WARNING
