"""A TF1 program that was rewritten says what it said, runs under TF2, and computes what it computed."""

from __future__ import annotations

import ast
import itertools
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

import pytest
from migrate_lint.linter.analysis.index import FileIndex
from migrate_lint.linter.finding import Target
from migrate_lint.linter.fixing.compat_v1 import Converted, converted
from migrate_lint.linter.fixing.edits import applied
from migrate_lint.linter.rule_api.contrib import _written, code_of, successor, written_name
from migrate_lint.linter.rule_api.model import File
from migrate_lint.linter.source.parsing import SourceFile

from ...interpreters import Children, environment
from ..analysis import file_of, project_of

PROGRAMS = Path(__file__).parents[3] / "benchmarks" / "fixes"
USES = {
    "import tensorflow as tf": "tf.{}",
    "import tensorflow": "tensorflow.{}",
    "import os, tensorflow as tf": "tf.{}",
    "import tensorflow as np": "np.{}",
    "from tensorflow import placeholder, float32, Session": "{}",
    "from tensorflow import (\n    placeholder,  # one\n    float32 as float32,\n    Session,\n)": "{}",
    "from tensorflow import *": "{}",
    "try:\n    import tensorflow as tf\nexcept ImportError:\n    raise": "tf.{}",
    "if True: import tensorflow as tf; import os": "tf.{}",
}
"""Ways to import TensorFlow, and how a name of it is read then."""
PLACES = {
    "module": "{}",
    "function": "def f():\n    {}\nf()\n",
    "default": "def f(x={}): return x\nf()\n",
    "class": "class C:\n    x = {}\n",
    "lambda": "(lambda: {})()\n",
    "comprehension": "[{} for _ in range(2)]\n",
}


def one(text: str, name: str = "example.py", **others: str) -> Converted:
    """A file, beside other files, as it is converted."""
    texts = {name: dedent(text), **{f"{key}.py": dedent(other) for key, other in others.items()}}
    return converted(file_of(texts, name))


def changed(text: str, **others: str) -> list[str]:
    """The lines that a conversion adds, without the code that it writes out."""
    before = dedent(text).split("\n")
    return [line for line in one(text, **others).text.split("\n") if line not in before]


def project(texts: Mapping[str, str]) -> dict[str, Converted]:
    """All files of a project."""
    whole = project_of(texts)
    found = {}
    for name, text in texts.items():
        source = SourceFile(Path(name), name, dedent(text), "")
        found[name] = converted(File(source, name, FileIndex(ast.parse(dedent(text))), whole, Target.KERAS3))
    return found


def notes(conversion: Converted) -> str:
    return "\n".join(f"{note.line}: {note.message}" for note in conversion.notes)


