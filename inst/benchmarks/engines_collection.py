"""The Python sides of the collections: loops over files that nibabel or nilearn reads, one in memory at a time, in
float64 sums, which is what nltools' lazy collections come down to.
"""
import glob
import importlib.metadata
import os

import nibabel
import numpy as np

from engines import Engine


class Collection(Engine):
    def load(self):
        self.paths = sorted(glob.glob(os.path.join(self.job["files"], "item-*.nii.gz")))[:int(self.job["items"])]
        self.mask_image = nibabel.load(os.path.join(self.job["files"], "mask.nii.gz"))
        self.mask = np.asarray(self.mask_image.dataobj) > 0
        # voxels in the order of the file, as the other side has them
        self.order = np.argsort(np.ravel_multi_index(np.nonzero(self.mask), self.mask.shape, order="F"))

    def answer(self, fit):
        return {"statistics": np.ravel(fit[..., self.order], order="F")}

    def version(self):
        return f"nibabel {nibabel.__version__}, numpy {np.__version__}"


class MeanLoop(Collection):
    """Volumes x voxels of every file, added up."""

    def read(self, path):
        return np.asarray(nibabel.load(path).dataobj)[self.mask].T

    def prepare(self, setting):
        def fit():
            total = 0
            for path in self.paths:
                total = total + self.read(path).astype(np.float64)
            return total / len(self.paths)
        return fit


class NilearnMeanLoop(MeanLoop):
    """The same through nilearn's apply_mask(), as nltools reads its images."""

    def read(self, path):
        from nilearn.masking import apply_mask
        return apply_mask(path, self.mask_image)

    def version(self):
        return f"nilearn {importlib.metadata.version('nilearn')}, {super().version()}"


class TLoop(MeanLoop):
    """The mean of every file, and a t test of these."""

    def prepare(self, setting):
        def fit():
            x = np.array([self.read(path).mean(0, dtype=np.float64) for path in self.paths])
            return (x.mean(0) - 100) / (x.std(0, ddof=1) / np.sqrt(len(x)))
        return fit


ENGINES = {"loop_nibabel_mean": MeanLoop, "loop_nilearn_mean": NilearnMeanLoop, "loop_nibabel_t": TLoop}
