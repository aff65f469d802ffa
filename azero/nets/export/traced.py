"""A user's net as an ONNX model, which torch's exporter makes of the operations that its `forward` calls."""

import logging
import warnings
from typing import Any

import onnx
import torch

from azero.compiler.cache import cache_directory
from azero.errors import BadInput
from azero.nets.architectures.contract import Net, fold
from azero.nets.architectures.heads import run_heads
from azero.nets.users_net import UsersNet
from azero.system.machine import keep_torch_files


def trace_onnx(net: UsersNet, opset: int) -> onnx.ModelProto:
    """Returns a user's net as an ONNX model with a free batch size; raises BadInput if that is impossible."""
    keep_torch_files(cache_directory())
    module = _Composed(fold(net))
    planes = torch.zeros(2, *net.game.planes_shape)  # of one row, torch would take the size for a constant
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    try:
        logger.setLevel(logging.ERROR)  # it notes packages that are not installed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                module,
                (planes,),
                dynamo=True,
                input_names=["planes"],
                output_names=["policy_logits", "result_logits", *net.kept],
                dynamic_shapes={"planes": {0: torch.export.Dim("batch")}},
                opset_version=opset,
                verbose=False,
            )
    except Exception as error:  # of many kinds
        raise BadInput(f"net {net.name} cannot be written as ONNX: {_cause(error)}") from None
    finally:
        logger.setLevel(level)
    assert program is not None, "no file was named"
    model = program.model_proto
    if not model.graph.input[0].type.tensor_type.shape.dim[0].dim_param:
        raise BadInput(
            f"net {net.name} cannot be written as ONNX: it takes the number of positions for a constant; "
            "write planes.shape[0] instead of len(planes)"
        )
    return _without_traces(model)


class _Composed(torch.nn.Module):
    """A user's module as azero calls it, without checks: they read sizes, which would not stay free."""

    def __init__(self, net: Net):
        super().__init__()
        assert isinstance(net, UsersNet)
        self.module, self.has_features = net.module, net.has_features
        self.kept, self.game = net.kept, net.game

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, ...]:
        module: Any = self.module
        if not self.has_features:
            return tuple(module(planes))
        features = module.features(planes)
        return *module.judge(features), *run_heads(self.kept, self.game, features).values()


def _cause(error: BaseException) -> str:
    """Returns the first line of the error behind those of torch's exporter."""
    while error.__cause__ is not None:
        error = error.__cause__
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _without_traces(model: onnx.ModelProto) -> onnx.ModelProto:
    """Removes the notes about each operation: they have the user's source lines and paths."""
    graph = model.graph
    for each in (model, graph, *graph.node, *graph.input, *graph.output, *graph.initializer, *graph.value_info):
        del each.metadata_props[:]
        each.doc_string = ""
    for function in model.functions:
        for each in (function, *function.node, *function.value_info):
            del each.metadata_props[:]
            each.doc_string = ""
    return model
