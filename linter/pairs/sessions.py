"""Programs that make placeholders and run sessions: what they feed, what they train, and how it is reached."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from ..analysis.index import Scope
from ..analysis.names import PLACEHOLDERS, Name
from ..analysis.paths import path_of
from ..rule_api.model import Call, File
from .found import ROWS_FED, Found, Given, Missing
from .placeholders import describe, dropout_off, fed_to, lengths_of, makes_variables, range_of
from .tracing import Program, Spot, behind, is_step, loss_given, optimizers_of, position_in

__all__ = ["read_session"]

_MONITORED = ("MonitoredTrainingSession", "SingularMonitoredSession", "MonitoredSession", "managed_session")
"""They run the initializers when they are made."""
_SAVING = ("Saver().restore", "Saver().save")
"""They run a session that they are given."""
_LOOKED_UP = (
    "tensorflow.get_variable", "tensorflow.global_variables", "tensorflow.trainable_variables",
    "tensorflow.get_collection",
)  # fmt: skip
_ASSIGNING = ("assign", "assign_add", "assign_sub", "assign_moving_average", "scatter_update", "scatter_add")


class _Frame(NamedTuple):
    """A function that is running when the program comes to its first session, and the line that it is at."""

    file: File
    scope: Scope
    line: int


class _Run(NamedTuple):
    """A call that runs a session."""

    spot: Spot
    fetches: list[Spot]
    feeds: list[tuple[Spot, Spot]]
    """Placeholder and value."""
    feeds_told: bool
    """Whether what is fed is known."""


def read_session(program: Program, file: File, entry: Scope, found: Found) -> None:
    """Fill in what a program does that begins with a scope of a file."""
    _Reader(program, file, entry, found).read()


class _Reader:
    def __init__(self, program: Program, file: File, entry: Scope, found: Found) -> None:
        self._program = program
        self._entry = file, entry
        self._found = found
        self._frames: list[_Frame] = []
        """Innermost first."""
        self._labels: set[int] = set()
        """The calls that make placeholders of labels, by identity."""
        self._settings: set[int] = set()
        """Those that are fed single numbers, where their shape is not told."""
        self._leading: set[int] = set()
        """What a loss is made of, by identity, while its outputs are looked for: of a function that is called several
        times, only the calls that lead to it count, and a name has to stand for the same thing in all of them."""
        self._run_for: dict[int, list[Spot]] = {}
        """What each fetch runs, by identity."""
        self._makers: list[list[Call]] = []
        """Of each training step, the call that makes it, and those of the functions around that."""
        self._instance = "model" if found.is_class else ""

    # -- the whole -----------------------------------------------------------------------------------------------------

    def read(self) -> None:
        found, program = self._found, self._program
        self._makers = [self._ways_to(Spot(one.file, one.scope, one.call)) for one in program.calls() if is_step(one)]
        runs = [run for call in program.calls() if (run := self._run(call)) is not None]
        self._frames = self._way(*self._entry, set())[::-1] if not found.is_class else []
        found.runs = bool(self._frames)
        if found.is_class:
            self._build()
        elif not self._frames and not self._entry[1].is_function:
            found.models = self._models()
            calls = self._entry[0].calls_by_function.get(self._entry[1].id, ())
            if len(found.models) > 1 or (found.models and not any(True for one in calls for _ in self._called(one))):
                return
        if not self._frames and not found.is_class and self._entry[1].is_function:
            file, scope = self._entry
            self._frames = [_Frame(file, scope, 1 << 30)]
        elif not self._frames and not found.is_class:
            found.not_understood.append(
                f"{self._entry[0].display} comes to no session when it is run: name the file that runs it, or a class "
                f"or function of it{''.join(f', such as {one}' for one in found.models)}"
            )
        self._settings = self._fed_numbers(runs)
        trained = self._trained(runs)
        if trained is None:
            found.not_understood.append("what trains: no `minimize`, `apply_gradients` or the like was found")
            found.loss = found.train_op = None
            roots = [fetch for run in runs for fetch in run.fetches]
            output, reached = self._last(roots), None
        else:
            step, loss = trained
            self._tell_of_training(step, loss, runs)
            roots = [] if loss is None else [loss]
            self._leading = {id(spot.node) for spot in self._program.closure(*roots)}
            output = self._output(loss) if loss is not None else None
            reached = None if output is None else self._reach(output)
            leading, self._leading = self._leading, set()
            if reached is None:
                output, reached = self._outputs_apart(runs, output, leading)
        self._feed(runs, roots, output, trained)
        if output is None:
            found.outputs = Missing("the outputs of the model, an expression of the program such as `logits`")
            found.not_understood.append("no tensor was found that stands for the outputs")
        else:
            found.outputs = reached or self._reach_or(output, "the outputs")
            apart = ", which the training step does not compute: compared outside of it alone" if found.apart else ""
            found.told.append(f"{output.where} outputs: `{output.text}`{apart}")

    def _fed_numbers(self, runs: Sequence[_Run]) -> set[int]:
        """The placeholders that are fed single numbers, and no rows of them."""
        fed: dict[int, list[object]] = {}
        for run in runs:
            for key, value in run.feeds:
                for one in fed_to(self._program, key):
                    fed.setdefault(id(one.node), []).append(self._program.value(value))
        return {node for node, values in fed.items() if _has_numbers(values)}

    def _tell_of_training(self, step: Spot, loss: Spot | None, runs: Sequence[_Run]) -> None:
        found = self._found
        fetched = self._fetched(step, runs)
        found.train_op = self._reach_of_call(step, [one for _, one in fetched], "the training step")
        unrun = "" if fetched or not self._frames else ", which no session of this program runs"
        found.told.append(f"{step.where} training step: `{_short(step.text)}`{unrun}")
        for one in self._updates_beside(step, loss, runs):
            found.beside.append(self._reach_or(one, "an update"))
            found.told.append(f"{one.where} run with it, in no order, and changes variables, too: `{_short(one.text)}`")
        found.optimizer_text = optimizers_of(self._program, step)
        if loss is None:
            found.loss = Missing(f"the loss, which the training step in {step.where} makes smaller")
            return
        found.loss = self._reach_or(loss, "the loss")
        found.told.append(f"{loss.where} loss: `{_short(loss.text)}`")
        made = self._program.sources(loss) if isinstance(loss.node, ast.Name | ast.Attribute) else [loss]
        made = [one for one in made if not isinstance(one.node, ast.Constant)]  # as where it is None at first
        found.loss_text = "; ".join(dict.fromkeys(f"{one.where}: {_short(one.text, 160)}" for one in made))

    # -- the way to the first session ----------------------------------------------------------------------------------

    def _way(self, file: File, scope: Scope, seen: set[tuple[str, int]]) -> list[_Frame]:
        """The functions that run, outermost first, when a scope comes to a session; empty where it comes to none."""
        if (file.key, scope.id) in seen:
            return []
        seen.add((file.key, scope.id))
        calls = sorted(file.calls_by_function.get(scope.id, ()), key=lambda one: (one.end_line, one.end_column))
        for call in calls:
            if self._makers and all(_is_apart(call, ways) for ways in self._makers):
                continue  # of another mode, such as one that exports
            here = _Frame(file, scope, call.line)
            if self._run(call) is not None or call.name.endswith((*_MONITORED, *_SAVING)):
                return [here]
            for there, inner in self._called(call):
                if way := self._way(there, inner, seen):
                    return [here, *way]
        return []

    # -- classes -------------------------------------------------------------------------------------------------------

    def _models(self) -> list[str]:
        """The classes that hold a training step each, by file and name."""
        found: dict[str, None] = {}
        for call in self._program.calls():
            owner = call.scope.function().owner() if is_step(call) else None
            if owner is not None:
                found[f"{call.file.display}:{owner.name}"] = None
        return list(found)

    def _build(self) -> None:
        """Which methods of the class build what its constructor does not, and are called for it.

        One that builds all of it and runs no session, such as a ``build_model``, is taken for several parts of it.
        """
        file, cls = self._entry
        every = {(there.key, scope.id): scope for there, scope in self._program.methods((file.key, cls.id))}
        methods = {key: one for key, one in every.items() if one.name != "__init__" and not one.decorators}
        spots = [Spot(one.file, one.scope, one.call) for one in self._program.calls() if is_step(one)]
        spots = [*self._program.closure(*spots), *fed_to(self._program, *spots)]
        needed = {(one.file.key, one.scope.function().id) for one in spots if one.call is not None}
        built = {one for key in every if key not in methods for one in self._reached(key)[0]}  # such as of a property
        missing = (needed & methods.keys()) - built
        reached = {key: self._reached(key) for key in methods} if missing else {}
        whole = [key for key, (run, trains) in reached.items() if missing <= run and not trains]
        chosen = [key for key in missing if not any(key in reached[other][0] for other in missing - {key})]
        if whole:
            chosen = [min(whole, key=lambda key: len(reached[key][0]))]
        for key in sorted(chosen):
            method = methods[key]
            own = self._program.files[key[0]]
            where = f"{own.display}:{getattr(method.node, 'lineno', 1)}"
            if reached[key][1]:
                self._found.not_understood.append(
                    f"{where} `{method.name}` builds a part of the graph and runs a session: the pair cannot call it"
                )
                continue
            given = [one for one in method.parameters[1:] if own.default_of(method, one) is None]
            self._found.builders.append((method.name, [one for one in given if not one.startswith("*")]))
            self._found.told.append(f"{where} graph: built by `{method.name}`, which the pair calls")

    def _reached(self, key: tuple[str, int]) -> tuple[set[tuple[str, int]], bool]:
        """The functions that run where one does, itself included, and whether a session runs in them."""
        found, queue, runs = {key}, [key], False
        while queue:
            one = queue.pop()
            for call in self._program.files[one[0]].calls_by_function.get(one[1], ()):
                runs = runs or self._run(call) is not None or _runs_untold(call)
                more = {(there.key, scope.id) for there, scope in self._called(call)} - found
                found |= more
                queue += more
        return found, runs

    def _ways_to(self, spot: Spot) -> list[Call]:
        """A call, and those of the functions that it lies in, outward."""
        found: dict[int, Call] = {}
        queue = [spot]
        while queue:
            one = queue.pop(0)
            if one.call is not None and id(one.node) not in found:
                found[id(one.node)] = one.call
                queue += self._program.callers(one.file, one.scope.function())
        return list(found.values())

    def _called(self, call: Call) -> Iterator[tuple[File, Scope]]:
        yield from self._program.called(call)
        if call.name in ("tensorflow.app.run", "absl.app.run"):
            given = call.value("main", 0)
            main = call.file.entities(call.file.index.module, "main")
            for entity in main if given is None else call.entities(path_of(given)):
                if entity.kind == "function" and (place := self._program.scope_of(entity)) is not None:
                    yield place

    # -- sessions ------------------------------------------------------------------------------------------------------

    def _run(self, call: Call) -> _Run | None:
        spot = Spot(call.file, call.scope, call.call)
        receiver, fed = call.receiver, call.value("feed_dict", 1 if call.method == "run" else 0)
        if receiver is None or call.method not in ("run", "eval"):
            return None
        of_session = self._is_session(call, spot.at(receiver))
        if not of_session and call.value("feed_dict") is None and not self._is_operation(spot.at(receiver)):
            return None
        fetched = call.value("fetches", 0) if of_session else receiver
        fetches = [] if fetched is None else self._leaves(spot.at(fetched))
        feeds, told = ([], True) if fed is None else self._feeds(spot.at(fed))
        return _Run(spot, fetches, feeds, told)

    def _is_session(self, call: Call, receiver: Spot) -> bool:
        if any(_makes_session(name) for name in call.names):
            return True
        if call.names or call.method != "run" or any(one.kind == "function" for one in call.found):
            return False
        for one in self._program.values(receiver):
            names = () if one.call is None else one.call.names
            if isinstance(one.node, ast.Name | ast.Attribute):
                names = (*names, *one.file.names(one.scope, path_of(one.node)))
            if any(map(_makes_session, names)):
                return True
        return False

    def _is_operation(self, spot: Spot) -> bool:
        """Whether an expression is what TensorFlow makes, or the assignment of a variable: it has a ``run`` as well."""
        for one in self._program.values(spot):
            call = one.call
            if call is None:
                continue
            if call.name.startswith("tensorflow.") and "session" not in call.name.lower():
                return True
            if call.method in _ASSIGNING and call.receiver is not None:
                made = self._program.values(one.at(call.receiver))
                return any(inner.call is not None and makes_variables(inner.call.name) for inner in made)
        return False

    def _leaves(self, spot: Spot) -> list[Spot]:
        """What is fetched: the items of lists, tuples and dicts, also of one that a name stands for."""
        node = spot.node
        if isinstance(node, ast.List | ast.Tuple):
            return [leaf for one in node.elts for leaf in self._leaves(spot.at(one))]
        if isinstance(node, ast.Dict):
            return [leaf for one in node.values for leaf in self._leaves(spot.at(one))]
        if isinstance(node, ast.Name):
            made = self._program.sources(spot)
            if any(isinstance(one.node, ast.List | ast.Tuple | ast.Dict) for one in made):
                return [leaf for one in made for leaf in self._leaves(one)]  # the others are put into it
        return [spot]

    def _feeds(self, spot: Spot) -> tuple[list[tuple[Spot, Spot]], bool]:
        """Placeholders and values of a ``feed_dict``; and whether all of it is known."""
        node = spot.node
        if isinstance(node, ast.Dict):
            pairs = [(spot.at(k), spot.at(v)) for k, v in zip(node.keys, node.values, strict=True) if k is not None]
            return pairs, None not in node.keys
        if isinstance(node, ast.Constant) and node.value is None:
            return [], True
        if isinstance(node, ast.DictComp):
            return [], False
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict" and node.args:
            return self._feeds(spot.at(node.args[0]))
        pairs, told = [], False
        if isinstance(node, ast.Name | ast.Attribute | ast.Call):
            of_function = self._program.returned_by(spot.call)
            for one in of_function or self._program.sources(spot):
                if isinstance(one.node, ast.Dict | ast.DictComp) or (
                    (of_function or isinstance(node, ast.Name)) and isinstance(one.node, ast.Name | ast.Call)
                ):
                    more, known = self._feeds(one)
                    if of_function and spot.call is not None:
                        more = [(key, self._given_by(spot.call, value)) for key, value in more]
                    pairs, told = [*pairs, *more], known
        if isinstance(node, ast.Name):
            pairs = self._with_items(spot, node, pairs)
        return pairs, told

    def _with_items(self, spot: Spot, name: ast.Name, pairs: list[tuple[Spot, Spot]]) -> list[tuple[Spot, Spot]]:
        """What a dict holds with the items that its function sets; what is surely set before the use hides the rest."""
        use = spot.file.reference_at(name)
        before = [] if use is None else list(use.block.chain())
        for fact in spot.file.index.assignments:
            target = fact.target
            if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name) or fact.value is None:
                continue
            if target.value.id != name.id or fact.scope is not spot.scope:
                continue
            if target.lineno < spot.line and fact.block in before:
                pairs = [pair for pair in pairs if ast.dump(pair[0].node) != ast.dump(target.slice)]
            pairs = [*pairs, (spot.at(target.slice), spot.at(fact.value))]
        return pairs

    def _given_by(self, call: Call, value: Spot) -> Spot:
        """What a call gives to a parameter of the function that it runs; the value itself where it is no parameter."""
        home = value.file.index.lookup(value.scope, value.node.id) if isinstance(value.node, ast.Name) else None
        if home is None or not isinstance(value.node, ast.Name) or value.node.id not in home[0].parameters:
            return value
        runs = [scope for _, scope in self._program.called(call)]
        given = call.given_to(home[0], value.node.id) if home[0] in runs else None
        return value if given is None else Spot(call.file, call.scope, given)

    # -- training ------------------------------------------------------------------------------------------------------

    def _trained(self, runs: Sequence[_Run]) -> tuple[Spot, Spot | None] | None:
        """The training step that sessions run first, and its loss; other ones are told."""
        steps: list[Spot] = []
        for call in self._program.calls():
            if is_step(call):
                steps.append(Spot(call.file, call.scope, call.call))
        if not steps:
            return None
        order = {(run.spot.file.key, run.spot.line): place for place, run in enumerate(runs)}

        def place(step: Spot) -> tuple[int, bool]:
            """When a session first runs it, and whether it is only awaited there."""
            found = self._fetched(step, runs)
            first = min((order[run.file.key, run.line] for run, _ in found), default=1 << 30)
            return first, not any(one.node is step.node for _, by in found for one in self._program.closure(by))

        steps.sort(key=place)
        run_by = [self._fetched(step, runs) for step in steps]
        taken = self._reach_of_call(steps[0], [one for _, one in run_by[0]], "the training step")
        for at, other in enumerate(steps[1:], 1):
            if not self._tell_of_company(other, run_by[at], steps[:at], run_by[:at]):
                self._tell_of_another(other, [one for _, one in run_by[at]], self._loss(other), steps[0], taken)
        (first, _), *others = self._calls_for(steps[0], runs) or [(steps[0], [])]
        for other, fetches in others:
            self._tell_of_another(other, fetches, self._loss(steps[0], other), first)
        return steps[0], self._loss(steps[0], first if others else None)

    def _tell_of_company(
        self,
        step: Spot,
        own: list[tuple[Spot, Spot]],
        before: Sequence[Spot],
        others: Sequence[list[tuple[Spot, Spot]]],
    ) -> bool:
        """Say that a step is always run together with an earlier one, by one call: they are one pair."""
        runs = {id(run.node) for run, _ in own}
        for earlier, run_by in zip(before, others, strict=True):
            if step.call is not None and earlier.call is not None and step.call.excludes(earlier.call):
                continue
            if runs and runs == {id(run.node) for run, _ in run_by}:
                names = [
                    self._reach_of_call(made, [one for _, one in fetched], "the training step")
                    for made, fetched in ((earlier, run_by), (step, own))
                ]
                known = [f'program["{name}"]' for name in dict.fromkeys(names) if isinstance(name, str)]
                if names[0] == names[1] and known:
                    self._found.not_understood.append(
                        f"{step.where} trains, too, by the same step {known[0]}: `{_short(step.text)}`; the loss of "
                        f"the pair is that of line {earlier.line}"
                    )
                    return True
                if len(known) == 2:
                    self._found.not_understood.append(
                        f"{step.where} trains, too, in one run with line {earlier.line}: `{_short(step.text)}`; both "
                        f"are one pair, with tf.group({', '.join(known)}) for the step, and TF1 runs them in no order"
                    )
                return len(known) == 2
        return False

    def _tell_of_another(
        self, step: Spot, fetches: list[Spot], loss: Spot | None, first: Spot, taken: str | Missing | None = None
    ) -> None:
        """Say that the program trains by another step, too; by one of the name that is taken, in other runs."""
        names = [
            self._reach_of_call(step, fetches, "the training step"),
            self._reach(loss) if loss is not None else None,
        ]
        if isinstance(names[0], str) and names[0] == taken:
            self._found.not_understood.append(
                f"{step.where} trains in its place in another run: `{_short(step.text)}`; the pair has what the "
                "program makes with the options that it is given"
            )
            return
        known = [f"`{name}`" for name in names if isinstance(name, str)]
        of_its_own = f"; it wants a pair of its own, with {' and '.join(known)}" if len(known) == 2 else ""
        self._found.not_understood.append(
            f"{step.where} trains, too: `{_short(step.text)}`; the pair has the step of line {first.line}{of_its_own}"
        )

    def _calls_for(self, step: Spot, runs: Sequence[_Run]) -> list[tuple[Spot, list[Spot]]]:
        """The calls that each make a training step by one line, with what fetches it, in the order of their runs."""
        found: dict[int, tuple[Spot, list[Spot]]] = {}
        for _, fetch in self._fetched(step, runs):
            call = step
            for one in self._program.sources(fetch):
                makes = one.call is not None and self._program.called(one.call)
                if makes and any(part.node is step.node for part in self._program.closure(one)):
                    call = one
                    break
            found.setdefault(id(call.node), (call, []))[1].append(fetch)
        return list(found.values())

    def _fetched(self, step: Spot, runs: Sequence[_Run]) -> list[tuple[Spot, Spot]]:
        """The runs that fetch a training step, each with the name by which they do."""
        found = []
        for run in runs:
            for fetch in run.fetches:
                if any(one.node is step.node for one in self._run_by(fetch)):
                    found.append((run.spot, fetch))
        return found

    def _run_by(self, fetch: Spot) -> list[Spot]:
        """What a fetch is made of, and what is run before that, as its control dependencies say."""
        if id(fetch.node) not in self._run_for:
            found = {id(one.node): one for one in self._program.closure(fetch)}
            queue = list(found.values())
            while queue:
                one = queue.pop()
                for awaited in _awaited(one):
                    more = [part for part in self._program.closure(awaited) if id(part.node) not in found]
                    found.update((id(part.node), part) for part in more)
                    queue += more
            self._run_for[id(fetch.node)] = list(found.values())
        return self._run_for[id(fetch.node)]

    def _updates_beside(self, step: Spot, loss: Spot | None, runs: Sequence[_Run]) -> list[Spot]:
        """What the first run that trains fetches besides that assigns variables, as of moving averages."""
        training = [run for run in runs if any(one.node is run.spot.node for one, _ in self._fetched(step, runs))]
        found = []
        for fetch in training[0].fetches if training else ():
            made = self._program.closure(fetch)
            of_loss = loss is not None and any(one.node is loss.node for one in self._program.values(fetch))
            trains = any(one.call is not None and is_step(one.call) for one in made)
            if not (trains or of_loss) and any(one.call is not None and _updates(one.call) for one in made):
                found.append(fetch)
        return found

    def _loss(self, step: Spot, by: Spot | None = None) -> Spot | None:
        """What a training step makes smaller; of a line in a function that several calls run, by one of these."""
        call = step.call
        assert call is not None
        if call.method != "apply_gradients":
            node = loss_given(call)
            return None if node is None else self._settled(step.at(node), by)
        for spot, inner, name in self._program.named(step):
            if inner.method == "compute_gradients" and (node := inner.value("loss", 0)) is not None:
                return self._settled(spot.at(node))
            if name == "tensorflow.gradients" and (node := inner.value("ys", 0)) is not None:
                return self._settled(spot.at(node))
        for spot in self._program.closure(step):
            made = spot.call
            if made is not None and made.method == "compute_gradients" and (node := made.value("loss", 0)) is not None:
                return self._settled(spot.at(node))
        return None

    def _settled(self, spot: Spot, by: Spot | None = None) -> Spot:
        """An argument in place of a parameter that stands for one thing, or for one in a call."""
        for _ in range(8):
            home = spot.file.index.lookup(spot.scope, spot.node.id) if isinstance(spot.node, ast.Name) else None
            if home is None or not isinstance(spot.node, ast.Name) or spot.node.id not in home[0].parameters:
                return spot
            given = self._program.arguments(spot.file, home[0], spot.node.id)
            if by is not None and len(given) > 1:
                within = {id(node) for node in ast.walk(by.node)}
                given = [one for one in given if id(one.node) in within]
            if len(given) != 1:
                return spot
            spot = given[0]
        return spot

    # -- the outputs ---------------------------------------------------------------------------------------------------

    def _fed_of(self, spot: Spot) -> set[int]:
        """The placeholders of data, not of settings, that an expression is made of."""
        return {id(one.node) for one in fed_to(self._program, spot) if not self._is_scalar(one)}

    def _is_scalar(self, spot: Spot) -> bool:
        call = spot.call
        node = call.value("shape", 1) if call is not None and call.name in PLACEHOLDERS else None
        if node is None:
            return id(spot.node) in self._settings
        return bool(self._program.value(spot.at(node)) == ())

    def _is_computed(self, spot: Spot) -> bool:
        """Whether it is made by variables."""
        return any(makes_variables(name.removesuffix("()")) for _, _, name in self._program.named(spot))

    def _output(self, loss: Spot) -> Spot | None:
        """What the loss holds against labels: of an operation or call that is given both, what variables make.

        The way goes from the loss down; what is called by a name that the program has when its session begins is
        taken, the nearest to the loss.
        """
        queue, seen, best = [loss], set(), None
        while queue:
            spot = queue.pop(0)
            if id(spot.node) in seen:
                continue
            seen.add(id(spot.node))
            parts = self._program.sources(spot)
            fed = [(part, self._fed_of(part), self._is_computed(part)) for part in parts]
            computed = [part for part, some, made in fed if some and made]
            lengths = [] if spot.call is None else lengths_of(spot.call)
            plain = set().union(*(some for part, some, made in fed if some and not made and part.node not in lengths))
            joins = isinstance(spot.node, ast.BinOp | ast.Call | ast.Tuple | ast.List)
            inner = {id(one.node) for one in self._program.returned_by(spot.call)}
            given = [part for part in computed if id(part.node) not in inner] or computed  # not what a loss returns
            if given and plain and joins and best is None:
                self._labels = plain - set().union(*(self._fed_of(part) for part in given))
                best = given
                break
            queue += computed
        tops = best or [loss]
        return self._first_reached(tops, best is None)

    def _outputs_apart(
        self, runs: Sequence[_Run], output: Spot | None, leading: set[int]
    ) -> tuple[Spot | None, str | None]:
        """Outputs that the way from the loss has no name for, and how they are reached.

        By a name of a function that runs once, or else what the program asks for besides, as a generator's images.
        """
        home = None if output is None else output.file.index.lookup(output.scope, output.text)
        if output is not None and home is not None and isinstance(output.node, ast.Name):
            if self._reach_returned(output, home[0], output.text) is not None:
                return output, self._reach(output)
        fetched = self._fetched_apart(runs)
        if fetched is None:
            return output, None
        self._found.apart = not any(id(made.node) in leading for made in self._program.values(fetched))
        return fetched, self._reach(fetched)

    def _fetched_apart(self, runs: Sequence[_Run]) -> Spot | None:
        """What the program asks of its model outside of training, as a generator's images."""
        training = set()
        for call in self._program.calls():
            if is_step(call):
                step = Spot(call.file, call.scope, call.call)
                training |= {id(run.node) for run, _ in self._fetched(step, runs)}
        fetches = [fetch for run in runs if id(run.spot.node) not in training for fetch in run.fetches]
        known = (one for one in fetches if self._is_computed(one) and self._fed_of(one))
        return next((one for one in known if self._reach(one) is not None), None)

    def _first_reached(self, tops: Sequence[Spot], beyond: bool) -> Spot | None:
        """The first expression, going down, that has a name in the program, is made of data, and is not the loss."""
        queue, seen = [*tops], set()
        if beyond:
            queue = [part for top in tops for part in self._program.sources(top)]
        fallback = None
        while queue:
            spot = queue.pop(0)
            if id(spot.node) in seen:
                continue
            seen.add(id(spot.node))
            if not self._is_computed(spot) or not self._fed_of(spot):
                continue
            if isinstance(spot.node, ast.Name | ast.Attribute | ast.Subscript):
                fallback = fallback or spot
                if self._reach(spot) is not None:
                    return spot
            if fallback is None or not self._weighs(spot):
                queue += self._program.sources(spot)
        return fallback

    def _weighs(self, spot: Spot) -> bool:
        """Whether an expression takes a weight itself: what it is made of is another layer's."""
        call = spot.call
        if call is not None and makes_variables(call.name.removesuffix("()")):
            return True
        if not isinstance(spot.node, ast.Call | ast.BinOp):
            return False
        return any(self._is_computed(one) and not self._fed_of(one) for one in self._program.sources(spot))

    def _last(self, roots: Sequence[Spot]) -> Spot | None:
        return self._first_reached(roots, False)

    # -- what is fed ---------------------------------------------------------------------------------------------------

    def _feed(
        self, runs: Sequence[_Run], roots: Sequence[Spot], output: Spot | None, trained: tuple[Spot, Spot | None] | None
    ) -> None:
        program, found = self._program, self._found
        wanted = [*roots, *([output] if output is not None else [])]
        needed = list(fed_to(program, *wanted))
        computed = {id(spot.node) for spot in needed}
        of_step = fed_to(program, trained[0]) if trained is not None else ()
        needed += [spot for spot in of_step if id(spot.node) not in computed]
        needed.sort(key=lambda spot: (spot.file.key, spot.line, spot.node.col_offset))
        training = {id(r.node) for r, _ in self._fetched(trained[0], runs)} if trained is not None else set()
        apart = output.node if output is not None and found.apart else None
        used = [run for run in runs if id(run.spot.node) in training or apart in [one.node for one in run.fetches]]
        if not all(run.feeds_told for run in used):
            used = []  # who runs without what is not known
        computing = [run for run in runs if any(True for _ in fed_to(program, *run.fetches))]
        feeds = [
            (run, key, value, {id(one.node) for one in program.closure(key)})
            for run in runs
            for key, value in run.feeds
        ]
        ways = self._ways_to(trained[0]) if trained is not None else []
        for spot in needed:
            fed = [(run, key, value) for run, key, value, made_of in feeds if id(spot.node) in made_of]
            given = describe(program, spot, self._word(spot, fed))
            if used and fed and not any(run in used for run, _, _ in fed):
                found.told.append(f"{spot.where} `{given.name}` is left out: the training step runs without it")
                continue
            if spot.call is not None and _is_apart(spot.call, ways):
                why = "where it is made, the training step is not"
                found.told.append(f"{spot.where} `{given.name}` is left out: {why}")
                continue
            if spot.call is not None and spot.call.name == "tensorflow.placeholder_with_default" and not fed:
                found.told.append(f"{spot.where} `{given.name}` is left at its default")
                continue
            if given.name in {one.name for one in found.given}:
                given.name += str(len(found.given))
            found.given.append(given)
            given.reach = self._reach_of_call(spot, [key for _, key, _ in fed], f"the placeholder `{given.name}`")
            told = [one for one in fed if one[0] in computing] or fed  # not what a run is fed that initializes
            off = dropout_off(program, spot, wanted)
            self._role(given, spot, told, training, id(spot.node) not in computed or off is not None)
            if given.role == "setting" and given.evaluate == given.train:
                given.evaluate = off or given.evaluate
            if given.role != "setting":
                _fill_sizes(given, [_shape_of(program.value(value)) for _, _, value in fed])
                range_of(program, given, spot, wanted)
            if given.role != "setting" and given.dtype is None:
                found.not_understood.append(f"{spot.where} the dtype of `{given.name}`; float32 is taken")
            shape = "of unknown rank" if given.shape is None else f"[{', '.join(map(_size, given.shape))}]"
            is_placeholder = spot.call is not None and spot.call.name in PLACEHOLDERS
            kind = "placeholder" if is_placeholder else "of a pipeline, fed instead:"
            dtype = given.dtype or "float32"
            found.told.append(f"{spot.where} {kind} `{given.name}`: {dtype} {shape}, {_role(given)}")
        if trained is not None:
            self._feed_tensors([run for run in runs if id(run.spot.node) in training], [*wanted, trained[0]])
            self._set_variables(runs, trained[0], wanted)
        for run in runs:
            if not run.feeds_told:
                found.not_understood.append(f"{run.spot.where} all of what is fed: `{_short(run.spot.text)}`")

    def _feed_tensors(self, runs: Sequence[_Run], wanted: Sequence[Spot]) -> None:
        """Say what training is fed that is no placeholder, such as the state with which a cell begins."""
        program, found = self._program, self._found
        computed = {id(one.node) for one in program.closure(*wanted)}
        for run in runs:
            for key, value in run.feeds:
                made = [one for one in program.values(key) if not isinstance(one.node, ast.Name | ast.Attribute)]
                if not any(id(one.node) in computed for one in made) or any(True for _ in fed_to(program, key)):
                    continue
                written = f"{run.spot.where} feeds `{_short(key.text)}`, which is no placeholder, with `{value.text}`"
                if not any(one.startswith(written) for one in found.fed):
                    more = "the pair leaves it as the program makes it, and compares nothing of it"
                    found.not_understood.append(f"{written}: {more}; what goes from step to step wants to be an input")
                    found.fed.append(f"{written}: an input of both sides, or it stays as the program makes it")

    def _set_variables(self, runs: Sequence[_Run], step: Spot, wanted: Sequence[Spot]) -> None:
        """Add variables that sessions assign and only the training step reads, such as a learning rate: they are fed.

        The pair takes the program at its first session, before any is assigned.
        """
        program, found = self._program, self._found
        computed = {id(one.node) for one in program.closure(*wanted)}
        only = {id(one.node) for one in program.closure(step)} - computed
        for run in runs:
            made = program.closure(*run.fetches)
            for spot, target, value in _assigned(made) if all(one.node is not step.node for one in made) else ():
                if any(_is_weight(one, computed, only) for one in program.values(target)):
                    self._tell_of_loading(spot)
                for one in program.values(target):
                    if one.call is None or not makes_variables(one.call.name) or id(one.node) not in only:
                        continue
                    only.discard(id(one.node))
                    given = Given(_last_word(target.node), one.where, "float32", (), "setting")
                    given.reach = self._reach_of_call(one, [target], f"the variable `{given.name}`")
                    number = program.value(value)
                    said = f"the value of `{given.name}` ({one.where}), which {spot.where} makes `{value.text}`"
                    given.train = repr(number) if isinstance(number, int | float) else Missing(said)
                    given.evaluate = given.train
                    found.given.append(given)
                    found.told.append(f"{one.where} variable `{given.name}`, set in {spot.where}: {_role(given)}")

    def _tell_of_loading(self, spot: Spot) -> None:
        """Say that a session gives weights their values, which the pair does not see."""
        text = f"{spot.where} gives weights their values in a session, `{_short(spot.text)}`"
        told = f"{text}: the pair takes the program before it"
        if not any(one.startswith(told) for one in self._found.fed):
            more = "both sides begin with TF1's initial values, and nothing is compared of what is loaded"
            self._found.not_understood.append(f"{told}; {more}")
            self._found.fed.append(f"{told}: {more}")

    def _word(self, spot: Spot, fed: Sequence[tuple[_Run, Spot, Spot]]) -> str:
        call = spot.call
        name = "" if call is None else call.literal("name", 2, "")
        made = [spot.text] if call is None else call.assigned_to
        texts = [key.text for _, key, _ in fed] + made + ([name] if isinstance(name, str) else [])
        texts += [key for _, key in _in_dict(spot)]
        for text in texts:
            words = "".join(letter if letter.isalnum() or letter == "_" else " " for letter in text).split()
            if words and words[-1].isidentifier():
                return words[-1]
        return f"placeholder_{spot.line}"

    def _role(
        self, given: Given, spot: Spot, fed: Sequence[tuple[_Run, Spot, Spot]], training: set[int], is_number: bool
    ) -> None:
        """Say what a placeholder is; what the training step alone needs, such as a learning rate, is a setting.

        A run that does not train may still be fed as training is, as one that reads the loss of its batch: a number
        that is fed otherwise only is the one outside of training.
        """
        values = {True: [], False: []}  # type: dict[bool, list[Spot]]
        for run, _, value in fed:
            values[id(run.spot.node) in training].append(value)
        numbers = [self._program.value(value) for some in values.values() for value in some]
        plain = _has_numbers(numbers)
        if given.shape == () or given.dtype == "bool" or (given.shape is None and (plain or is_number)):
            given.role = "setting"
            given.train = self._setting(values[True] or values[False], given)
            trained = {self._program.value(value) for value in values[True]}
            otherwise = [value for value in values[False] if self._program.value(value) not in trained]
            given.evaluate = self._setting([*otherwise, *values[False], *values[True]], given)
            if isinstance(given.train, Missing) and given.dtype == "bool":
                given.train = "True"
            if given.dtype == "bool" and given.train == "True" and not values[False]:
                given.evaluate = "False"
        elif id(spot.node) in self._labels:
            given.role = "label"
        elif len(filled := {self._filled(value) for _, _, value in fed}) == 1 and any(filled):
            given.role, given.filled = "setting", filled.pop()

    def _filled(self, value: Spot) -> str:
        """``zeros`` or ``ones``, where a value is an array of them and nothing else; else an empty text."""
        made = [one for one in self._program.values(value) if not isinstance(one.node, ast.Name | ast.Attribute)]
        name = made[0].call.name if len(made) == 1 and made[0].call is not None else ""
        return name.removeprefix("numpy.") if name in ("numpy.zeros", "numpy.ones") else ""

    def _setting(self, values: Sequence[Spot], given: Given) -> str | Missing:
        for value in values:
            number = self._program.value(value)
            if isinstance(number, bool | int | float):
                return repr(number)
            if given.shape == () and _is_length(value.node):
                return ROWS_FED
        written = f", which {values[0].where} feeds with `{values[0].text}`" if values else ", which nothing feeds"
        return Missing(f"the value of `{given.name}` ({given.where}){written}")

    # -- by which name it is reached -----------------------------------------------------------------------------------

    def _reach_or(self, spot: Spot, what: str) -> str | Missing:
        reached = self._reach(spot)
        if reached is not None:
            return reached
        written = _short(spot.text)
        return Missing(
            f"an expression for {what}, `{written}` in {spot.where}, that the program knows at its first session"
        )

    def _reach_of_call(self, spot: Spot, names: Sequence[Spot], what: str) -> str | Missing:
        """How what a call makes is called: by what uses it, or by what it is assigned to."""
        for one in names:
            if (reached := self._reach(one)) is not None:
                return reached
        held = {id(spot.node): "", **{id(whole): f"[{key!r}]" for whole, key in _in_dict(spot)}}
        for fact in spot.file.index.assignments:
            if id(fact.value) in held and isinstance(fact.target, ast.Name | ast.Attribute | ast.Subscript):
                if (reached := self._reach(Spot(spot.file, fact.scope, fact.target))) is not None:
                    return f"{reached}{held[id(fact.value)]}"
        return self._reach_or(spot, what)

    def _reach(self, spot: Spot, depth: int = 0) -> str | None:
        """How an expression is called where the program comes to its first session, if it has a name there."""
        if depth > 6:
            return None
        node = spot.node
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            base = self._reach(spot.at(node.value), depth)
            return None if base is None else f"{base}[{node.slice.value!r}]"
        if isinstance(node, ast.Attribute):
            return self._reach_attribute(spot, node, depth)
        if isinstance(node, ast.UnaryOp | ast.BinOp | ast.Constant):
            return self._reach_sum(spot, node, depth)
        if not isinstance(node, ast.Name):
            return None
        found = spot.file.index.lookup(spot.scope, node.id)
        if found is None:
            return None
        home = found[0]
        if self._is_in_frame(spot, home, node.id):
            return node.id
        return self._reach_alias(spot, home, depth)

    def _reach_sum(self, spot: Spot, node: ast.UnaryOp | ast.BinOp | ast.Constant, depth: int) -> str | None:
        """An expression of what is reached and of numbers, which the program's session can be asked for as well."""
        if isinstance(node, ast.Constant):
            return repr(node.value) if isinstance(node.value, int | float) else None
        parts = [node.operand] if isinstance(node, ast.UnaryOp) else [node.left, node.right]
        reached = [self._reach(spot.at(part), depth + 1) for part in parts]
        names = [ast.parse(text, mode="eval").body for text in reached if text is not None]
        if len(names) != len(parts):
            return None
        if isinstance(node, ast.UnaryOp):
            return ast.unparse(ast.UnaryOp(node.op, names[0]))
        return ast.unparse(ast.BinOp(names[0], node.op, names[1]))

    def _is_in_frame(self, spot: Spot, home: Scope, name: str) -> bool:
        """Whether a name of a scope has this value by then, and no inner frame has another thing of that name."""
        facts = [fact for fact in self._program.assigned(spot.file, home) if _is_name(fact.target, name)]
        place = (spot.node.lineno, spot.node.col_offset) if hasattr(spot.node, "lineno") else (0, 0)
        for frame in self._frames:
            made = [behind(fact) for fact in facts if fact.target.lineno <= frame.line]
            if spot.scope is home and any(one > place for one in made if spot.node not in (f.target for f in facts)):
                return False  # it stands for something else when the session begins
            if frame.file is spot.file and frame.scope is home:
                return name in home.parameters or bool(made)
            if name in frame.scope.binds and name not in frame.scope.parameters and frame.scope.kind != "module":
                return False
        return home.kind == "module" and any(frame.file is spot.file for frame in self._frames)

    def _reach_alias(self, spot: Spot, home: Scope, depth: int) -> str | None:
        """By what it is assigned to, what gets it where it is returned, or what was given for it."""
        program, node = self._program, spot.node
        assert isinstance(node, ast.Name)
        for fact in spot.file.index.assignments_in(home.function()):
            if isinstance(fact.value, ast.Name) and fact.value.id == node.id and fact.scope is home:
                if isinstance(fact.target, ast.Attribute) or _is_name(fact.target, node.id) is False:
                    if reached := self._reach(Spot(spot.file, fact.scope, fact.target), depth + 1):
                        return reached
        if reached := self._one(self._returned_to(spot, home, depth)):
            return reached
        if node.id in home.parameters and not self._is_named_again(spot, home, node.id):
            given = program.arguments(spot.file, home, node.id)
            return self._one(self._reach(one, depth + 1) for one in given if self._is_on_the_way(one))
        return self._reach_attribute_of_it(spot, home, node.id, depth) or self._reach_returned(spot, home, node.id)

    def _reach_attribute_of_it(self, spot: Spot, home: Scope, name: str, depth: int) -> str | None:
        """The attribute that a name stands for, where each is assigned once."""
        facts = [fact for fact in self._program.assigned(spot.file, home) if _is_name(fact.target, name)]
        node = facts[0].value if len(facts) == 1 else None
        if not isinstance(node, ast.Attribute):
            return None
        there = Spot(spot.file, facts[0].scope, node)
        owners = self._program.classes_of(there.at(node.value))
        settled = owners and all(len(self._program.assigned_at(key, node.attr)) == 1 for key in owners)
        return self._reach(there, depth + 1) if settled else None

    def _reach_returned(self, spot: Spot, home: Scope, name: str) -> str | None:
        """A name of a function that has run, once, when the session begins, and had this value when it returned.

        Of what outputs are looked for by, none: they may have a name that the program itself has.
        """
        if self._leading:
            return None
        made = [behind(fact) for fact in self._program.assigned(spot.file, home) if _is_name(fact.target, name)]
        place = (spot.node.lineno, spot.node.col_offset) if hasattr(spot.node, "lineno") else (0, 0)
        is_settled = spot.scope is home and made and max(made) <= place
        alike = [one for file in self._program.files.values() for one in file.index.scopes if one.name == home.name]
        if not is_settled or len(alike) > 1 or not self._has_returned(spot.file, home):
            return None
        return f'returned["{home.name}"][0].{name}'

    def _has_returned(self, file: File, function: Scope, depth: int = 0) -> bool:
        callers = self._program.callers(file, function)
        if function.kind != "function" or len(callers) != 1 or depth > 6:
            return False
        (caller,) = callers
        around, call = caller.scope.function(), caller.call
        if call is None or call.block.is_repeated or any(frame.scope is function for frame in self._frames):
            return False
        for frame in self._frames:
            if frame.file is caller.file and frame.scope is around:
                return caller.line < frame.line
        return around.kind == "module" or self._has_returned(caller.file, around, depth + 1)

    def _is_named_again(self, spot: Spot, home: Scope, name: str) -> bool:
        """Whether a parameter may have stood for something else before a place."""
        made = [behind(fact) for fact in self._program.assigned(spot.file, home) if _is_name(fact.target, name)]
        place = (spot.node.lineno, spot.node.col_offset) if hasattr(spot.node, "lineno") else (0, 0)
        return any(one <= place or spot.scope is not home for one in made)

    def _returned_to(self, spot: Spot, home: Scope, depth: int) -> Iterator[str | None]:
        """How each caller calls what a function returns by this name."""
        program, node = self._program, spot.node
        assert isinstance(node, ast.Name)
        for returned in spot.file.index.returns_in(home) if home.is_function else ():
            elements = returned.value.elts if isinstance(returned.value, ast.Tuple | ast.List) else []
            places = [place for place, one in enumerate(elements) if _is_name(one, node.id)]
            fields = [one.arg for one in program.fields(spot.at(returned.value)) if _is_name(one.value, node.id)]
            if not places and not fields and not _is_name(returned.value, node.id):
                continue
            for caller in program.callers(spot.file, home):
                if self._is_on_the_way(caller):
                    reached = self._at_caller(caller, places, depth)
                    yield f"{reached}.{fields[0]}" if reached and fields else reached

    def _at_caller(self, caller: Spot, places: Sequence[int], depth: int) -> str | None:
        for fact in caller.file.index.assignments:
            whole = fact.value is caller.node and not places
            part = fact.source is caller.node and places and position_in(fact) == places[0]
            if whole or part:
                if reached := self._reach(Spot(caller.file, fact.scope, fact.target), depth + 1):
                    return reached
            if fact.value is caller.node and places:
                if reached := self._reach(Spot(caller.file, fact.scope, fact.target), depth + 1):
                    return f"{reached}[{places[0]}]"
        return None

    def _is_on_the_way(self, spot: Spot) -> bool:
        return not self._leading or id(spot.node) in self._leading

    def _one(self, reached: Iterable[str | None]) -> str | None:
        """The first, or, of what outputs are looked for by, the one that all are."""
        if not self._leading:
            return next((one for one in reached if one), None)
        found = set(reached)
        return found.pop() if len(found) == 1 else None

    def _reach_attribute(self, spot: Spot, node: ast.Attribute, depth: int) -> str | None:
        base = spot.at(node.value)
        for key in self._program.classes_of(base):
            instance = self._instance_of(key)
            if instance is not None and self._is_set(key, node.attr):
                return f"{instance}.{node.attr}"
        reached = self._reach(base, depth + 1)
        return None if reached is None else f"{reached}.{node.attr}"

    def _is_set(self, key: tuple[str, int], name: str) -> bool:
        """Whether an attribute may have its value by then: a function that comes to the session may set it later."""
        lines = {(frame.file.key, frame.scope.id): frame.line for frame in self._frames}
        made = self._program.assigned_at(key, name)
        after = [one for one in made if one.line > lines.get((one.file.key, one.scope.function().id), one.line)]
        return not made or len(after) < len(made)

    def _instance_of(self, key: tuple[str, int]) -> str | None:
        """How an object of a class is called."""
        if self._instance and (self._entry[0].key, self._entry[1].id) == key:
            return self._instance
        for frame in self._frames:
            owner = frame.scope.owner()
            if owner is not None and frame.scope.parameters:
                mro = frame.file.project.mro((frame.file.key, owner.id))[0]
                if key in [(frame.file.key, owner.id), *mro]:
                    return frame.scope.parameters[0]
        for frame in self._frames:
            for fact in self._program.assigned(frame.file, frame.scope):
                path = path_of(fact.target)
                if path is None or fact.target.lineno > frame.line or fact.value is None:
                    continue
                for own in self._program.classes_of(Spot(frame.file, fact.scope, fact.value)):
                    if key in [own, *frame.file.project.mro(own)[0]]:
                        return path
        return None


