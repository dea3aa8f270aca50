"""Hidden states of the small test models of the library."""

import pathlib
import pickle

import metastable as ms
import numpy as np
import pytest

MODELS = pathlib.Path(__file__).parents[3] / "tests" / "data" / "models"


@pytest.mark.parametrize("kind", ["bert", "albert", "gpt2", "llama"])
def test_hidden_states_are_tokens(kind):
    ids = np.loadtxt(MODELS / "ids.csv", comments="#", dtype=int)
    model = pickle.loads(pickle.dumps(ms.load_model(MODELS / kind)))
    found = model.hidden(ids=ids)
    layers, n, d = found.hidden_states.shape
    assert n == len(ids) and layers == found.layers + 1 and d == found.d
    assert found.attention.shape == (found.layers, found.heads, n, n)
    assert np.abs(found.attention.sum(axis=-1) - 1).max() < 1e-12
    # A pass from the first hidden state gives the same states.
    again = model.hidden(embeddings=found.hidden_states[0], attention=False)
    assert np.abs(again.hidden_states - found.hidden_states).max() < 1e-12 and "attention" not in again
    assert ms.velocity(found.hidden_states[-1], "sa", 1.0, normalise=True).shape == (n, d)


def test_invalid_models_have_a_message():
    with pytest.raises(ValueError, match="expected the folder of a model"):
        ms.load_model("nowhere")
    with pytest.raises(ValueError):
        ms.load_model(MODELS / "bert").hidden()
