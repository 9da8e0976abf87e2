"""tf_slim's own networks from PyPI, unchanged, behind the shim as in TensorFlow's guide on validating a migration."""

from __future__ import annotations

from pathlib import Path

import pytest
from migrate_lint.linter.finding import Finding, Target
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.runtime_report import RuntimeReport, WorkerRun
from migrate_lint.linter.settings.config import Config
from migrate_lint.runtime_checks.session import Request, run

pytestmark = pytest.mark.tensorflow

NETS = """\
import tensorflow as tf
import tf_slim as slim
from tf_slim.nets import inception, resnet_utils, resnet_v1, resnet_v2, vgg

shim = tf.compat.v1.keras.utils.track_tf1_style_variables


class ResNetV1(tf.keras.layers.Layer):
    @shim
    def call(self, images, training=None):
        with slim.arg_scope(resnet_utils.resnet_arg_scope()):
            return resnet_v1.resnet_v1_50(images, 10, is_training=bool(training))[0]


class ResNetV2(tf.keras.layers.Layer):
    @shim
    def call(self, images, training=None):
        with slim.arg_scope(resnet_utils.resnet_arg_scope()):
            return resnet_v2.resnet_v2_50(images, 10, is_training=bool(training))[0]


class VGG16(tf.Module):
    @tf.function
    @shim
    def __call__(self, images):
        with slim.arg_scope(vgg.vgg_arg_scope()):
            return vgg.vgg_16(images, 10, is_training=False)[0]


class InceptionV1(tf.keras.layers.Layer):
    @shim
    def call(self, images):
        with slim.arg_scope(inception.inception_v1_arg_scope()):
            return inception.inception_v1(images, 10, is_training=False)[0]


class InceptionV2(tf.keras.layers.Layer):
    @shim
    def call(self, images):
        with slim.arg_scope(inception.inception_v2_arg_scope()):
            return inception.inception_v2(images, 10, is_training=False)[0]


class InceptionV3(tf.keras.layers.Layer):
    @shim
    def call(self, images):
        with slim.arg_scope(inception.inception_v3_arg_scope()):
            return inception.inception_v3(images, 10, is_training=False)[0]


def images(size):
    return tf.random.stateless_uniform((1, size, size, 3), seed=(1, 2))


def resnet_v1_50():
    return ResNetV1(), images(64)


def resnet_v2_50():
    return ResNetV2(), images(64)


def vgg_16():
    return VGG16(), images(224)


def inception_v1():
    return InceptionV1(), images(64)


def inception_v2():
    return InceptionV2(), images(64)


def inception_v3():
    return InceptionV3(), images(64)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the networks, which is also the working directory."""
    (tmp_path / "nets.py").write_text(NETS, "utf-8")
    (tmp_path / "pyproject.toml").write_text("", "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def static(folder: Path) -> list[Finding]:
    return list(lint([str(folder)], Config(base=str(folder), target=Target.KERAS2)).findings)


def report_on(folder: Path, name: str) -> RuntimeReport:
    request = Request(f"nets.py:{name}", targets=(Target.KERAS2,), timeout=900.0, roots=(str(folder),))
    return run(request, static(folder))


def failures(one: WorkerRun) -> list[tuple[str, str]]:
    return [(phase.name, phase.detail) for phase in one.phases if phase.outcome == "failed"]


def test_static_analysis_has_nothing_to_say(folder: Path) -> None:
    """Every network names its scopes."""
    assert [] == static(folder)


@pytest.mark.parametrize("name", ["resnet_v1_50", "resnet_v2_50", "vgg_16"])
def test_a_network_behind_the_shim_is_clean(folder: Path, name: str) -> None:
    """No variable is made again, none is untracked, and no phase fails; vgg_16 is always in a ``tf.function``."""
    report = report_on(folder, name)

    assert ((), [], None) == (report.added, failures(report.runs[0]), report.runs[0].cause)
    assert [("assert_no_variable_creations", "nothing"), ("catch_and_raise_created_variables", "nothing")] == list(
        report.runs[0].scopes
    )


@pytest.mark.parametrize("name", ["inception_v1", "inception_v2", "inception_v3"])
def test_a_network_that_cannot_be_called_says_why_and_where(folder: Path, name: str) -> None:
    """Their arg scope asks whether a variable is in a list, and variables compare by element."""
    (finding,) = report_on(folder, name).added
    line = 1 + NETS.split("\n").index(f"            return inception.{name}(images, 10, is_training=False)[0]")

    assert ("nets.py", line, "TF908") == (finding.path, finding.line, finding.code)
    assert "first call failed: ValueError: The truth value of an array" in finding.message


def test_the_shims_of_tf_slim_are_reported(folder: Path) -> None:
    """Two names of TensorFlow are put back in place for it, also where it is imported late, and the run says so."""
    text = """\
import tensorflow as tf


class Net(tf.keras.layers.Layer):
    @tf.compat.v1.keras.utils.track_tf1_style_variables
    def call(self, x):
        import tf_slim as slim

        x = slim.conv2d(x, 4, [3, 3], normalizer_fn=slim.batch_norm, scope="conv")
        return slim.batch_norm(slim.flatten(x), scope="norm")


def build():
    return Net(), tf.ones([2, 4, 4, 3])
"""
    (folder / "late.py").write_text(text, "utf-8")
    one = run(Request("late.py:build", targets=(Target.KERAS2,), roots=(str(folder),)), []).runs[0]

    assert ["tf_slim 1.1.0 was imported through two shims"] == [n.partition(":")[0] for n in one.notes if "shim" in n]
    assert [] == failures(one)


def test_without_tf_slim_nothing_is_put_in_place(folder: Path) -> None:
    """The names are missing for everybody else, as they are without the worker."""
    text = """\
import sys
import tensorflow as tf
from tensorflow.python.framework import ops


def build():
    assert "tf_keras.legacy_tf_layers.normalization" not in sys.modules
    assert not hasattr(ops, "Tensor")
    return tf.nn.relu, tf.ones([2])
"""
    (folder / "plain.py").write_text(text, "utf-8")
    one = run(Request("plain.py:build", targets=(Target.KERAS2,), roots=(str(folder),)), []).runs[0]

    assert [] == [note for note in one.notes if "shim" in note]
    assert [] == failures(one)
