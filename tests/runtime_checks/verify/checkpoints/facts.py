"""What loading checkpoints comes to; a child interpreter for each Keras finds it out."""

import json
import os
import shutil
import tempfile

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks.worker.frames import UserCode
from migrate_lint.runtime_checks.worker.recording.tf1.checkpoint import restore as restore_tf1
from migrate_lint.runtime_checks.worker.recording.tf2.checkpoint import restore as restore_tf2
from migrate_lint.runtime_checks.worker.recording.values import checkpoint
from migrate_lint.runtime_checks.worker.recording.values.layout import Layouts
from migrate_lint.runtime_checks.worker.recording.watching import checkpoint_loads

HERE = os.path.dirname(os.path.abspath(__file__))
TF115 = os.path.join(HERE, "tf115.ckpt")
FEATURES = np.linspace(-1, 1, 6).reshape(2, 3).astype(np.float32)
v1 = tf.compat.v1


def network(features):
    """The network of ``write.py``, in operations that every Keras has."""
    with v1.variable_scope("net"):
        hidden = tf.matmul(features, v1.get_variable("hidden/kernel", (3, 4))) + v1.get_variable("hidden/bias", (4,))
        mean = v1.get_variable("normal/moving_mean", (4,), trainable=False)
        variance = v1.get_variable("normal/moving_variance", (4,), trainable=False)
        beta, gamma = v1.get_variable("normal/beta", (4,)), v1.get_variable("normal/gamma", (4,))
        hidden = tf.nn.batch_normalization(hidden, mean, variance, beta, gamma, 1e-3)
        return tf.tanh(hidden) * v1.get_variable("scale", (4,))


def write(folder):
    """The checkpoint of 1.15 again in other forms; gives back their paths by what they are."""
    entries = tf.train.load_checkpoint(TF115)
    for name in ("whole", "shards", "old"):
        os.mkdir(os.path.join(folder, name))
    two_devices = v1.ConfigProto(device_count={"CPU": 2})
    with tf.Graph().as_default(), v1.Session(config=two_devices) as session:
        for number, name in enumerate(sorted(entries.get_variable_to_shape_map())):
            with tf.device(f"/cpu:{number % 2}"):
                v1.get_variable(name, initializer=entries.get_tensor(name), use_resource=False)
        session.run(v1.global_variables_initializer())
        whole = v1.train.Saver().save(session, os.path.join(folder, "whole", "model.ckpt"), global_step=7)
        shards = v1.train.Saver(sharded=True).save(session, os.path.join(folder, "shards", "model.ckpt"))
        first = v1.train.Saver(write_version=v1.train.SaverDef.V1)
        old = first.save(session, os.path.join(folder, "old", "model.ckpt"))
    assert os.path.exists(shards + ".data-00001-of-00002")
    os.mkdir(os.path.join(folder, "bare"))  # as Saver.save(session, "bare/") has its files
    for ending in (".index", ".data-00000-of-00001"):
        shutil.copyfile(whole + ending, os.path.join(folder, "bare", ending))
    return {
        "prefix": whole,
        "index": whole + ".index",
        "folder": os.path.dirname(whole),
        "folder as prefix": os.path.join(folder, "bare"),
        "shards": shards,
        "V1": old,
        "real 1.15": TF115,
    }


def in_graph(path, wanted, more=()):
    with tf.Graph().as_default(), v1.Session() as session:
        outputs = network(tf.constant(FEATURES))
        for name, shape, dtype in more:
            v1.get_variable(name, shape, dtype, tf.zeros_initializer())
        session.run(v1.global_variables_initializer())
        restored = restore_tf1(path, session, v1.global_variables())
        return dict(restored.said(), error=float(np.abs(session.run(outputs) - wanted).max()))


def keras_model():
    """Named otherwise than in TF1, and with the scale and the kernel stored in another form."""
    layers = tf.keras.layers

    class Scale(layers.Layer):
        def build(self, shape):
            self.factor = self.add_weight(name="factor", shape=(4,))
            self.turned = self.add_weight(name="turned", shape=(4, 3))

        def call(self, values):
            return tf.tanh(values) * self.factor

    dense, normal, scale = layers.Dense(4), layers.BatchNormalization(epsilon=1e-3), Scale()
    model = tf.keras.Sequential([dense, normal, scale])
    model(FEATURES)
    variables = {
        "d/kernel": dense.kernel,
        "d/bias": dense.bias,
        "n/gamma": normal.gamma,
        "n/beta": normal.beta,
        "n/mean": normal.moving_mean,
        "n/variance": normal.moving_variance,
        "s/factor": scale.factor,
    }
    return model, scale.turned, variables


