"""The face cascade beside OpenCV's ready-made one: test crops, pictures, windows per second.

    python benchmarks/face_detection.py ours cbcl_faces.npz OUT      # trains, writes OUT
    python benchmarks/face_detection.py opencv cbcl_faces.npz OUT    # needs opencv-python-headless
    python benchmarks/face_detection.py show OUT
    python benchmarks/face_detection.py draw OUT                     # writes OUT/faces.png

The second part imports OpenCV and NumPy only, so that it may run in an environment of its own.
OpenCV 5 has no Haar cascades: install version 4, ``"opencv-python-headless<5"``. Seconds are
processor time of one thread.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ALARMS = (10, 50, 100)
REPEATS = 3
SCALE = 1.2  # ratio of neighbouring sizes, of both
SMALLEST = 24  # pixels, of both
NEIGHBOURS = 4  # windows that agree, of ours: chosen on training faces held back from a trial
CROPS = (48,)  # pixels to which OpenCV's crops are enlarged
BORDER = 0.25  # repeated around an enlarged crop, as a share of it


def detection(faces: Any, others: Any) -> dict[str, float]:
    """Share of the faces that score above all but so many of the others."""
    ranked = np.sort(np.asarray(others))[::-1]
    return {str(k): float((np.asarray(faces) > ranked[k]).mean()) for k in ALARMS}


def pictures(source: str) -> dict[str, Any]:
    """Two portraits, and test faces on three pictures that were kept from training."""
    from matplotlib.cbook import get_sample_data
    from matplotlib.pyplot import imread
    from skimage.data import astronaut

    from costboost_papers.vision import (
        HELD_OUT,
        background_pictures,
        face_windows,
        grey,
        paste_windows,
    )

    with get_sample_data("grace_hopper.jpg") as stream:
        found = {"astronaut": (grey(astronaut()), []), "grace_hopper": (grey(imread(stream)), [])}
    windows, y = face_windows(source, part="test")
    for k, (name, picture) in enumerate(zip(HELD_OUT, background_pictures(HELD_OUT), strict=True)):
        found[name] = paste_windows(grey(picture), windows[y == 1], 6, random_state=k)
    return found


def ours(source: str, out: Path) -> None:
    """Train (or read the trained cascade of an earlier call), score, scan, write."""
    import pickle

    from costboost_papers.vision import SlidingWindowDetector, face_cascade, face_windows

    model = out / "cascade.pkl"
    if not model.is_file():
        start = time.process_time()
        trained = face_cascade(source)
        print(f"trained in {time.process_time() - start:.0f} s of processor time")
        model.write_bytes(pickle.dumps(trained))
    cascade = pickle.loads(model.read_bytes())  # written by this script
    windows, y = face_windows(source, part="test")
    scores = cascade.decision_function(windows)
    result: dict[str, Any] = {
        "stages": cascade.report(),
        "roc": detection(scores[y == 1], scores[y == 0]),
        "pass all stages": [int((scores[y == k] >= 0).sum()) for k in (1, 0)],
        "pictures": {},
    }
    detector = SlidingWindowDetector(
        cascade, min_size=SMALLEST, scale_factor=SCALE, min_neighbours=NEIGHBOURS
    )
    stored = {}
    for name, (picture, truth) in pictures(source).items():
        stored[name] = (255 * picture).round().astype(np.uint8)
        boxes = detector.detect(picture)
        seconds = min(_seconds(detector.candidates, picture) for _ in range(REPEATS))
        shapes = (picture.shape, cascade.shape_)
        result["pictures"][name] = {
            "boxes": [box[:4] for box in boxes],
            "truth": [box[:4] for box in truth],
            "seconds": seconds,
            "windows": sum(
                int(np.prod([round(n / scale) - side + 1 for n, side in zip(*shapes, strict=True)]))
                for scale in detector.scales(picture.shape)
            ),
        }
    np.savez_compressed(out / "pictures.npz", **stored)
    (out / "ours.json").write_text(json.dumps(result, indent=1))


def opencv(source: str, out: Path) -> None:
    """OpenCV's cascade on the same crops and pictures."""
    import cv2

    cv2.setNumThreads(1)
    cascade = cv2.CascadeClassifier(cv2.data.haarcascades + "haarcascade_frontalface_default.xml")
    with np.load(source) as content:
        crops = [content["test_faces"], content["test_nonfaces"]]
    result: dict[str, Any] = {"version": cv2.__version__, "roc": {}, "crops": {}, "pictures": {}}
    for size in CROPS:
        found = [[_best(cascade, cv2, crop, size) for crop in part] for part in crops]
        what = f"{size} pixels"
        result["roc"][what] = detection(*[[score for score, _ in part] for part in found])
        result["crops"][what] = [sum(hit for _, hit in part) for part in found]
    with np.load(out / "pictures.npz") as stored:
        for name in stored.files:
            picture = stored[name]
            boxes = cascade.detectMultiScale(picture, SCALE, 3, minSize=(SMALLEST, SMALLEST))
            seconds = min(
                _seconds(cascade.detectMultiScale, picture, SCALE, 3) for _ in range(REPEATS)
            )
            result["pictures"][name] = {
                "boxes": np.asarray(boxes).tolist(),
                "seconds": seconds,
                "windows": _opencv_windows(picture.shape),
            }
    (out / "opencv.json").write_text(json.dumps(result, indent=1))


