"""Operators that are defined by a graph: the model's own functions, and those whose schema in the onnx package has a function body."""
from __future__ import annotations

from typing import Callable

import onnx

from ...errors import FormatError
from .registry import normal_domain
from .tensors import ELEMENT_TYPES
from .values import Value


def schema_of(op_type: str, domain: str, version: int):
    """The schema of an operator at a version of its domain, or None."""
    try:
        return onnx.defs.get_schema(op_type, version, normal_domain(domain))
    except onnx.defs.SchemaError:
        return None


def has_body(op_type: str, domain: str, version: int) -> bool:
    """Whether the onnx package defines an operator by others."""
    schema = schema_of(op_type, domain, version)
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def body_of(proto: onnx.NodeProto, version: int, inputs: list[Value | None]) -> onnx.FunctionProto | None:
    """The function that defines an operator, for the types of its inputs."""
    schema = schema_of(proto.op_type, proto.domain, version)
    if schema is None:
        return None
    if schema.has_function:
        versions = [v for v in schema.function_opset_versions if v <= version] or list(schema.function_opset_versions)
        return _parsed(schema.get_function_with_opset_version(versions[-1]), versions[-1])
    if schema.has_context_dependent_function:
        versions = [v for v in schema.context_dependent_function_opset_versions if v <= version] or list(schema.context_dependent_function_opset_versions)
        types = [_type_of(v).SerializeToString() for v in inputs]
        return _parsed(schema.get_context_dependent_function_with_opset_version(versions[-1], proto.SerializeToString(), types), versions[-1])
    return None


def _parsed(data: bytes, version: int) -> onnx.FunctionProto | None:
    if not data:
        return None
    function = onnx.FunctionProto()
    function.ParseFromString(data)
    if not function.opset_import:
        function.opset_import.append(onnx.helper.make_opsetid("", version))
    return function


def _type_of(value: Value | None) -> onnx.TypeProto:
    if value is None:
        return onnx.TypeProto()
    shape = [size if isinstance(size, int) else None for size in value.shape]
    return onnx.helper.make_tensor_type_proto(ELEMENT_TYPES[value.dtype], shape)


def attributes_for(function: onnx.FunctionProto, proto: onnx.NodeProto, version: int) -> dict[str, onnx.AttributeProto]:
    """The values of a function's attributes in a call: given, else the function's defaults, else the schema's."""
    values = {a.name: a for a in function.attribute_proto}
    schema = schema_of(proto.op_type, proto.domain, version)
    if schema is not None:
        values |= {name: a.default_value for name, a in schema.attributes.items() if a.default_value.name}
    return values | {a.name: a for a in proto.attribute}


def bound(proto: onnx.NodeProto, attributes: dict[str, onnx.AttributeProto]) -> onnx.NodeProto:
    """A node of a function's body with the references to the function's attributes replaced."""
    if not any(a.ref_attr_name or a.type == onnx.AttributeProto.GRAPH for a in proto.attribute):
        return proto
    result = onnx.NodeProto()
    result.CopyFrom(proto)
    del result.attribute[:]
    for attribute in proto.attribute:
        if attribute.ref_attr_name:
            if attribute.ref_attr_name in attributes:
                copy = result.attribute.add()
                copy.CopyFrom(attributes[attribute.ref_attr_name])
                copy.name = attribute.name
        else:
            copy = result.attribute.add()
            copy.CopyFrom(attribute)
            for node in copy.g.node if copy.type == onnx.AttributeProto.GRAPH else ():
                node.CopyFrom(bound(node, attributes))
    return result


class FunctionTable:
    """The functions of a model by domain, name and overload. FormatError for a definition that comes twice."""

    def __init__(self, functions):
        self._table: dict[tuple, onnx.FunctionProto] = {}
        for function in functions:
            key = (normal_domain(function.domain), function.name, getattr(function, "overload", ""))
            if key in self._table:
                raise FormatError(f"the function '{function.domain}.{function.name}' is defined twice")
            self._table[key] = function

    def find(self, proto: onnx.NodeProto) -> onnx.FunctionProto | None:
        return self._table.get((normal_domain(proto.domain), proto.op_type, getattr(proto, "overload", "")))


Expand = Callable[[onnx.FunctionProto, list], list]
