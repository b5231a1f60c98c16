"""What a user writes: tensors, ops, modules, recording; readers of other people's models."""