@pytest.mark.parametrize(("imported", "place"), list(itertools.product(USES, PLACES)))
def test_an_import_is_renamed_however_it_is_written(imported: str, place: str) -> None:
    """And every other line stays; a second conversion finds nothing to do."""
    read = USES[imported]
    body = PLACES[place].format(f"{read.format('placeholder')}({read.format('float32')}, [None])")
    text = f'"""Doc."""\n# first\n{imported}  # beside\n\n{body}\n{read.format("Session")}()\n'
    after = one(text)

    ast.parse(after.text)
    assert "tensorflow.compat.v1" in after.text
    assert after.text.count("disable_v2_behavior()") == 1
    assert "# first" in after.text and "# beside" in after.text
    assert after.text.endswith(text.partition("# beside")[2])
    assert after.text == one(after.text).text


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("import tensorflow as tf\ntf.Session()\n", ["import tensorflow.compat.v1 as tf", "tf.disable_v2_behavior()"]),
        (
            "import tensorflow\ntensorflow.Session()\n",
            ["import tensorflow.compat.v1 as tensorflow", "tensorflow.disable_v2_behavior()"],
        ),
        (
            "from tensorflow import Session\nSession()\n",
            [
                "import tensorflow.compat.v1 as tf",
                "tf.disable_v2_behavior()",
                "from tensorflow.compat.v1 import Session",
            ],
        ),
        (
            "from tensorflow import Session as S, python\nS()\n",
            [
                "import tensorflow.compat.v1 as tf",
                "tf.disable_v2_behavior()",
                "from tensorflow import python",
                "from tensorflow.compat.v1 import Session as S",
            ],
        ),
        (
            "import tensorflow.python.ops\nimport tensorflow\ntensorflow.Session()\n",
            [
                "import tensorflow.compat.v1 as tf",
                "tf.disable_v2_behavior()",
                "tensorflow.compat.v1.Session()",
            ],
        ),
        (
            "from tensorflow.app import flags\nimport tensorflow as tf\ntf.Session()\n",
            [
                "from tensorflow.compat.v1 import flags",
                "import tensorflow.compat.v1 as tf",
                "tf.disable_v2_behavior()",
            ],
        ),
    ],
)  # fmt: skip
def test_spellings_of_imports(text: str, added: list[str]) -> None:
    """Each is the same import of another module."""
    assert added == changed(text)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (
            "import os; import tensorflow as tf; tf.Session()  # three\n",
            "import tensorflow.compat.v1 as tf\n"
            "tf.disable_v2_behavior()\n"
            "import os; import tensorflow.compat.v1 as tf; tf.Session()  # three\n",
        ),
        (
            "import tensorflow as tf \\\n\n# below\ntf.Session()\n",
            "import tensorflow.compat.v1 as tf \\\n\ntf.disable_v2_behavior()\n# below\ntf.Session()\n",
        ),
        (
            "import tensorflow as tf\n\n\nclass A:\n    def f(self):\n"
            "        import os\n        # why\n        from tensorflow.contrib import rnn\n"
            "        if type(self) is tf.Tensor: return np_\n        return rnn.LSTMCell(3)\n\n\nA()\ntf.Session()",
            "import os\n"
            'os.environ["TF_USE_LEGACY_KERAS"] = "1"\n'
            "import tensorflow.compat.v1 as tf\n"
            "tf.disable_v2_behavior()\n\n\nclass A:\n    def f(self):\n"
            "        import os\n        # why\n"
            "        if isinstance(self, tf.Tensor): return np_\n        return tf.nn.rnn_cell.LSTMCell(3)\n\n\nA()\n"
            "tf.Session()",
        ),
    ],
)
def test_only_what_changes_is_another_text(text: str, after: str) -> None:
    """Statements that share a line, that go on with an empty one, and imports in functions of classes."""
    result = one(text)

    assert result.text == after
    assert result.text == applied(text, result.edits)
    assert one(result.text).text == result.text


def test_keras_is_chosen_before_tensorflow_is_imported() -> None:
    """Where something that is reached needs the Keras that TF1 had, and in the script that is run."""
    files = {
        "train.py": '"""Doc."""\nfrom __future__ import division\nimport os\nimport net\n\nnet.build()\n',
        "net.py": "import tensorflow as tf\n\n\ndef build():\n    return tf.layers.dense(tf.placeholder('float'), 3)\n",
    }
    found = project(files)

    assert (
        '"""Doc."""\nfrom __future__ import division\nimport os\nos.environ["TF_USE_LEGACY_KERAS"] = "1"\n'
        "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\nimport net\n\nnet.build()\n"
    ) == found["train.py"].text
    assert "tf-keras belongs into the requirements" in notes(found["train.py"])
    assert files["net.py"].replace("tensorflow as", "tensorflow.compat.v1 as") == found["net.py"].text


def test_a_program_without_keras_asks_for_none() -> None:
    """It runs with either."""
    assert "TF_USE_LEGACY_KERAS" not in one("import tensorflow as tf\ntf.Session().run(tf.placeholder('float'))\n").text


@pytest.mark.parametrize(
    ("text", "is_entry"),
    [
        ("import tensorflow as tf\n\ndef f():\n    return tf.placeholder('float')\n", False),
        ("import tensorflow as tf\n\ndef f():\n    return tf.placeholder('float')\n\nf()\n", True),
        ("import tensorflow as tf\n\ntf.app.flags.DEFINE_string('a', '', '')\n", False),
        ("import tensorflow as tf\n\ndef main(_): tf.Session()\n\ntf.app.run()\n", True),
        ("import tensorflow as tf\n\ndef f(): tf.Session()\n\nif __name__ == '__main__':\n    f()\n", True),
        ("import tensorflow as tf\n\ndef f(): tf.Session()\n\nif '__main__' == __name__: f()\n", True),
    ],
)
def test_what_is_run_switches_the_behaviour_of_tf2_off(text: str, is_entry: bool) -> None:
    """A module that is only imported does not."""
    assert is_entry == ("disable_v2_behavior" in one(text).text)


