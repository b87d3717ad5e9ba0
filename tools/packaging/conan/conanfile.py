"""conanfile.py - a recipe for Conan 2, which builds the tree that contains it: conan create tools/packaging/conan."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.files import copy, load

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))


class Cuferry(ConanFile):
    name = "cuferry"
    description = "CUDA kernels as typed C functions, on a GPU or on the CPU"
    license = "MIT"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    # cuda: the toolkit's folder; "auto": configure looks for it; "no": without GPU code. targets: GPUs, such as 80,90a.
    options = {"shared": [True, False], "cuda": ["no", "auto", "ANY"], "targets": ["major", "ANY"]}
    default_options = {"shared": False, "cuda": "no", "targets": "major"}

    def set_version(self):
        header = load(self, os.path.join(TREE, "include", "cuferry.h"))
        self.version = ".".join(re.findall(r"#define CF_VERSION_\w+ (\d+)", header)[:3])

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Cuferry needs Linux")

    def export_sources(self):
        copy(self, "*", src=TREE, dst=self.export_sources_folder, excludes=("build*/*", "*__pycache__*", ".git*"))

    def build(self):
        words = [f"--prefix='{self.package_folder}'", f"--targets='{self.options.targets}'"]
        words += ["--enable-shared"] if self.options.shared else []
        words += [] if self.options.cuda == "auto" else [f"--cuda='{self.options.cuda}'"]
        self.run(f"./configure {' '.join(words)}")
        self.run("ninja -C build")

    def package(self):
        self.run("ninja -C build install")
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        # The package has its own CMake files, with cuferry_add_kernels().
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "Cuferry")]
        self.cpp_info.set_property("pkg_config_name", "cuferry")
        self.cpp_info.libs = ["cuferry"]
        self.cpp_info.system_libs = [] if self.options.shared else ["pthread", "dl", "m"]
