"""conanfile.py - tests the package: builds and runs a user's project with it. `conan create` runs this file at its
end."""

import io
import os

from conan import ConanFile
from conan.errors import ConanException
from conan.tools.cmake import CMake

TREE = os.path.join("..", "..", "..", "..")


class CuferryTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeToolchain"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        self.folders.build = self.folders.generators = os.path.join(TREE, "build", "conan")

    def build(self):
        cmake = CMake(self)
        cmake.configure(build_script_folder=os.path.join(TREE, "tests", "consumers", "cmake"))
        cmake.build()

    def test(self):
        printed = io.StringIO()
        self.run(os.path.join(self.build_folder, "diffusion"), printed, env="conanrun")
        if not printed.getvalue().startswith("largest difference after 20 steps: 0,"):
            raise ConanException(printed.getvalue())