def test_a_module_that_builds_when_it_is_imported_is_no_script() -> None:
    """Its importer has switched by then."""
    found = project(
        {
            "main.py": "import graph\nimport tensorflow as tf\n\ntf.Session().run(graph.x)\n",
            "graph.py": "import tensorflow as tf\n\nx = tf.placeholder('float')\n",
        }
    )

    assert found["main.py"].text.startswith(
        "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\nimport graph\nimport tensorflow.compat.v1 as tf\n"
    )
    assert "disable" not in found["graph.py"].text


def test_a_module_that_runs_itself_is_a_script_even_if_it_is_imported() -> None:
    """It calls a function of its own at its top."""
    model = "import tensorflow as tf\n\ndef test():\n    tf.placeholder('float')\n\ntest()\n"
    found = project({"model.py": model, "train.py": "import model\nimport tensorflow as tf\ntf.Session()\n"})

    assert "disable_v2_behavior" in found["model.py"].text


def test_a_script_without_tensorflow_of_its_own() -> None:
    """Switches before it imports what builds; comments above the import stay where they are."""
    found = project(
        {
            "run.py": "#!/usr/bin/env python\n# Licence.\n\nimport sys\n\n# ours\nfrom graph import x\n\nprint(x)\n"
            "\nif __name__ == '__main__':\n    sys.exit()\n",
            "graph.py": "import tensorflow as tf\n\nx = tf.placeholder('float')\n",
        }
    )

    assert found["run.py"].text.startswith(
        "#!/usr/bin/env python\n# Licence.\n\nimport sys\nimport tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n"
        "\n# ours\nfrom graph import x\n"
    )


CONTRIB = [
    ("tf.contrib.rnn.BasicLSTMCell(3)", "tf.nn.rnn_cell.BasicLSTMCell(3)"),
    ("tf.contrib.rnn.static_rnn", "tf.nn.static_rnn"),
    ("tf.contrib.layers.xavier_initializer()", "tf.glorot_uniform_initializer()"),
    ("tf.contrib.layers.xavier_initializer(seed=1)", "tf.glorot_uniform_initializer(seed=1)"),
    ("tf.contrib.layers.xavier_initializer(False)", "tf_slim.xavier_initializer(False)"),
    ("tf.contrib.layers.xavier_initializer", "tf_slim.xavier_initializer"),
    ("tf.contrib.layers.fully_connected(x, 3)", "tf_slim.fully_connected(x, 3)"),
    ("tf.contrib.layers.python.layers.layers.conv2d", "tf_slim.conv2d"),
    ("tf.contrib.framework.nest.flatten(x)", "tf.nest.flatten(x)"),
    ("tf.contrib.slim.losses.log_loss", "tf_slim.losses.log_loss"),
    ("tf.contrib.slim.nets.resnet_v1.resnet_v1_50", "tf_slim.nets.resnet_v1.resnet_v1_50"),
    ("tf.contrib.seq2seq.sequence_loss(x, y, z)", "seq2seq_sequence_loss(x, y, z)"),
    ("tf.contrib.legacy_seq2seq.sequence_loss(x, y, z)", "legacy_seq2seq_sequence_loss(x, y, z)"),
    ("tf.contrib.training.HParams(a=1).a", "HParams(a=1).a"),
    ("tf.contrib.util.constant_value(x)", "tf.get_static_value(x)"),
    ("tf.contrib.signal.stft(x, 4, 2)", "tf.signal.stft(x, 4, 2)"),
    ("tf.contrib.keras.layers.Dense(3)", "tf.keras.layers.Dense(3)"),
    ("tf.contrib.keras.python.keras.backend.sum", "tf.keras.backend.sum"),
    ("tf.contrib.seq2seq.TrainingHelper(x, y)", "TrainingHelper(x, y)"),
    ("type(x) is tf.Tensor", "isinstance(x, tf.Tensor)"),
    ("(type(x) != tf.Tensor)", "(not isinstance(x, tf.Tensor))"),
    ("tf.contrib.rnn.LSTMStateTuple", "tf.nn.rnn_cell.LSTMStateTuple"),
    ("[tf.contrib.rnn.GRUCell(n) for n in (tf.contrib.rnn.LSTMCell, 2)]",
     "[tf.nn.rnn_cell.GRUCell(n) for n in (tf.nn.rnn_cell.LSTMCell, 2)]"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), CONTRIB)