NAMES = {
    "d/kernel": "net/hidden/kernel",
    "d/bias": "net/hidden/bias",
    "n/gamma": "net/normal/gamma",
    "n/beta": "net/normal/beta",
    "n/mean": "net/normal/moving_mean",
    "n/variance": "net/normal/moving_variance",
    "s/factor": "net/scale",
}


def in_keras(wanted):
    model, turned, variables = keras_model()
    restored = restore_tf2(TF115, variables, NAMES, Layouts())
    error = float(np.abs(np.asarray(model(FEATURES)) - wanted).max())
    kernel = np.asarray(variables["d/kernel"])
    transposed = {"k": turned}
    refused = restore_tf2(TF115, transposed, {"k": "net/hidden/kernel"}, Layouts())
    layouts = Layouts({"net/hidden/kernel": (1, 0)})
    loaded = restore_tf2(TF115, transposed, {"k": "net/hidden/kernel"}, layouts)
    return {
        "restored": restored.said(),
        "error": error,
        "refused": refused.mismatched,
        "turned": loaded.matched,
        "turned error": float(np.abs(np.asarray(turned).T - kernel).max()),
    }


def shim():
    class Network(tf.keras.layers.Layer):
        @v1.keras.utils.track_tf1_style_variables
        def call(self, features):
            return network(features)

    return Network()


def in_shim(wanted):
    layer = shim()
    layer(FEATURES)
    restored = restore_tf2(TF115, {variable.name: variable for variable in layer.variables}, {}, Layouts())
    return dict(restored.said(), error=float(np.abs(layer(FEATURES) - wanted).max()))


def refusal(path):
    try:
        checkpoint.read_checkpoint(path).value("net/scale")
    except checkpoint.CheckpointError as error:
        return str(error)
    return "read"


def refusals(folder):
    empty, damaged = os.path.join(folder, "empty"), os.path.join(folder, "damaged")
    os.mkdir(empty)
    os.mkdir(damaged)
    with open(TF115 + ".index", "rb") as source, open(os.path.join(damaged, "model.ckpt.index"), "wb") as target:
        target.write(source.read())
    objects = tf.train.Checkpoint(v=tf.Variable(1.0)).save(os.path.join(folder, "objects"))
    return {
        "none": refusal(os.path.join(folder, "nothing")),
        "empty": refusal(empty),
        "damaged": refusal(os.path.join(damaged, "model.ckpt")),
        "objects": refusal(objects),
    }


def watched(make):
    with checkpoint_loads.watching(UserCode([HERE])) as loads:
        layer = make()
    (said,) = loads.check({variable.name: variable for variable in layer.variables}, {}, Layouts())
    return {key: said[key] for key in ("call", "loaded", "not_loaded", "silent", "problem", "place")}


def loads(folder):
    def early():
        layer = shim()
        v1.train.init_from_checkpoint(TF115, {"net/": "net/"})
        layer(FEATURES)
        return layer

    def late():
        layer = shim()
        layer(FEATURES)
        named = {variable.name[:-2]: variable for variable in layer.variables}
        v1.train.init_from_checkpoint(TF115, named)
        return layer

    def restored(path, first):
        layer = shim()
        if first:
            layer(FEATURES)
        tf.train.Checkpoint(model=layer).restore(path)
        layer(FEATURES)
        return layer

    def renamed(path):
        layer = shim()
        layer(FEATURES)
        tf.train.Checkpoint(other=layer).restore(path)
        return layer

    whole = shim()
    whole(FEATURES)
    objects = tf.train.Checkpoint(model=whole).save(os.path.join(folder, "whole-objects"))
    return {
        "init early": watched(early),
        "init late": watched(late),
        "restore early": watched(lambda: restored(TF115, False)),
        "restore late": watched(lambda: restored(TF115, True)),
        "objects": watched(lambda: restored(objects, True)),
        "other objects": watched(lambda: renamed(objects)),
    }


def found(target):
    with open(os.path.join(HERE, "tf115.json")) as file:
        wanted = np.float32(json.load(file)["outputs"])
    facts = {}
    with tempfile.TemporaryDirectory() as folder:
        facts["forms"] = {form: in_graph(path, wanted) for form, path in write(folder).items()}
        other = [("net/scale_2", (4,), tf.float32), ("global_step", (), tf.float32), ("net/scale/Adam", (3,), None)]
        facts["other"] = in_graph(TF115, wanted, other)
        facts["keras"] = in_keras(wanted)
        facts["refusals"] = {name: text.replace(folder, "") for name, text in refusals(folder).items()}
        if target == "keras2":
            facts["shim"] = in_shim(wanted)
            facts["loads"] = loads(folder)
    return facts
