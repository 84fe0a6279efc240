"""What learns: each model is a frozen description that builds a plain ``nn.Module`` when called."""

from recombine.models.convnet import ConvNet
from recombine.models.dense import Dense
from recombine.models.perceptron import Perceptron
from recombine.models.resnet import ResNet
from recombine.models.vit import ViT

__all__ = ["ConvNet", "Dense", "Perceptron", "ResNet", "ViT"]
