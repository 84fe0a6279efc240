"""Makes `cifar10_part.npz`, which `kernel-theory` reads at paper scale, from CIFAR-10 as its authors publish it: the
first 1100 training and 250 test images of each class, in the order of the files. What comes out is checked.

    python benchmarks/cifar_part.py cifar-10-binary.tar.gz $RECOMBINE_DATA

The archive is at https://www.cs.toronto.edu/~kriz/cifar.html (binary version). Of its records, a byte for the class and
32 × 32 bytes of red, green and blue, nothing is executed.
"""

from __future__ import annotations

import hashlib
import sys
import tarfile
from pathlib import Path

import numpy as np

PARTS = {"train": ([f"data_batch_{k}.bin" for k in range(1, 6)], 1100), "test": (["test_batch.bin"], 250)}
SHA256 = {
    "x_train": "813f84a8a027161b", "y_train": "0864cd6f300b3d24", "x_test": "ec50532baa81bbf5",
    "y_test": "11d9173270c88c6a",
}  # fmt: skip
"""How the hashes of the arrays' bytes begin."""


def part(archive: tarfile.TarFile, names: list[str], each: int) -> tuple[np.ndarray, np.ndarray]:
    files = {Path(member.name).name: member for member in archive.getmembers() if member.isfile()}
    content = b"".join(archive.extractfile(files[name]).read() for name in names)  # type: ignore[union-attr]
    records = np.frombuffer(content, np.uint8).reshape(-1, 3073)
    classes = records[:, 0]
    kept = np.sort(np.concatenate([np.flatnonzero(classes == number)[:each] for number in range(10)]))
    return np.moveaxis(records[kept, 1:].reshape(-1, 3, 32, 32), 1, -1), classes[kept]


def main() -> None:
    source, folder = map(Path, sys.argv[1:3])
    found = {}
    with tarfile.open(source) as archive:
        for name, (names, each) in PARTS.items():
            found[f"x_{name}"], found[f"y_{name}"] = map(np.ascontiguousarray, part(archive, names, each))
    for name, array in found.items():
        begins = hashlib.sha256(array.tobytes()).hexdigest()[: len(SHA256[name])]
        if begins != SHA256[name]:
            sys.exit(f"{name} of {source} is not what was used: its SHA-256 begins with {begins}, not {SHA256[name]}")
    np.savez_compressed(folder / "cifar10_part.npz", **found)
    print(f"{folder / 'cifar10_part.npz'}: {len(found['y_train'])} training and {len(found['y_test'])} test images")


if __name__ == "__main__":
    main()
