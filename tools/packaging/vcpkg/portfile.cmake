# portfile.cmake - a port for vcpkg, which builds the tree that contains it: --overlay-ports=tools/packaging/vcpkg.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
vcpkg_find_acquire_program(NINJA)
vcpkg_find_acquire_program(PYTHON3)

set(options "--prefix=${CURRENT_PACKAGES_DIR}" "PYTHON=${PYTHON3}")
if(NOT "cuda" IN_LIST FEATURES)
    list(APPEND options --cuda=no)
endif()
if(VCPKG_LIBRARY_LINKAGE STREQUAL dynamic)
    list(APPEND options --enable-shared)
endif()
set(build "${CURRENT_BUILDTREES_DIR}/${TARGET_TRIPLET}-rel")
vcpkg_execute_required_process(
    COMMAND "${SOURCE_PATH}/configure" "--builddir=${build}" ${options}
    WORKING_DIRECTORY "${CURRENT_BUILDTREES_DIR}"
    LOGNAME "configure-${TARGET_TRIPLET}")
vcpkg_execute_required_process(
    COMMAND "${NINJA}" -C "${build}" install
    WORKING_DIRECTORY "${CURRENT_BUILDTREES_DIR}"
    LOGNAME "build-${TARGET_TRIPLET}")

# cfcc and CuferryConfig.cmake look for files relative to themselves, so that programs have to stay in bin and the CMake
# files in lib/cmake.
set(VCPKG_POLICY_SKIP_MISPLACED_CMAKE_FILES_CHECK enabled)
set(VCPKG_POLICY_SKIP_LIB_CMAKE_MERGE_CHECK enabled)
set(VCPKG_POLICY_ALLOW_EXES_IN_BIN enabled)
set(VCPKG_POLICY_MISMATCHED_NUMBER_OF_BINARIES enabled)
file(INSTALL "${SOURCE_PATH}/LICENSE" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}" RENAME copyright)