def _runs_untold(call: Call) -> bool:
    """Whether it is the ``run`` of something that the text does not tell, such as of a session that is given."""
    return call.method == "run" and not any(one.kind == "function" for one in call.found)


def _is_apart(call: Call, ways: Sequence[Call]) -> bool:
    """Whether a call does not run where one of some others does, such as in a branch that ends the program."""
    beside = [one for one in ways if one.file is call.file and one.scope.function() is call.scope.function()]
    return bool(beside) and all(one.excludes(call) for one in beside)


def _awaited(spot: Spot) -> Iterator[Spot]:
    """What the ``tf.control_dependencies`` around a call are given."""
    for level in spot.call.block.holders() if spot.call is not None else ():
        around = spot.file.call_at(level.node) if isinstance(level.node, ast.Call) else None
        if around is not None and around.name == "tensorflow.control_dependencies":
            yield from (Spot(around.file, around.scope, one) for one in around.arguments)


def _in_dict(spot: Spot) -> Iterator[tuple[ast.Dict, str]]:
    """The dict that is written out around an expression, and the expression's key."""
    whole = spot.file.parent_of(spot.node)
    if isinstance(whole, ast.Dict):
        for key, value in zip(whole.keys, whole.values, strict=True):
            if value is spot.node and isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield whole, key.value


