"""Tune the length scale and the penalty of a pipeline."""

from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

from random_features.kernels import Gaussian
from random_features.maps import OrthogonalRandom

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

pipeline = make_pipeline(OrthogonalRandom(Gaussian(1.0), n_components=200, random_state=0), RidgeClassifier())
grid = {
    "orthogonalrandom__kernel__length_scale": [20.0, 40.0, 80.0],
    "ridgeclassifier__alpha": [0.01, 0.1, 1.0],
}
search = GridSearchCV(pipeline, grid, cv=3).fit(X_train, y_train)
print(search.best_params_)
print(f"accuracy on the test rows: {search.score(X_test, y_test):.3f}")