@pytest.mark.parametrize("place", ["y = {}\n", "def f(x, y, z, tf_slim_=1):\n    return [\n        {},  # é\n    ]\n"])
def test_contrib_is_taken_from_where_it_is_today(old: str, new: str, place: str) -> None:
    """What it was decides, and the text around it stays."""
    text = f"import tensorflow as tf\n\nx = y = z = tf.placeholder('float')\n{place.format(old)}"
    after = one(text).text

    assert after.endswith(place.format(new))
    assert "contrib" not in "".join(line for line in after.split("\n") if "What tf.contrib" not in line)
    assert after == one(after).text


@pytest.mark.parametrize(
    ("imported", "read", "old", "new"),
    [
        ("from tensorflow.contrib import rnn", "rnn.GRUCell(3)", None, "tf.nn.rnn_cell.GRUCell(3)"),
        ("import tensorflow.contrib.rnn as r", "r.GRUCell(3)", None, "tf.nn.rnn_cell.GRUCell(3)"),
        ("import tensorflow.contrib as c", "c.rnn.GRUCell(3)", None, "tf.nn.rnn_cell.GRUCell(3)"),
        ("import tensorflow.contrib.rnn", "tensorflow.contrib.rnn.GRUCell(3)", None, "tf.nn.rnn_cell.GRUCell(3)"),
        (
            "from tensorflow.contrib.rnn import GRUCell as G",
            "G(3)",
            "from tensorflow.compat.v1.nn.rnn_cell import GRUCell as G",
            "G(3)",
        ),
        (
            "from tensorflow.contrib.keras import layers",
            "layers.Dense(3)",
            "from tensorflow.compat.v1.keras import layers",
            "layers.Dense(3)",
        ),
        (
            "from tensorflow.contrib.keras.python.keras.layers import Dense",
            "Dense(3)",
            "from tensorflow.compat.v1.keras.layers import Dense",
            "Dense(3)",
        ),
        (
            "from tensorflow.contrib import keras as K",
            "K.backend.sum",
            "from tensorflow.compat.v1 import keras as K",
            "K.backend.sum",
        ),
        ("import tensorflow.contrib.slim as slim", "slim.conv2d", "import tf_slim as slim", "slim.conv2d"),
        ("from tensorflow.contrib import slim", "slim.conv2d", "import tf_slim as slim", "slim.conv2d"),
        ("from tensorflow.contrib import layers as L", "L.conv2d", "import tf_slim as L", "L.conv2d"),
        ("from tensorflow.contrib.layers import conv2d", "conv2d", "from tf_slim import conv2d", "conv2d"),
        ("from tensorflow.contrib.training import HParams as H", "H(a=1)", None, "HParams(a=1)"),
        (
            "from tensorflow.contrib.tensorboard.plugins import projector",
            "projector.ProjectorConfig()",
            "from tensorboard.plugins import projector",
            "projector.ProjectorConfig()",
        ),
        ("from tensorflow.contrib import learn", "1", None, "1"),
    ],
)
def test_imports_of_contrib(imported: str, read: str, old: str | None, new: str) -> None:
    """What is read through them says what becomes of them; one that nothing needs goes, its comment stays."""
    after = one(f"import tensorflow as tf\n# why\n{imported}\n\ntf.Session()\nx = {read}\n").text

    assert after.endswith(f"x = {new}\n")
    assert (old is None) or old in after
    assert "tensorflow.contrib" not in after
    assert "# why\n" in after
    assert after == one(after).text


def test_tf_slim_is_repaired_after_tensorflow_is_imported() -> None:
    """Whichever of the two is imported first; nothing stands before what it needs."""
    head = "from tensorflow.contrib.layers import batch_norm\nfrom tensorflow.contrib.framework import arg_scope\n"
    read = "\nx = batch_norm(tf.placeholder('float'))\n"
    for text in (f"{head}import tensorflow as tf\n{read}", f"import tensorflow as tf\n{head}{read}"):
        after = one(text).text
        lines = after.split("\n")
        repair = lines.index("tf_slim.layers.normalization_layers = tf.layers")

        assert lines.index("import tensorflow.compat.v1 as tf") < repair < lines.index(read.strip())
        assert lines.index("import tf_slim") < repair
        assert after == one(after).text


