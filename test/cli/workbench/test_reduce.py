"""`onemlir reduce`: the smallest module on which a command still fails."""
import subprocess

import pytest

import onemlir
from onemlir.cli.reduce import run
from onemlir.cli.reduce.search import canonical, reduce_text

MODULE = """func.func @main(%x: tensor<64x32xf32>, %y: tensor<64x32xf32>, %u: tensor<4xf32>) -> (tensor<64x32xf32>, tensor<4xf32>) {
  %a = "om.exp"(%x) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %b = "om.add"(%a, %y) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %c = "om.tanh"(%b) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %d = "om.multiply"(%c, %b) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %v = "om.sin"(%u) : (tensor<4xf32>) -> tensor<4xf32>
  return %d, %v : tensor<64x32xf32>, tensor<4xf32>
}
func.func @other() { return }
"""


def test_one_op_is_left():
    reduced = reduce_text(MODULE, lambda text: "om.tanh" in text)
    assert [line.strip() for line in reduced.splitlines() if "om." in line] == ['%0 = "om.tanh"(%arg0) : (tensor<1x1xf32>) -> tensor<1x1xf32>']
    assert "@other" not in reduced and reduced.count("%arg") == 2


def test_a_pair_of_ops_is_kept():
    """The failure needs two ops that depend on each other; what stands between them goes."""
    reduced = reduce_text(MODULE, lambda text: "om.exp" in text and "om.multiply" in text)
    assert sum('"om.' in line for line in reduced.splitlines()) == 2


def test_every_candidate_is_valid():
    seen = []
    reduce_text(MODULE, lambda text: seen.append(text) or "om.add" in text)
    assert len(seen) > 10 and all(canonical(text) for text in seen)


def test_sizes_stay_when_they_matter():
    reduced = reduce_text(MODULE, lambda text: "om.tanh" in text and "x32x" in text)
    assert "tensor<1x32xf32>" in reduced


LOOP = """func.func @main(%x: tensor<4xf32>, %p: tensor<i1>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = tensor.extract %p[] : tensor<i1>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (tensor<4xf32>) {
    %a = scf.if %c -> (tensor<4xf32>) {
      %b = "om.exp"(%s) : (tensor<4xf32>) -> tensor<4xf32>
      %d = "om.tanh"(%b) : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %d : tensor<4xf32>
    } else {
      %e = "om.sin"(%s) : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %e : tensor<4xf32>
    }
    %f = "om.add"(%a, %s) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %f : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
"""


def test_control_flow_goes_when_it_does_not_matter():
    reduced = reduce_text(LOOP, lambda text: "om.tanh" in text)
    assert "scf." not in reduced and sum('"om.' in line for line in reduced.splitlines()) == 1


def test_what_a_region_holds_is_reduced():
    """The failure needs the branch; what stands in it and around it goes."""
    reduced = reduce_text(LOOP, lambda text: "scf.if" in text and "om.tanh" in text)
    assert "scf.for" not in reduced and "om.exp" not in reduced and "om.sin" not in reduced and "om.add" not in reduced


def test_command(tool, tmp_path):
    """A reproducer keeps its first line; the output file runs like the original."""
    path, output = tmp_path / "m.mlir", tmp_path / "small.mlir"
    path.write_text("// configuration: --pass-pipeline='builtin.module(om-to-linalg)'\n" + MODULE.replace("@main", "@start"))
    command = [tool("onemlir"), "reduce", str(path), "-o", str(output), "--test", "onemlir-opt --run-reproducer", "--message", "no function @main"]
    assert subprocess.run(command, capture_output=True, text=True).returncode == 0
    assert output.read_text().startswith("// configuration:") and len(output.read_text()) < 120


def test_a_command_that_does_not_fail(tool, tmp_path):
    path = tmp_path / "m.mlir"
    path.write_text(MODULE)
    result = subprocess.run([tool("onemlir"), "reduce", str(path), "--test", "grep -q om.tanh"], capture_output=True, text=True)
    assert result.returncode == 1 and "does not fail" in result.stderr


def test_a_file_that_does_not_parse_is_named(tmp_path):
    path = tmp_path / "m.mlir"
    path.write_text("\nmodule {")
    with pytest.raises(onemlir.VerificationError, match=r"m\.mlir:2:7: error"):
        run(str(path), "false", None, None, 1)


@pytest.mark.parametrize("text", ["module {", "func.func @main() -> tensor<2xf32> { return }"])
def test_invalid_text_is_not_canonical(text):
    assert canonical(text) is None
