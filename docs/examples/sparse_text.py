"""Classify text: the map takes the sparse matrix as it is."""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from random_features import make_map

# Two topics that every installation has: paragraphs of NumPy's documentation of linear algebra and of random numbers.
topics = [np.linalg, np.random.RandomState]
paragraphs = [
    [text for each in vars(topic).values() for text in (each.__doc__ or "").split("\n\n") if len(text) > 100]
    for topic in topics
]
texts = paragraphs[0] + paragraphs[1]
topic = np.repeat([0, 1], [len(paragraphs[0]), len(paragraphs[1])])

phi = make_map("rff", kernel="rbf", n_components=300, random_state=0)
pipeline = make_pipeline(TfidfVectorizer(), phi, RidgeClassifier())
X = TfidfVectorizer().fit_transform(texts)
print(f"{X.shape[0]} paragraphs, {X.shape[1]} words, {X.nnz / X.shape[0]:.0f} different words in each")
print(f"cross-validated accuracy: {cross_val_score(pipeline, texts, topic, cv=3).mean():.3f}")
