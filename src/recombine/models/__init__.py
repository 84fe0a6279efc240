"""What learns: each model is a frozen description that builds a plain ``nn.Module`` when called."""

from recombine.models.bert import Bert
from recombine.models.compositional import Compositional
from recombine.models.convnet import ConvNet
from recombine.models.coordinate import CoordinateNetwork
from recombine.models.decoders import TransposedCNN
from recombine.models.dense import Dense
from recombine.models.equivariant import ShiftedNetwork
from recombine.models.learned_composition import CellNetwork, CompositionFamily
from recombine.models.odd_one_out import OddOneOut, OddOneOutNet
from recombine.models.pair_cnn import PairCNN
from recombine.models.panels import Panels
from recombine.models.perceptron import Perceptron
from recombine.models.pixel_transformer import PixelTransformer
from recombine.models.rendering import EmbeddingCNN, PixelDecoder, StripeDecoder
from recombine.models.resnet import ResNet, resnet_18, resnet_50, wide_resnet_50
from recombine.models.seq2seq import Seq2Seq
from recombine.models.slots import SlotAutoencoder
from recombine.models.transformer import Transformer
from recombine.models.upsample import Upsampler
from recombine.models.views import Views
from recombine.models.vit import ViT
from recombine.models.word_encoder import WordEncoder

__all__ = [
    "Bert",
    "CellNetwork",
    "CompositionFamily",
    "Compositional",
    "ConvNet",
    "CoordinateNetwork",
    "Dense",
    "EmbeddingCNN",
    "OddOneOut",
    "OddOneOutNet",
    "PairCNN",
    "Panels",
    "Perceptron",
    "PixelDecoder",
    "PixelTransformer",
    "ResNet",
    "Seq2Seq",
    "ShiftedNetwork",
    "SlotAutoencoder",
    "StripeDecoder",
    "Transformer",
    "TransposedCNN",
    "Upsampler",
    "ViT",
    "Views",
    "WordEncoder",
    "resnet_18",
    "resnet_50",
    "wide_resnet_50",
]