@pytest.mark.parametrize(
    "bound",
    [
        "import tensorflow as tf\nslim = tf.contrib.slim",
        "import tensorflow as tf\nlayers = tf.contrib.layers\nslim = layers",
        "from tensorflow import contrib\nslim = contrib.slim",
        "from tensorflow.contrib import slim as nets\nslim = nets",
    ],
)
def test_tf_slim_is_repaired_where_a_variable_stands_for_it(bound: str) -> None:
    """What is read of the variable is what counts."""
    repair = "layers.normalization_layers = tf.layers"

    for read, needs in (("batch_norm(x)", True), ("conv2d(x, 3, 1)", False)):
        lines = changed(f"{bound}\n\ndef net(x):\n    return slim.{read}\n")
        assert needs == any(line.endswith(repair) for line in lines)


def test_a_vocabulary_that_contrib_wrote_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pickle names classes and a function of modules that are gone."""
    gfile = SimpleNamespace(GFile=open)
    names: dict[str, Any] = {"__name__": "written", "tf": SimpleNamespace(io=SimpleNamespace(gfile=gfile))}
    monkeypatch.setitem(sys.modules, "written", SimpleNamespace(**names))  # type: ignore[arg-type]
    exec("\n\n".join(code_of({"VocabularyProcessor"}).values()), names)
    vars(sys.modules["written"]).update(names)
    text = pickle.dumps(names["VocabularyProcessor"](3).fit(["b a"]), protocol=0).decode()
    home = "tensorflow.contrib.learn.python.learn.preprocessing"
    for module, name in (("text", "VocabularyProcessor"), ("categorical_vocabulary", "CategoricalVocabulary")):
        assert f"cwritten\n{name}\n" in text
        text = text.replace(f"cwritten\n{name}\n", f"c{home}.{module}\n{name}\n")
    (tmp_path / "vocabulary").write_text(text)

    found = names["VocabularyProcessor"].restore(str(tmp_path / "vocabulary"))
    assert [[2, 1, 0]] == [row.tolist() for row in found.transform(["a b c"])]


def test_what_has_no_successor_is_left_and_said() -> None:
    """It fails where it is reached, and not where all the rest would be imported."""
    head = "import tensorflow as tf\nfrom tensorflow.contrib import learn, rnn\n\n"
    text = f"{head}tf.Session()\nlearn.DNNClassifier(rnn.GRUCell)\n"
    after = one(text)

    assert "import learn" not in after.text
    assert "\ntf.contrib.learn.DNNClassifier(tf.nn.rnn_cell.GRUCell)" in after.text
    assert "5: `learn.DNNClassifier` has no successor" in notes(after)
    assert after.text == one(after.text).text


@pytest.mark.parametrize(
    "read",
    ["py_func(f, [x], output_types=tf.float32)", "zero_initializer(variable)", "list_variables(checkpoint_dir=folder)"],
)
def test_what_takes_other_arguments_today_is_left(read: str) -> None:
    """A name of contrib may be that of another function."""
    after = one(f"import tensorflow as tf\ntf.Session()\ntf.contrib.framework.{read}\n")

    assert f"tf.contrib.framework.{read}" in after.text
    assert "\ntf.contrib.crf" not in one("import tensorflow as tf\ntf.contrib.crf.viterbi_decode(a, b)\n").text
    assert "\ntf.contrib.crf" in one("import tensorflow as tf\ntf.contrib.crf.viterbi_decode(a, b, c=1)\n").text
    assert "has no successor in TF2" in notes(after)
    assert "tf.train.list_variables(a)" in one("import tensorflow as tf\ntf.contrib.framework.list_variables(a)\n").text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import tensorflow as tf\ntf.enable_eager_execution()\ntf.placeholder\n", "this program is eager"),
        (
            "import tensorflow as tf\nimport tensorflow.contrib.eager as tfe\ntfe.Variable(1.)\n",
            "this program is eager",
        ),
        ("import tensorflow as tf\n\n@tf.function\ndef f(x): return tf.log(x)\n", "TF2's"),
        ("import tensorflow as tf\n\nprint(tf.constant(1))\n", "nothing in this file tells"),
        ("import tensorflow as tf\n\n@tf.function\ndef f(x): return x\n", ""),
        ("import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\ntf.placeholder('float')\n", ""),
        ("import numpy as np\n\nnp.int(3)\n", ""),
        ("", ""),
    ],
)
def test_what_is_no_tf1_program_is_left(text: str, said: str) -> None:
    """With a word on why, where it could be taken for one."""
    after = one(text)

    assert text == after.text
    assert (said in notes(after)) if said else (not after.notes)


def test_what_eager_programs_alone_use_is_left() -> None:
    """But not what a program with a graph uses as well."""
    files = {
        "eager.py": "import tensorflow as tf\nimport net\ntf.enable_eager_execution()\nnet.f(1)\n",
        "net.py": "import tensorflow as tf\n\ndef f(x): return tf.log(x)\n",
    }
    graph = {"graph.py": "import tensorflow as tf\nimport net\nnet.f(tf.placeholder('float'))\n"}

    assert files["net.py"] == project(files)["net.py"].text
    assert "compat.v1" in project({**files, **graph})["net.py"].text


def test_a_file_that_does_not_tell_is_of_the_program_around_it() -> None:
    """Its own names are those of both."""
    helper = "import tensorflow as tf\n\ndef f(x): return tf.matmul(x, x)\n"
    files = {
        "helper.py": helper,
        "main.py": "import tensorflow as tf\nimport helper\nhelper.f(tf.placeholder('float'))\n",
    }
    unrelated = {"other.py": "import tensorflow as tf\n\n@tf.function\ndef g(x): return x\n"}

    assert "compat.v1" in project({**files, **unrelated})["helper.py"].text


@pytest.mark.parametrize(
    ("old", "new"),
    [("np.int(3)", "int(3)"), ("x.astype(np.float)", "x.astype(float)"), ("np.bool", "bool"), ("np.Inf", "np.inf"),
     ("np.float32(1)", "np.float32(1)"), ("np.random.int", "np.random.int"), ("np.product([1])", "np.prod([1])"),
        ("np.reshape(x, newshape=(1, 2))", "np.reshape(x, (1, 2))"),
        ("np.reshape(x), 'newshape'", "np.reshape(x), 'newshape'"),
        ("np.reshape(newshape=1, a=x)", "np.reshape(newshape=1, a=x)"),
        ("np.reshape(x, order='C', newshape=1)", "np.reshape(x, order='C', newshape=1)")],
)  # fmt: skip
def test_names_that_numpy_has_no_longer(old: str, new: str) -> None:
    """Also in a file of the program that does not import TensorFlow itself."""
    data = f"import numpy as np\n\ndef f(x): return {old}\n"
    main = "import tensorflow as tf\nimport data\ndata.f(tf.placeholder('float'))\n"

    assert data.replace(old, new) == project({"data.py": data, "main.py": main})["data.py"].text


RAGGED = [
    "np.array(list(zip(xs, ys)))", "np.array([[w for w in s] for s in xs])", "np.array([s.split() for s in texts])",
    "np.array([list(map(int, s)) for s in xs])", "np.asarray(rows)", "np.array(rows[:2])", "np.array(grown)",
    "np.array(rows if xs else ys)", "np.array(sorted(rows))", "(lambda one: np.array(rows))(1)",
    "made(list(zip(xs, ys)))", "made(rows)", "made(data=rows)", "made_again(rows)", "Made().of(rows)",
]  # fmt: skip
REGULAR = [
    "np.array(xs[0])", "np.array([[w for w in range(2)] for s in xs])", "np.array([s[0] for s in xs])",
    "np.array(np.array([ys, ys]))", "np.array(rows, dtype=object)", "made(xs[1])",
]  # fmt: skip
ROWS = """\
xs, ys, texts = [[1], [2, 3]], [[1, 2], [3, 4]], ["a", "b c"]
rows = [[w + 1 for w in s] for s in xs]
grown = []
for s in xs:
    grown.append([w for w in s])