def _assigned(spots: Iterable[Spot]) -> Iterator[tuple[Spot, Spot, Spot]]:
    """The calls among some expressions that assign a variable, with the variable and the value."""
    for spot in spots:
        call = spot.call
        if call is None:
            continue
        method = call.method in ("assign", "load") and call.name != "tensorflow.assign"
        target = call.receiver if method else call.value("ref", 0) if call.name == "tensorflow.assign" else None
        value = call.value("value", 0 if method else 1)
        if target is not None and value is not None:
            yield spot, spot.at(target), spot.at(value)


def _is_weight(spot: Spot, computed: Container[int], only: Container[int]) -> bool:
    """Whether it is a variable that outputs or the loss are made of, or one that is looked up by its name."""
    if spot.call is None or id(spot.node) in only:
        return False
    return spot.call.name in _LOOKED_UP or (makes_variables(spot.call.name) and id(spot.node) in computed)


def _updates(call: Call) -> bool:
    """Whether it makes an operation that assigns a variable, or gives those of a batch normalization."""
    if call.name == "tensorflow.get_collection":
        return (path_of(call.value("key", 0)) or "").endswith("UPDATE_OPS")
    last = call.name.rpartition(".")[2]
    average = call.method == "apply" and "ExponentialMovingAverage" in call.name
    return average or last in _ASSIGNING or (not call.name and call.method in _ASSIGNING)


