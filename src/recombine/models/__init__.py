"""What learns: each model is a frozen description that builds a plain ``nn.Module`` when called."""

from recombine.models.by_name import ByName as ByName
from recombine.models.compositional import Compositional as Compositional
from recombine.models.convnet import ConvNet as ConvNet
from recombine.models.coordinate import CoordinateNetwork as CoordinateNetwork
from recombine.models.decoders import TransposedCNN as TransposedCNN
from recombine.models.dense import Dense as Dense
from recombine.models.equivariant import ShiftedNetwork as ShiftedNetwork
from recombine.models.learned_composition import CellNetwork as CellNetwork, CompositionFamily as CompositionFamily
from recombine.models.odd_one_out import OddOneOut as OddOneOut, OddOneOutNet as OddOneOutNet
from recombine.models.pair_cnn import PairCNN as PairCNN
from recombine.models.panels import Panels as Panels
from recombine.models.perceptron import Perceptron as Perceptron
from recombine.models.pixel_transformer import PixelTransformer as PixelTransformer
from recombine.models.rendering import (
    EmbeddingCNN as EmbeddingCNN,
    PixelDecoder as PixelDecoder,
    StripeDecoder as StripeDecoder,
)
from recombine.models.resnet import (
    ResNet as ResNet,
    resnet_50 as resnet_50,
    wide_resnet_50 as wide_resnet_50,
)
from recombine.models.seq2seq import Seq2Seq as Seq2Seq
from recombine.models.slots import SlotAutoencoder as SlotAutoencoder
from recombine.models.transformer import Transformer as Transformer
from recombine.models.upsample import Upsampler as Upsampler
from recombine.models.views import Views as Views
from recombine.models.vit import ViT as ViT
from recombine.models.word_encoder import WordEncoder as WordEncoder