"""
MAKING = """\
import numpy as np
def made(data):
    data = np.array(data)
    return data
def made_again(data): return made(data)
class Made:
    def of(self, data): return np.array(data)
"""


@pytest.mark.parametrize("value", [*RAGGED, *REGULAR])
def test_rows_of_unlike_lengths_are_an_array_of_objects(value: str) -> None:
    """As they were up to numpy 1.23, in the file that makes them or is given them; all others stay as they are."""
    code = f"{MAKING}{ROWS}y = {value}\n"
    after = one(f"import tensorflow as tf\n{code}tf.Session()\n").text
    space: dict[str, Any] = {}
    if value in RAGGED:
        with pytest.raises(ValueError, match="inhomogeneous"):
            exec(code, {})

    exec("\n".join(line for line in after.split("\n") if "tf" not in line), space)

    assert (space["y"].dtype == object) == (value in RAGGED or "object" in value)
    assert ("def rows_a" in after) == (value in RAGGED)


def test_each_name_is_judged_once() -> None:
    """Names that are made of themselves, or of each other on two ways, would have more ways than there is time for."""
    again = "rows = list(rows)\n" * 60
    chain = "".join(f"r{at + 1} = list(r{at}) if r0 else sorted(r{at})\n" for at in range(60))
    text = f"import numpy as np\nimport tensorflow as tf\nr0 = [[w for w in s] for s in xs]\nrows = r0\n{again}{chain}"

    after = one(f"{text}np.array(rows)\nnp.array(r60)\nmade(rows, r60)\ntf.Session()\n").text

    assert 2 == after.count("\nrows_array(r")


@pytest.mark.parametrize("value", [value for value in [*RAGGED, *REGULAR] if value.lower().startswith("made")])
def test_what_makes_arrays_of_rows_may_be_in_another_file(value: str) -> None:
    use = f"import tensorflow as tf\nfrom data import made, made_again, Made\n{ROWS}y = {value}\ntf.Session()\n"
    after = project({"data.py": MAKING, "use.py": use})

    assert ("def rows_array" in after["data.py"].text) == (value in RAGGED)


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\n\ndef f(tf):\n    return tf.contrib.rnn.GRUCell\n\ntf.Session()\n",
        "import tensorflow as tf\n\ntf.Session()\nx = 'tf.contrib.rnn'  # tf.contrib.rnn.GRUCell\n",
        "import tensorflow as tf\n\ntf.Session()\ntype = str\nx = type(1) is tf.Tensor\n",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    """A name that is bound to something else, a string, a comment."""
    after = text.replace("import tensorflow as tf\n", "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n")

    assert after == one(text).text


@pytest.mark.parametrize(
    "text", ["x = [" * 60 + "]" * 60, "\tx = 1", "import tensorflow as tf\nx = (tf.Session(),\n)\\\n\n"]
)
def test_nothing_is_raised(text: str) -> None:
    """What cannot be read is left."""
    source = SourceFile(Path("a.py"), "a.py", text, "")
    try:
        index = FileIndex(ast.parse(text))
    except SyntaxError:
        index = FileIndex(ast.parse(""))
    files = project_of({"a.py": "import tensorflow as tf\ntf.Session()\n"})

    assert converted(File(source, "a.py", index, files, Target.KERAS3)).text is not None


def test_the_names_of_the_lists_have_what_they_name() -> None:
    """Code that is written out parses, and its names are found again."""
    for module, name in (("seq2seq", "sequence_loss"), ("crf", "viterbi_decode"), ("training", "HParams")):
        found = successor(f"tensorflow.contrib.{module}.{name}.x")
        assert found is not None and (found.kind, found.parts) == ("code", 2)
        assert written_name(found.name) in code_of({written_name(found.name)})
    assert "sequence_loss_by_example" in code_of({"legacy_seq2seq_sequence_loss"})
    assert all(ast.parse(code) for code in code_of(set(_written())).values())


def scored(tags: int) -> list[list[float]]:
    """In a child: the likelihoods of a CRF of four rows, by the names of compat.v1 and by those of TF2."""
    import numpy as np
    import tensorflow

    random, found = np.random.default_rng(0), []
    scores = random.normal(size=(4, 5, tags)).astype(np.float32)
    paths, between = random.integers(tags, size=(4, 5)), random.normal(size=(tags, tags)).astype(np.float32)
    for names in (tensorflow.compat.v1, tensorflow):
        scope: dict[str, Any] = {"tf": names}
        exec("\n".join(code_of({"crf_log_likelihood"}).values()), scope)
        likelihood, _ = scope["crf_log_likelihood"](tensorflow.constant(scores), paths, [5, 1, 0, 3], between)
        found.append(likelihood.numpy().tolist())
    return found


@pytest.mark.tensorflow
@pytest.mark.parametrize("tags", [3, 4])
def test_a_crf_that_is_written_out_computes_the_same_under_the_names_of_tf2(tags: int, children: Children) -> None:
    """Its code is what a program that leaves compat.v1 takes along; with as many rows as tags nothing would raise."""
    old, new = children.call("keras3", scored, tags)

    assert old == pytest.approx(new, rel=1e-6)


def differently_read() -> list[str]:
    """Calls in the code that is written out whose arguments mean one thing to compat.v1 and another to TF2."""
    import inspect

    import tensorflow as tf

    def called(root: Any, path: str) -> Any:
        for part in path.split(".")[1:]:
            root = getattr(root, part, None)
        return root

    found = []
    for code in {code for code, _ in _written().values()}:
        for call in (one for one in ast.walk(ast.parse(code)) if isinstance(one, ast.Call)):
            path = ast.unparse(call.func)
            old, new = called(tf.compat.v1, path), called(tf, path)
            if not path.startswith("tf.") or old is new or new is None:
                continue
            keywords = {one.arg: one.arg for one in call.keywords if one.arg}
            bound = []
            for function in (old, new):
                try:
                    named = inspect.signature(function).bind(*map(ast.unparse, call.args), **keywords).arguments
                    bound.append((list(named.values())[:1], dict(list(named.items())[1:])))  # the first is renamed
                except TypeError:
                    bound.append(None)
            if None in bound or bound[0] != bound[1]:
                found.append(ast.unparse(call))
    return sorted(found)


@pytest.mark.tensorflow
def test_what_is_written_out_is_read_alike_by_tf2(children: Children) -> None:
    """Code that a program takes along to TF2 computes the same there, or names what TF2 does not have."""
    assert [] == children.call("keras3", differently_read)


def observed(folder: Path, script: str, keras: str) -> list[list[list[float]]]:
    """What the sessions of a script compute under the TensorFlow that is installed."""
    out = folder / "out.json"
    command = [sys.executable, "-W", "ignore", str(PROGRAMS / "observed.py"), str(out), "1000", str(folder / script)]
    done = subprocess.run(
        command, env={**os.environ, **environment(keras)}, capture_output=True, text=True, check=False
    )
    found = json.loads(out.read_text()) if out.exists() else {"end": done.stderr}
    assert "finished" == found["end"]
    seen: list[list[list[float]]] = found["seen"]
    return seen


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.parametrize("name", ["contrib_names", "contrib_seq2seq"])
def test_what_contrib_computed_is_computed_today(name: str, tmp_path: Path) -> None:
    """All of contrib that has a successor, in two programs: their ``.json`` was written by TF 1.15."""
    before = json.loads((PROGRAMS / f"{name}.json").read_text())
    after = one((PROGRAMS / f"{name}.py").read_text(), f"{name}.py")
    (tmp_path / f"{name}.py").write_text(after.text)
    seen = observed(tmp_path, f"{name}.py", "keras3")  # it chooses its Keras itself

    assert "finished" == before["end"]
    assert len(before["seen"]) == len(seen)
    for number, (old, new) in enumerate(zip(before["seen"], seen, strict=True)):
        flat = [x for part in old for x in part]
        assert pytest.approx(flat, rel=1e-4, abs=1e-5) == [x for part in new for x in part], number


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.parametrize("keras", ["keras2", "keras3"])
def test_a_program_of_several_files_runs(keras: str, tmp_path: Path) -> None:
    """What it computes is known: the gradient descent of a line."""
    files = {
        "main.py": """
            import model
            from flags import FLAGS
            import tensorflow as tf
            from tensorflow import app


            def main(_):
                with tf.Session() as session:
                    session.run(tf.global_variables_initializer())
                    for _ in range(FLAGS.steps):
                        session.run(model.train)
                    session.run(model.weight)


            if __name__ == "__main__":
                app.run()
        """,
        "flags.py": """
            import tensorflow

            tensorflow.app.flags.DEFINE_integer("steps", 3, "How many.")
            FLAGS = tensorflow.app.flags.FLAGS
        """,
        "model.py": """
            import tensorflow as tf

            weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
            loss = tf.square(weight - 1.0)
            train = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
            assert type(loss) is tf.Tensor and type(loss) is not int
        """,
    }
    for name, conversion in project({name: dedent(text) for name, text in files.items()}).items():
        (tmp_path / name).write_text(conversion.text)

    assert 0.875 == observed(tmp_path, "main.py", keras)[-1][0][1]
