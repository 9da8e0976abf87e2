"""TF411: input pipelines of queues, which nothing fills without a session."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .graph_calls import judged

_BATCHES = ("batch", "batch_join", "maybe_batch", "maybe_batch_join", "maybe_shuffle_batch", "maybe_shuffle_batch_join",
            "shuffle_batch", "shuffle_batch_join")  # fmt: skip
_PRODUCERS = ("input_producer", "range_input_producer", "slice_input_producer", "string_input_producer")
_RUNNERS = ("QueueRunner", "queue_runner.QueueRunner", "start_queue_runners", "queue_runner.start_queue_runners")
_READERS = ("FixedLengthRecordReader", "IdentityReader", "LMDBReader", "TFRecordReader", "TextLineReader",
            "WholeFileReader")  # fmt: skip


class QueueInputPipeline(Rule):
    """Data is read through queues, which threads fill while a session runs.

    ## Why
    In eager execution the producers, the readers, `QueueRunner` and `tf.compat.v1.train.start_queue_runners` raise
    RuntimeError, and the functions that batch raise ValueError: "Input pipelines based on Queues are not supported when
    eager execution is enabled".
    `tf.data` does what they did, without threads and sessions.
    `tf.train.Coordinator` and `tf.queue.FIFOQueue` still work by themselves, and are not reported.

    ## Example
    ```python
    import tensorflow as tf

    names = tf.compat.v1.train.string_input_producer(["a.tfrecord", "b.tfrecord"])
    _, record = tf.compat.v1.TFRecordReader().read(names)
    batch = tf.compat.v1.train.shuffle_batch([record], 32, capacity=2000, min_after_dequeue=1000)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    records = tf.data.TFRecordDataset(["a.tfrecord", "b.tfrecord"]).repeat()
    batches = records.shuffle(2000).batch(32).prefetch(tf.data.AUTOTUNE)
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/migrate_tf2
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/shuffle_batch
    """

    code = "TF411"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.THOUGHT
    recipe = "input-pipelines"
    supersedes = ("TF406",)
    calls = tuple(
        f"tensorflow.{name}"
        for name in (*(f"train.{one}" for one in (*_BATCHES, *_PRODUCERS, *_RUNNERS)), *_READERS)
    )

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """See `Rule.on_call`."""
        if {one.canonical for one in call.names} != {call.name}:
            return
        short = call.name.rpartition(".")[2]
        error = "ValueError" if short in _BATCHES else "RuntimeError"
        if short in _READERS:
            yield from judged(self, call, error, "read with `tf.data`")
        elif short in _BATCHES:
            yield from judged(self, call, error, "use `tf.data.Dataset.batch`, with `shuffle` before it")
        elif short in _PRODUCERS:
            yield from judged(self, call, error, "it is for input queues; use `tf.data`")
        else:
            yield from judged(self, call, error, "use `tf.data` for input, and threads of Python for other queues")
