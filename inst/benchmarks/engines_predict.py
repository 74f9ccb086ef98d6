"""The Python sides of the decoding cases: scikit-learn's classifiers by cross_val_predict, one location after the
other, one run left out at a time. Which voxels a location has is found before the clock starts.
"""
import importlib.metadata
import os

import numpy as np

from engines import Engine, read_matrix


class RidgeClassification(Engine):
    def load(self):
        self.X = read_matrix(os.path.join(self.job["data"], "X.bin"), self.n)
        self.y = read_matrix(os.path.join(self.job["data"], "Y.bin"), self.n).argmax(1) + 1
        self.runs = np.concatenate([np.full(len(rows), k) for k, rows in
                                    enumerate(np.array_split(np.arange(self.n), self.folds))])
        self.locations = self.find_locations()

    def find_locations(self):
        p = self.X.shape[1]
        if self.job["where"] == "whole":
            return [slice(None)]
        if self.job["where"] == "parcels":
            return np.array_split(np.arange(p), int(self.job["parcels"]))
        places = read_matrix(self.job["voxels"], p) * float(self.job["voxel_mm"])
        centers = np.fromfile(self.job["centers"], dtype="<f8").astype(int) - 1
        limit = float(self.job["radius_mm"]) ** 2 * (1 + 1e-6)
        return [np.flatnonzero(((places - places[center]) ** 2).sum(1) <= limit)
                for center in centers[:int(self.job["n_compared"])]]

    def settings(self):
        """scikit-learn can be told not to look for NaN, which takes a part of the time of small fits."""
        return ["defaults", "assume_finite=True"]

    def model(self):
        from sklearn.linear_model import RidgeClassifier
        if self.job["scale"] == "none":
            return RidgeClassifier(alpha=1.0)
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        return make_pipeline(StandardScaler(), RidgeClassifier(alpha=1.0))

    def predict(self, method):
        from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict
        return [cross_val_predict(self.model(), self.X[:, columns], self.y, groups=self.runs, cv=LeaveOneGroupOut(),
                                  method=method) for columns in self.locations]

    def prepare(self, setting):
        import sklearn
        sklearn.set_config(assume_finite=setting != "defaults")
        return lambda: self.predict("predict")

    def answer(self, fit):
        """Samples x classes x locations, as ours; of two classes the decision for the second alone."""
        decisions = [np.reshape(x, (self.n, -1)) for x in self.predict("decision_function")]
        return {"predictions": np.stack(fit, axis=1), "decisions": np.stack(decisions, axis=2)}

    def version(self):
        return f"scikit-learn {importlib.metadata.version('scikit-learn')}"


class SupportVectors(RidgeClassification):
    """Another model, whose predictions are not compared."""

    def model(self):
        from sklearn.svm import SVC
        return SVC(kernel="linear")

    def answer(self, fit):
        return {}


ENGINES = {"sklearn_ridge_classifier": RidgeClassification, "sklearn_svc": SupportVectors}
