# SPDX-License-Identifier: Apache-2.0
"""Ten architectures with random weights, as (name, module, inputs): of PyTorch alone, or of
configurations of `transformers`."""
import torch
from torch import nn
from torch.nn import functional as F


# ---- ResNet-50: He et al. 2015, with the stride in the 3x3 ----

class Bottleneck(nn.Module):
    def __init__(self, inner, outer, stride, width):
        super().__init__()
        self.conv1 = nn.Conv2d(inner, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outer, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outer)
        self.downsample = None
        if stride != 1 or inner != outer:
            self.downsample = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False),
                                            nn.BatchNorm2d(outer))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn3(self.conv3(F.relu(self.bn2(self.conv2(y)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.pool = nn.MaxPool2d(3, 2, 1)
        layers, inner = [], 64
        for number, (width, blocks) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
            layer = []
            for i in range(blocks):
                layer.append(Bottleneck(inner, 4 * width, 2 if number and not i else 1, width))
                inner = 4 * width
            layers.append(nn.Sequential(*layer))
        self.layers = nn.Sequential(*layers)
        self.fc = nn.Linear(2048, 1000)

    def forward(self, x):
        x = self.layers(self.pool(F.relu(self.bn1(self.conv1(x)))))
        return self.fc(x.mean((2, 3)))


# ---- MobileNetV3 Large: Howard et al. 2019, table 1 ----

class Inverted(nn.Module):
    def __init__(self, inner, kernel, hidden, outer, squeezes, activation, stride):
        super().__init__()
        layers = []
        if hidden != inner:
            layers += [nn.Conv2d(inner, hidden, 1, bias=False), nn.BatchNorm2d(hidden), activation()]
        layers += [nn.Conv2d(hidden, hidden, kernel, stride, kernel // 2, groups=hidden, bias=False),
                   nn.BatchNorm2d(hidden), activation()]
        if squeezes:
            layers.append(Squeeze(hidden))
        layers += [nn.Conv2d(hidden, outer, 1, bias=False), nn.BatchNorm2d(outer)]
        self.block = nn.Sequential(*layers)
        self.adds = stride == 1 and inner == outer

    def forward(self, x):
        return x + self.block(x) if self.adds else self.block(x)


class Squeeze(nn.Module):
    def __init__(self, width):
        super().__init__()
        few = (width // 4 + 4) // 8 * 8
        self.fc1 = nn.Conv2d(width, few, 1)
        self.fc2 = nn.Conv2d(few, width, 1)

    def forward(self, x):
        return x * F.hardsigmoid(self.fc2(F.relu(self.fc1(F.adaptive_avg_pool2d(x, 1)))))


class MobileNetV3(nn.Module):
    ROWS = ((3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2),
            (5, 120, 40, 1, 0, 1), (5, 120, 40, 1, 0, 1), (3, 240, 80, 0, 1, 2),
            (3, 200, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1),
            (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1), (5, 672, 160, 1, 1, 2),
            (5, 960, 160, 1, 1, 1), (5, 960, 160, 1, 1, 1))

    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish()]
        inner = 16
        for kernel, hidden, outer, squeezes, hard, stride in self.ROWS:
            layers.append(Inverted(inner, kernel, hidden, outer, squeezes,
                                   nn.Hardswish if hard else nn.ReLU, stride))
            inner = outer
        layers += [nn.Conv2d(160, 960, 1, bias=False), nn.BatchNorm2d(960), nn.Hardswish()]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Linear(960, 1280), nn.Hardswish(), nn.Linear(1280, 1000))

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


# ---- U-Net: Ronneberger et al. 2015, padded, with normalisation ----

def twice(inner, outer):
    return nn.Sequential(nn.Conv2d(inner, outer, 3, padding=1, bias=False), nn.BatchNorm2d(outer),
                         nn.ReLU(), nn.Conv2d(outer, outer, 3, padding=1, bias=False),
                         nn.BatchNorm2d(outer), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, widths=(64, 128, 256, 512, 1024)):
        super().__init__()
        self.down = nn.ModuleList(twice(a, b) for a, b in zip((3, *widths), widths))
        backwards = widths[::-1]
        self.up = nn.ModuleList(nn.ConvTranspose2d(a, b, 2, 2)
                                for a, b in zip(backwards, backwards[1:]))
        self.join = nn.ModuleList(twice(a, b) for a, b in zip(backwards, backwards[1:]))
        self.head = nn.Conv2d(widths[0], 2, 1)

    def forward(self, x):
        kept = []
        for i, block in enumerate(self.down):
            x = block(x if i == 0 else F.max_pool2d(x, 2))
            kept.append(x)
        for up, join, skip in zip(self.up, self.join, kept[-2::-1]):
            x = join(torch.cat([up(x), skip], 1))
        return self.head(x)


# ---- an LSTM for language, and a detector of one stage ----

class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10000, 512)
        self.lstm = nn.LSTM(512, 1024, 2, batch_first=True)
        self.head = nn.Linear(1024, 10000)

    def forward(self, tokens):
        return self.head(self.lstm(self.embedding(tokens))[0])


class Detector(nn.Module):
    """A backbone of five strided convolutions and a head on three levels, as YOLO and FCOS have it.
    What comes out goes into NonMaxSuppression, which is put behind it in the file."""

    def __init__(self, classes=80):
        super().__init__()
        widths = (32, 64, 128, 256, 512)
        self.stages = nn.ModuleList(
            nn.Sequential(nn.Conv2d(a, b, 3, 2, 1, bias=False), nn.BatchNorm2d(b), nn.SiLU(),
                          nn.Conv2d(b, b, 3, 1, 1, bias=False), nn.BatchNorm2d(b), nn.SiLU())
            for a, b in zip((3, *widths), widths))
        self.boxes = nn.ModuleList(nn.Conv2d(width, 4, 1) for width in widths[2:])
        self.scores = nn.ModuleList(nn.Conv2d(width, classes, 1) for width in widths[2:])

    def forward(self, x):
        boxes, scores = [], []
        for i, stage in enumerate(self.stages):
            x = stage(x)
            if i >= 2:
                boxes.append(self.boxes[i - 2](x).flatten(2).transpose(1, 2))
                scores.append(self.scores[i - 2](x).flatten(2).sigmoid())
        return torch.cat(boxes, 1), torch.cat(scores, 2)


class Only(nn.Module):
    """A model of transformers whose result is one tensor, and whose input has a place."""

    def __init__(self, model, name):
        super().__init__()
        self.model, self.name = model, name

    def forward(self, x):
        out = self.model(**{self.name: x})
        return out.logits if hasattr(out, "logits") else out.last_hidden_state


class Both(nn.Module):
    """The same with an encoder's input and a decoder's."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, sound, tokens):
        return self.model(input_features=sound, decoder_input_ids=tokens).logits


def of_transformers():
    import transformers as t
    usual = {"attn_implementation": "eager"}
    tokens = torch.randint(0, 1000, (1, 128))
    vit = t.ViTForImageClassification(t.ViTConfig(num_labels=1000, **usual))
    bert = t.BertModel(t.BertConfig(**usual), add_pooling_layer=False)
    gpt2 = t.GPT2LMHeadModel(t.GPT2Config(use_cache=False, **usual))
    llama = t.LlamaForCausalLM(t.LlamaConfig(
        vocab_size=32000, hidden_size=1024, intermediate_size=2816, num_hidden_layers=12,
        num_attention_heads=16, num_key_value_heads=4, use_cache=False, **usual))
    whisper = t.WhisperForConditionalGeneration(t.WhisperConfig(use_cache=False, **usual))
    yield "ViT-B/16", Only(vit, "pixel_values"), (torch.randn(1, 3, 224, 224),)
    yield "BERT-base", Only(bert, "input_ids"), (tokens,)
    yield "GPT-2", Only(gpt2, "input_ids"), (tokens,)
    yield "Llama-like, GQA", Only(llama, "input_ids"), (tokens,)
    yield "Whisper-like", Both(whisper), (
        torch.randn(1, 80, 3000), torch.randint(0, 1000, (1, 64)))


def models():
    image = torch.randn(1, 3, 224, 224)
    yield "ResNet-50", ResNet50(), (image,)
    yield "MobileNetV3-L", MobileNetV3(), (image,)
    yield from of_transformers()
    yield "U-Net", UNet(), (torch.randn(1, 3, 256, 256),)
    yield "LSTM", Lstm(), (torch.randint(0, 10000, (1, 64)),)
    yield "detector, NMS", Detector(), (torch.randn(1, 3, 320, 320),)
