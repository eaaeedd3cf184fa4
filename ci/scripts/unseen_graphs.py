"""The graphs of unseen.py: each builder makes one by TensorFlow and asks TensorFlow for answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

__all__ = ["BUILDERS", "Case", "draw"]

Arrays: TypeAlias = dict[str, Any]
SIDE = 96  # pixels of the images of Keras' applications


@dataclass(frozen=True)
class Case:
    """A model's folder, what to feed by the names of its signature, and TensorFlow's answers."""

    folder: Path
    feeds: Arrays
    answers: Arrays
    tags: tuple[str, ...] = ("serve",)
    signature: str = "serving_default"
    steps: int = 1


Builder: TypeAlias = Callable[[Any, Path], Case]
BUILDERS: dict[str, Builder] = {}


def unseen(builder: Builder) -> Builder:
    """Register a builder."""
    BUILDERS[builder.__name__] = builder
    return builder


def draw(*shape: int) -> np.ndarray[Any, Any]:
    """Numbers for an input."""
    return np.random.default_rng(7).uniform(-1, 1, shape).astype("f4")


def saved(tf: Any, folder: Path, function: Any, feeds: Arrays, module: Any = None) -> Case:
    """A SavedModel of a tf.function, and its answers."""
    holder = module or tf.Module()
    specs = {k: tf.TensorSpec([None if d > 1 else d for d in np.shape(v)] if k != "fixed" else
                              np.shape(v), tf.as_dtype(np.asarray(v).dtype), k)
             for k, v in feeds.items()}  # fmt: skip
    signature = tf.function(function).get_concrete_function(**specs)
    holder.call = signature
    tf.saved_model.save(holder, str(folder), signatures=signature)
    return answered(tf, folder, feeds)


def answered(tf: Any, folder: Path, feeds: Arrays) -> Case:
    """What the saved signature answers in TensorFlow."""
    loaded = tf.saved_model.load(str(folder))
    given = {k: tf.constant(v) for k, v in feeds.items()}
    out = loaded.signatures["serving_default"](**given)
    return Case(folder, feeds, {k: v.numpy() for k, v in out.items()})


# ---- Keras applications ------------------------------------------------------------------------


def application(name: str) -> None:
    """A network of keras.applications with random weights, exported."""

    def build(tf: Any, folder: Path) -> Case:
        options: dict[str, Any] = {"weights": None, "input_shape": (SIDE, SIDE, 3)}
        model = getattr(tf.keras.applications, name)(include_top=False, **options)
        variables = tf.Module()
        variables.model = model
        return saved(tf, folder, lambda image: {"y": model(image, training=False)},
                     {"image": draw(1, SIDE, SIDE, 3)}, variables)  # fmt: skip

    build.__name__ = name
    unseen(build)


for _name in ("MobileNetV3Small", "EfficientNetV2B0", "ConvNeXtTiny", "DenseNet121",
              "NASNetMobile", "InceptionResNetV2", "Xception"):  # fmt: skip
    application(_name)


# ---- sequences ---------------------------------------------------------------------------------


@unseen
def transformer_decoder(tf: Any, folder: Path) -> Case:
    """A causal transformer that writes 8 tokens greedily, one by one, in a loop."""
    keras = tf.keras
    size, words = 32, 50
    embed, place = keras.layers.Embedding(words, size), keras.layers.Embedding(64, size)
    blocks = [
        (
            keras.layers.MultiHeadAttention(4, 8),
            keras.layers.LayerNormalization(),
            keras.layers.Dense(64, activation="gelu"),
            keras.layers.Dense(size),
            keras.layers.LayerNormalization(),
        )
        for _ in range(2)
    ]

    def logits(tokens: Any) -> Any:
        x = embed(tokens) + place(tf.range(tf.shape(tokens)[1]))
        for attend, norm, wide, narrow, last in blocks:
            x = norm(x + attend(x, x, use_causal_mask=True))
            x = last(x + narrow(wide(x)))
        return tf.matmul(x, embed.embeddings, transpose_b=True)

    def call(tokens: Any) -> Any:
        for _ in tf.range(8):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(tokens, tf.TensorShape([None, None]))]
            )
            following = tf.argmax(logits(tokens)[:, -1], -1, output_type=tf.int32)
            tokens = tf.concat([tokens, following[:, None]], 1)
        return {"tokens": tokens, "logits": logits(tokens)}

    logits(tf.zeros([1, 4], tf.int32))
    holder = tf.Module()
    holder.parts = [embed, place, *[part for block in blocks for part in block]]
    tokens = np.random.default_rng(0).integers(0, words, (2, 5)).astype("i4")
    return saved(tf, folder, call, {"tokens": tokens}, holder)


@unseen
def seq2seq_with_attention(tf: Any, folder: Path) -> Case:
    """Bidirectional LSTM encoder, GRU decoder, additive attention, masks."""
    layers = tf.keras.layers
    source = tf.keras.Input((None,), dtype="int32", name="source")
    target = tf.keras.Input((None,), dtype="int32", name="target")
    coded = layers.Bidirectional(layers.LSTM(12, return_sequences=True))(
        layers.Embedding(30, 16, mask_zero=True)(source)
    )
    decoded = layers.GRU(24, return_sequences=True)(layers.Embedding(30, 16)(target))
    context = layers.AdditiveAttention()([decoded, coded])
    out = layers.TimeDistributed(layers.Dense(30, activation="softmax"))(
        layers.Concatenate()([decoded, context])
    )
    model = tf.keras.Model([source, target], out)
    rng = np.random.default_rng(1)
    feeds = {
        "source": np.concatenate([rng.integers(1, 30, (2, 6)), np.zeros((2, 2), int)], 1).astype(
            "i4"
        ),
        "target": rng.integers(1, 30, (2, 5)).astype("i4"),
    }
    holder = tf.Module()
    holder.model = model
    return saved(tf, folder, lambda source, target: {"y": model([source, target])}, feeds, holder)


@unseen
def text_classifier(tf: Any, folder: Path) -> Case:
    """Strings in: standardised, split, looked up in a vocabulary, embedded, convolved."""
    layers = tf.keras.layers
    vectorize = layers.TextVectorization(max_tokens=50, output_sequence_length=8, ngrams=2)
    vectorize.adapt(tf.constant(["the cat sat on the mat", "A dog, a CAT!", "mat & dog"]))
    embed, conv = layers.Embedding(50, 8), layers.Conv1D(4, 3, activation="relu")
    dense = layers.Dense(2)

    def call(text: Any) -> Any:
        codes = vectorize(text)
        return {"codes": codes, "y": dense(tf.reduce_max(conv(embed(codes)), 1))}

    call(tf.constant(["cat"]))
    holder = tf.Module()
    holder.parts = [vectorize, embed, conv, dense]
    texts = np.array([b"The dog SAT, on", b"", b"x mat mat"], object)
    return saved(tf, folder, call, {"text": texts}, holder)


# ---- signals, boxes, filters -------------------------------------------------------------------


@unseen
def signal_features(tf: Any, folder: Path) -> Case:
    """Spectrogram, mel scale, cepstrum, and back again through the inverse transform."""

    def call(sound: Any) -> Any:
        spectrum = tf.signal.stft(sound, 64, 16, pad_end=True)
        mel = tf.signal.linear_to_mel_weight_matrix(12, 33, 8000, 50.0, 3800.0)
        power = tf.math.log(tf.abs(spectrum) @ mel + 1e-3)
        window = tf.signal.inverse_stft_window_fn(16)
        return {
            "mfcc": tf.signal.mfccs_from_log_mel_spectrograms(power)[..., :6],
            "back": tf.signal.inverse_stft(spectrum, 64, 16, window_fn=window),
            "frames": tf.signal.frame(sound, 20, 10, pad_end=True),
            "dct": tf.signal.idct(tf.signal.dct(sound, norm="ortho"), norm="ortho"),
            "analytic": tf.signal.ifft(tf.signal.fft(tf.cast(sound, tf.complex64))),
        }

    return saved(tf, folder, call, {"sound": draw(2, 400)})


@unseen
def detector(tf: Any, folder: Path) -> Case:
    """Anchors, box decoding, combined non-maximum suppression, crops of what was found."""
    layers = tf.keras.layers
    body = tf.keras.Sequential(
        [layers.Conv2D(8, 3, 2, "same", activation="relu6"),
         layers.SeparableConv2D(16, 3, 2, "same"),
         layers.BatchNormalization(), layers.LeakyReLU(), layers.Conv2D(6 * 2, 1)]
    )  # fmt: skip

    def call(fixed: Any) -> Any:
        maps = tf.reshape(body(fixed), [2, 16 * 16 * 2, 6])
        grid = (
            tf.cast(tf.stack(tf.meshgrid(tf.range(16), tf.range(16)), -1), tf.float32) + 0.5
        ) / 16
        centers = tf.repeat(tf.reshape(grid, [-1, 2]), 2, 0) + tf.tanh(maps[..., :2]) * 0.1
        half = 0.1 * tf.exp(maps[..., 2:4]) / 2
        boxes = tf.clip_by_value(tf.concat([centers - half, centers + half], -1), 0.0, 1.0)
        found = tf.image.combined_non_max_suppression(
            boxes[:, :, None], tf.sigmoid(maps[..., 4:]), 5, 10, 0.4, 0.3
        )
        crops = tf.image.crop_and_resize(fixed, found.nmsed_boxes[:, 0], tf.range(2), [8, 8])
        kept = tf.image.non_max_suppression_with_scores(
            boxes[0], tf.sigmoid(maps[0, :, 4]), 7, 0.5, 0.2, 0.5
        )
        drawn = tf.image.draw_bounding_boxes(fixed, boxes[:, :3], [[1.0, 0.0, 0.0]])
        more = {"crops": crops, "kept": kept[0], "scores": kept[1], "drawn": drawn}
        return {**found._asdict(), **more}

    call(tf.zeros([2, 64, 64, 3]))
    holder = tf.Module()
    holder.body = body
    return saved(tf, folder, call, {"fixed": draw(2, 64, 64, 3)}, holder)


@unseen
def kalman_filter(tf: Any, folder: Path) -> Case:
    """A filter and a smoother: Cholesky factors, solves, determinants in a scan."""
    rng = np.random.default_rng(3)
    move = tf.constant(np.eye(3) * 0.9 + rng.normal(size=(3, 3)) * 0.05, tf.float64)
    see = tf.constant(rng.normal(size=(2, 3)), tf.float64)
    noise = tf.constant(np.eye(2) * 0.1, tf.float64)

    def call(seen: Any) -> Any:
        def update(state: Any, z: Any) -> Any:
            mean, spread, _ = state
            mean = tf.linalg.matvec(move, mean)
            spread = move @ spread @ tf.transpose(move) + 0.01 * tf.eye(3, dtype=tf.float64)
            inner = tf.linalg.cholesky(see @ spread @ tf.transpose(see) + noise)
            gain = tf.transpose(tf.linalg.cholesky_solve(inner, see @ spread))
            miss = z - tf.linalg.matvec(see, mean)
            score = -tf.reduce_sum(tf.math.log(tf.linalg.diag_part(inner)))
            return mean + tf.linalg.matvec(gain, miss), spread - gain @ see @ spread, score

        start = (tf.zeros(3, tf.float64), tf.eye(3, dtype=tf.float64), tf.zeros([], tf.float64))
        means, spreads, scores = tf.scan(update, seen, start)
        values, vectors = tf.linalg.eigh(spreads[-1])
        return {"means": means, "spreads": spreads, "scores": scores, "values": values,
                "norms": tf.linalg.norm(vectors, axis=0), "det": tf.linalg.det(spreads),
                "singular": tf.linalg.svd(spreads, compute_uv=False),
                "log": tf.linalg.logdet(spreads)}  # fmt: skip

    return saved(tf, folder, call, {"seen": np.random.default_rng(4).normal(size=(9, 2))})


@unseen
def record_pipeline(tf: Any, folder: Path) -> Case:
    """Serialized examples parsed, bucketed and hashed; regular expressions; ragged rows."""

    def call(records: Any) -> Any:
        kinds = {"age": tf.io.FixedLenFeature([], tf.float32, 0.0),
                 "tags": tf.io.VarLenFeature(tf.string),
                 "ids": tf.io.RaggedFeature(tf.int64)}  # fmt: skip
        row = tf.io.parse_example(records, kinds)
        tags = tf.sparse.to_dense(row["tags"], b"?")
        clean = tf.strings.regex_replace(tf.strings.lower(tags), r"[^a-z]+", "_")
        ids = row["ids"]
        return {
            "bucket": tf.raw_ops.Bucketize(input=row["age"], boundaries=[10.0, 20.0, 40.0]),
            "clean": clean,
            "hashed": tf.strings.to_hash_bucket_fast(clean, 1000),
            "strong": tf.strings.to_hash_bucket_strong(clean, 1000, [1, 2]),
            "sums": tf.reduce_sum(ids, axis=1),
            "sorted": tf.sort(ids.to_tensor(-1), axis=1, direction="DESCENDING"),
            "lengths": ids.row_lengths(),
            "joined": tf.strings.reduce_join(clean, axis=1, separator="+"),
            "bytes": tf.io.decode_raw(tf.strings.substr(clean[:, 0], 0, 1), tf.uint8),
        }

    def record(age: float, tags: list[bytes], ids: list[int]) -> bytes:
        feature = {
            "age": tf.train.Feature(float_list=tf.train.FloatList(value=[age])),
            "tags": tf.train.Feature(bytes_list=tf.train.BytesList(value=tags)),
            "ids": tf.train.Feature(int64_list=tf.train.Int64List(value=ids)),
        }
        example = tf.train.Example(features=tf.train.Features(feature=feature))
        return bytes(example.SerializeToString())

    rows = [record(5.0, [b"A b!", b"c"], [3, 1, 2]), record(33.0, [b"Zed-9"], [])]
    return saved(tf, folder, call, {"records": np.array(rows, object)})


@unseen
def data_in_a_function(tf: Any, folder: Path) -> Case:
    """A dataset made, mapped, batched and reduced inside of a function."""

    def call(n: Any) -> Any:
        data = tf.data.Dataset.range(n[0]).map(lambda v: v * v).filter(lambda v: v % 3 != 0)
        data = data.batch(4, drop_remainder=False).enumerate()
        total = data.reduce(
            tf.constant(0, tf.int64), lambda s, kv: s + kv[0] * tf.reduce_sum(kv[1])
        )
        return {"total": total}

    return saved(tf, folder, call, {"n": np.array([20], "i8")})


# ---- version 1 ---------------------------------------------------------------------------------


def _averaged_training(tf: Any, v1: Any) -> tuple[Any, Any, Any]:
    """A regression: batch norm, clipped gradients, decaying rate, moving averages of weights."""
    x = v1.placeholder(tf.float32, [None, 6], "x")
    y = v1.placeholder(tf.float32, [None, 1], "y")
    w = v1.get_variable("w", initializer=draw(6, 4))
    u = v1.get_variable("u", initializer=draw(4, 1), use_resource=True)
    hidden = tf.nn.elu(x @ w)
    mean, variance = tf.nn.moments(hidden, [0])
    out = tf.nn.batch_normalization(hidden, mean, variance, None, None, 1e-3) @ u
    loss = v1.losses.huber_loss(y, out) + 1e-3 * tf.nn.l2_loss(w)
    step = v1.train.get_or_create_global_step()
    rate = v1.train.polynomial_decay(0.1, step, 10, power=2.0)
    optimizer = v1.train.RMSPropOptimizer(rate, momentum=0.9, centered=True)
    pairs = optimizer.compute_gradients(loss, [w, u])
    clipped, _ = tf.clip_by_global_norm([g for g, _ in pairs], 1.0)
    update = optimizer.apply_gradients(zip(clipped, [w, u], strict=True), step)
    averages = v1.train.ExponentialMovingAverage(0.9, step)
    with v1.control_dependencies([update]):
        done = averages.apply([w, u])
    with v1.control_dependencies([done]):
        told = {"loss": tf.identity(loss), "w": averages.average(w).read_value(), "rate": rate,
                "step": step.read_value()}  # fmt: skip
    return x, y, told


@unseen
def averaged_training(tf: Any, folder: Path) -> Case:
    """Five training steps of a graph of version 1, started from a SavedModel."""
    v1 = tf.compat.v1
    feeds = {"x": draw(8, 6), "y": draw(8, 1)}
    with v1.Graph().as_default(), v1.Session() as session:
        x, y, told = _averaged_training(tf, v1)
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, str(folder), {"x": x, "y": y}, told)
        for _ in range(5):
            answers = session.run(told, {x: feeds["x"], y: feeds["y"]})
    return Case(folder, feeds, answers, steps=5)


@unseen
def two_tag_sets(tf: Any, folder: Path) -> Case:
    """A module with a graph to train and one to serve, told apart by tags, as on the old hub."""
    v1 = tf.compat.v1
    builder = v1.saved_model.Builder(str(folder))
    feeds, answers = {"x": draw(3, 5)}, {}
    for tags in (["train", "serve"], ["serve"]):
        with v1.Graph().as_default(), v1.Session() as session:
            x = v1.placeholder(tf.float32, [None, 5])
            w = v1.get_variable("w", initializer=draw(5, 2), use_resource=False)
            table = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(tf.constant([0, 1], tf.int64), ["no", "yes"]),
                "?",
            )
            y = x @ w
            y = v1.nn.dropout(y, rate=0.5) if "train" in tags else tf.nn.softmax(y)
            told = {"y": y, "label": table.lookup(tf.argmax(y, 1))}
            session.run([v1.global_variables_initializer(), v1.tables_initializer()])
            signature = v1.saved_model.predict_signature_def({"x": x}, told)
            options = {
                "main_op": v1.tables_initializer(),
                "signature_def_map": {"default": signature},
            }
            if len(tags) == 2:
                builder.add_meta_graph_and_variables(session, tags, **options)
            else:
                builder.add_meta_graph(tags, **options)
                answers = session.run(told, {x: feeds["x"]})
    builder.save()
    return Case(folder, feeds, answers, ("serve",), "default")
