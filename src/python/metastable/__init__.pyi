from ._metastable import Dynamics as Dynamics
from ._metastable import Energy as Energy
from ._metastable import Interaction as Interaction
from ._metastable import InteractionEnergy as InteractionEnergy
from ._metastable import __version__ as __version__
from ._metastable import field as field
from ._metastable import threads as threads
from ._results import Figure as Figure
from ._results import Result as Result
from ._results import Solution as Solution
from ._results import Verdicts as Verdicts
from ._load import load as load
from ._runs import energy as energy
from ._runs import layers as layers
from ._runs import noise as noise
from ._runs import solve as solve
from ._runs import tokens as tokens
from ._runs import velocity as velocity
from ._commands import Model as Model
from ._commands import certify as certify
from ._commands import certify_check as certify_check
from ._commands import certify_critical_point as certify_critical_point
from ._commands import certify_dwell as certify_dwell
from ._commands import certify_start as certify_start
from ._commands import check as check
from ._commands import clusters as clusters
from ._commands import compare as compare
from ._commands import continue_ as continue_
from ._commands import entropy as entropy
from ._commands import explain as explain
from ._commands import figure as figure
from ._commands import hunt as hunt
from ._commands import landscape as landscape
from ._commands import load_model as load_model
from ._commands import measure as measure
from ._commands import model as model
from ._commands import modes as modes
from ._commands import movie as movie
from ._commands import names as names
from ._commands import plot as plot
from ._commands import predict as predict
from ._commands import rates as rates
from ._commands import replay as replay
from ._commands import run as run
from ._commands import saddles as saddles

__all__ = [
    "Dynamics",
    "Energy",
    "Figure",
    "Interaction",
    "InteractionEnergy",
    "Result",
    "Solution",
    "Verdicts",
    "__version__",
    "energy",
    "field",
    "layers",
    "load",
    "noise",
    "solve",
    "threads",
    "tokens",
    "velocity",
    "Model",
    "certify",
    "certify_check",
    "certify_critical_point",
    "certify_dwell",
    "certify_start",
    "check",
    "clusters",
    "compare",
    "continue_",
    "entropy",
    "explain",
    "figure",
    "hunt",
    "landscape",
    "load_model",
    "measure",
    "model",
    "modes",
    "movie",
    "names",
    "plot",
    "predict",
    "rates",
    "replay",
    "run",
    "saddles",
]
