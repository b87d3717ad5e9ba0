"""package.py - a recipe for Spack 1, which builds the tree that contains it:
spack repo add tools/packaging/spack_repo/cuferry."""

import os

from spack.package import (Executable, conflicts, depends_on, license, on_package_attributes, run_after, variant,
                           version, which)
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.generic import Package

TREE = os.path.dirname(os.path.realpath(__file__)).rsplit(os.sep, 6)[0]


class Cuferry(Package, CudaPackage):
    """CUDA kernels as typed C functions, on a GPU or on the CPU."""

    git = f"file://{TREE}"

    license("MIT")

    version("main", branch="main")

    variant("shared", default=True, description="Also build the shared library")
    variant("mpi", default=False, description="Also build the library for the ranks of MPI")

    depends_on("c", type="build")
    depends_on("cxx", type=("build", "run"))
    depends_on("ninja@1.8:", type="build")
    depends_on("python@3.8:", type=("build", "run"))
    depends_on("binutils", type=("build", "run"))
    depends_on("cuda@12:", when="+cuda")
    depends_on("mpi", when="+mpi")
    conflicts("platform=darwin", msg="Cuferry needs Linux")
    conflicts("platform=windows", msg="Cuferry needs Linux")

    def configure_options(self):
        """Returns the options of configure. GPUs are named as 80 or 90a; if none is named, configure has a default."""
        options = [f"--prefix={self.prefix}"]
        options += ["--enable-shared"] if self.spec.satisfies("+shared") else []
        options += [f"--mpicc={self.spec['mpi'].mpicc}"] if self.spec.satisfies("+mpi") else []
        if not self.spec.satisfies("+cuda"):
            return [*options, "--cuda=no"]
        options.append(f"--cuda={self.spec['cuda'].prefix}")
        targets = [name for name in self.spec.variants["cuda_arch"].value if name != "none"]
        return options + ([f"--targets={','.join(targets)}"] if targets else [])

    def install(self, spec, prefix):
        Executable("./configure")(*self.configure_options())
        which("ninja", required=True)("-C", "build", "install")

    def setup_run_environment(self, env):
        env.prepend_path("PKG_CONFIG_PATH", self.prefix.lib.pkgconfig)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(self.prefix.bin.join("cf-info"))()