def _is_length(node: ast.expr) -> bool:
    """Whether it is the ``len`` of something, or its ``shape[0]``."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        return isinstance(node.slice, ast.Constant) and node.slice.value == 0
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def _last_word(node: ast.expr) -> str:
    return (path_of(node) or "value").rpartition(".")[2].replace("[]", "") or "value"


def _makes_session(name: Name) -> bool:
    return name.canonical.startswith("tensorflow.") and any(
        part in name.canonical for part in ("Session()", "managed_session()")
    )


def _has_numbers(values: Sequence[object]) -> bool:
    single = any(isinstance(value, bool | int | float) for value in values)
    return single and not any(isinstance(value, tuple) for value in values)


def _fill_sizes(given: Given, fed: Sequence[tuple[int, ...]]) -> None:
    """Take sizes that the placeholder leaves open from the numbers that the program feeds, where these are written."""
    for sizes in fed:
        if sizes and given.shape is None:
            given.shape = sizes
        elif sizes and given.shape is not None and len(sizes) == len(given.shape):
            given.shape = tuple(size if own is None else own for own, size in zip(given.shape, sizes, strict=True))


def _shape_of(value: object) -> tuple[int, ...]:
    """Of the rows that a tuple of numbers is, or a tuple of such tuples."""
    sizes: list[int] = []
    while isinstance(value, tuple) and value:
        sizes.append(len(value))
        value = value[0]
    return tuple(sizes) if isinstance(value, int | float) else ()


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _short(text: str, most: int = 90) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _size(size: int | Missing | None) -> str:
    return "?" if isinstance(size, Missing) else str(size)


def _role(given: Given) -> str:
    if given.role != "setting":
        return f"an {given.role}" if given.role == "input" else f"a {given.role}"
    values = [value if isinstance(value, str) else "?" for value in (given.train, given.evaluate)]
    if given.filled or values[0] == values[1] == ROWS_FED:
        return f"fed {given.filled or ROWS_FED}"
    return f"fed {values[0]} in training and {values[1]} otherwise"
