"""What learns: each model is a frozen description that builds a plain ``nn.Module`` when called."""

from recombine.models.convnet import ConvNet
from recombine.models.coordinate import CoordinateNetwork
from recombine.models.decoders import TransposedCNN
from recombine.models.dense import Dense
from recombine.models.pair_cnn import PairCNN
from recombine.models.perceptron import Perceptron
from recombine.models.pixel_transformer import PixelTransformer
from recombine.models.rendering import EmbeddingCNN, PixelDecoder, StripeDecoder
from recombine.models.resnet import ResNet
from recombine.models.seq2seq import Seq2Seq
from recombine.models.transformer import Transformer
from recombine.models.vit import ViT

__all__ = [
    "ConvNet",
    "CoordinateNetwork",
    "Dense",
    "EmbeddingCNN",
    "PairCNN",
    "Perceptron",
    "PixelDecoder",
    "PixelTransformer",
    "ResNet",
    "Seq2Seq",
    "StripeDecoder",
    "Transformer",
    "TransposedCNN",
    "ViT",
]
