"""What learns: each model is a frozen description that builds a plain ``nn.Module`` when called."""

from recombine.models.perceptron import Perceptron

__all__ = ["Perceptron"]