def _best(cascade: Any, cv2: Any, crop: Any, size: int) -> tuple[float, bool]:
    """The furthest that any window of an enlarged crop gets, and whether one is accepted.

    The first is -inf if no window gets near the end.
    """
    large = cv2.resize(crop, (size, size), interpolation=cv2.INTER_CUBIC)
    pad = round(BORDER * size)
    large = cv2.copyMakeBorder(large, pad, pad, pad, pad, cv2.BORDER_REPLICATE)
    boxes, levels, weights = cascade.detectMultiScale3(
        large, scaleFactor=1.1, minNeighbors=0, outputRejectLevels=True
    )
    accepted = cascade.detectMultiScale(large, scaleFactor=1.1, minNeighbors=1)
    if not len(boxes):
        return -np.inf, len(accepted) > 0
    best = float(np.max(1e3 * np.ravel(levels) + np.ravel(weights)))
    return best, len(accepted) > 0


def _opencv_windows(shape: tuple[int, ...], side: int = 24) -> int:
    """Windows of its scan: every second pixel while the picture is scaled down by less than 2."""
    total, factor = 0, 1.0
    while min(shape) / factor >= side:
        step = 1 if factor > 2.0 else 2
        rows, columns = (int(length / factor) - side + 1 for length in shape)
        total += -(-rows // step) * -(-columns // step)
        factor *= SCALE
    return total


def _seconds(work: Any, *arguments: Any) -> float:
    start = time.process_time()
    work(*arguments)
    return time.process_time() - start


def _hits(boxes: list[Any], truth: list[Any]) -> int:
    """How many true boxes have a detection whose centre is near theirs, of about their size."""
    found = 0
    for left, top, width, height in truth:
        for x, y, w, h in boxes:
            near = abs(x + w / 2 - left - width / 2) < 0.35 * width
            near &= abs(y + h / 2 - top - height / 2) < 0.35 * height
            if near and 0.6 < w / width < 1.8:
                found += 1
                break
    return found


def show(out: Path) -> None:
    """Both results as text."""
    results = {path.stem: json.loads(path.read_text()) for path in sorted(out.glob("*.json"))}
    for name, result in results.items():
        print(name, json.dumps(result["roc"]), result.get("pass all stages", ""))
        print("  crops accepted (faces, others):", result.get("crops", ""))
        for picture, found in result["pictures"].items():
            truth = results["ours"]["pictures"][picture]["truth"]
            print(
                f"  {picture}: {len(found['boxes'])} boxes, {_hits(found['boxes'], truth)} of "
                f"{len(truth)} pasted faces, {found['seconds']:.3f} s, "
                f"{found['windows'] / found['seconds'] / 1e6:.2f} million windows a second"
            )


def draw(out: Path) -> None:
    """The pictures with the boxes of both: ours in green, OpenCV's dashed in orange."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.patches import Rectangle

    results = {path.stem: json.loads(path.read_text()) for path in sorted(out.glob("*.json"))}
    with np.load(out / "pictures.npz") as stored:
        pixels = {name: stored[name] for name in stored.files}
    _, axes = plt.subplots(
        1, len(pixels), figsize=(3.2 * len(pixels), 3.6), layout="constrained", squeeze=False
    )
    styles = {"ours": ("lime", "-"), "opencv": ("orange", "--")}
    for ax, (name, picture) in zip(axes[0], pixels.items(), strict=True):
        ax.imshow(picture, cmap="gray")
        ax.set_title(name, fontsize="small")
        ax.set_axis_off()
        for who in results.keys() & styles.keys():
            colour, line = styles[who]
            for left, top, width, height in results[who]["pictures"][name]["boxes"]:
                ax.add_patch(
                    Rectangle((left, top), width, height, fill=False, color=colour, linestyle=line)
                )
    plt.savefig(out / "faces.png", dpi=80)


if __name__ == "__main__":
    if sys.argv[1:2] in (["show"], ["draw"]):
        {"show": show, "draw": draw}[sys.argv[1]](Path(sys.argv[2]))
    else:
        task, source_file, folder = sys.argv[1:4]
        Path(folder).mkdir(parents=True, exist_ok=True)
        {"ours": ours, "opencv": opencv}[task](source_file, Path(folder))
