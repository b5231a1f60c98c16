"""`onemlir.optim`: optimizers, schedules of the learning rate and clipping of gradients, with torch's names, definitions and defaults."""
from .adaptive import Adagrad, Adam, AdamW, RMSprop  # noqa: F401
from .clipping import clip_by_global_norm, clip_grad_norm_, clip_grad_value_  # noqa: F401
from .momentum import SGD  # noqa: F401
from .optimizer import Optimizer  # noqa: F401
from .schedules import (ConstantLR, CosineAnnealingLR, ExponentialLR, LambdaLR, LinearLR, MultiStepLR, OneCycleLR, PolynomialLR,  # noqa: F401
                        ReduceLROnPlateau, Schedule, SequentialLR, StepLR)
