# CuferryConfig.cmake - defines for find_package(Cuferry) the library Cuferry::cuferry and the function
# cuferry_add_kernels(); also the shared library Cuferry::shared and the library for MPI, Cuferry::mpi, if they are
# installed. The CMakeLists.txt of the source tree sets another prefix before it includes this file.

# This is the first version in which depfiles of custom commands work with Makefiles.
cmake_minimum_required(VERSION 3.20)

if(NOT TARGET Cuferry::cuferry)
    set(_cuferry_prefix "${CUFERRY_PREFIX}")
    if(NOT _cuferry_prefix)
        get_filename_component(_cuferry_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
    endif()
    add_library(Cuferry::cuferry STATIC IMPORTED)
    set_target_properties(Cuferry::cuferry PROPERTIES
        IMPORTED_LOCATION "${_cuferry_prefix}/lib/libcuferry.a"
        INTERFACE_INCLUDE_DIRECTORIES "${_cuferry_prefix}/include"
        INTERFACE_LINK_LIBRARIES "pthread;dl;m")
    if(EXISTS "${_cuferry_prefix}/lib/libcuferry.so.0")
        add_library(Cuferry::shared SHARED IMPORTED)
        set_target_properties(Cuferry::shared PROPERTIES
            IMPORTED_LOCATION "${_cuferry_prefix}/lib/libcuferry.so.0"
            IMPORTED_SONAME libcuferry.so.0
            INTERFACE_INCLUDE_DIRECTORIES "${_cuferry_prefix}/include")
    endif()
    # The component mpi finds MPI::MPI_C; a project that does not name the component has to find it.
    if(EXISTS "${_cuferry_prefix}/lib/libcuferry_mpi.a")
        add_library(Cuferry::mpi STATIC IMPORTED)
        set_target_properties(Cuferry::mpi PROPERTIES
            IMPORTED_LOCATION "${_cuferry_prefix}/lib/libcuferry_mpi.a"
            INTERFACE_LINK_LIBRARIES "Cuferry::cuferry;MPI::MPI_C")
    endif()
    unset(_cuferry_prefix)
endif()

foreach(_cuferry_component IN LISTS Cuferry_FIND_COMPONENTS)
    if(_cuferry_component MATCHES "^(cuferry|shared|mpi)$" AND TARGET Cuferry::${_cuferry_component})
        set(Cuferry_${_cuferry_component}_FOUND TRUE)
    elseif(Cuferry_FIND_REQUIRED_${_cuferry_component})
        set(Cuferry_FOUND FALSE)
        string(CONCAT Cuferry_NOT_FOUND_MESSAGE "the component '${_cuferry_component}' is not installed; components "
            "are cuferry, shared (./configure --enable-shared) and mpi (./configure --mpicc=mpicc)")
        return()
    endif()
endforeach()
if(Cuferry_mpi_FOUND AND Cuferry_FIND_REQUIRED_mpi)
    include(CMakeFindDependencyMacro)
    find_dependency(MPI COMPONENTS C)
elseif(Cuferry_mpi_FOUND)
    find_package(MPI QUIET COMPONENTS C)
    set(Cuferry_mpi_FOUND ${MPI_C_FOUND})
endif()

# Runs at the end of a folder's CMakeLists.txt, when the outputs of its commands are known. All other files must exist,
# except files in the build tree, which commands of other folders may make.
function(_cuferry_check_files target)
    foreach(file IN LISTS ARGN)
        get_source_file_property(is_generated "${file}" GENERATED)
        string(FIND "${file}/" "${CMAKE_BINARY_DIR}/" begin)
        if(NOT EXISTS "${file}" AND NOT is_generated AND
           (NOT begin EQUAL 0 OR CMAKE_BINARY_DIR STREQUAL CMAKE_SOURCE_DIR))
            message(FATAL_ERROR "cuferry_add_kernels(${target}): there is no file ${file}")
        endif()
    endforeach()
endfunction()

# cuferry_add_kernels(<target> [PREFIX p] [HEADER h.h] [TARGETS 80 90a ...] [TUNING file]
#                     [INCLUDE_DIRECTORIES dir...] [DEFINITIONS NAME[=TEXT]...] file.cu... [file.c...])
#
# Compiles kernel files, and C files of their operations, into the target with cfcc. The C files may instead be among
# the target's own sources. Include directories and definitions are those of the target and those named here. All C
# functions of one call begin with its prefix, by default the name of the first file; two calls need different prefixes.
# Their header, by default <prefix>.h, is on the include path of the target and of everything that links it. So is a
# header <file>.h for each further file, which includes the former, unless the target has a header of that name beside
# the file or in an include directory. The default of TARGETS is the target's CUDA_ARCHITECTURES, which CMake takes from
# CMAKE_CUDA_ARCHITECTURES; if that is OFF or not set, cfcc has a default.
#
# The runtime is Cuferry::shared if that is installed and CUFERRY_SHARED is not set to OFF, otherwise Cuferry::cuferry.
# A shared library exports its C functions. With Cuferry::cuferry it contains a copy of the runtime of its own, whose
# errors a program's cf_last_error() does not return.
# An object library hands its kernels on to the targets that link it, but not through $<TARGET_OBJECTS:...>.
function(cuferry_add_kernels target)
    set(files ${ARGN})
    list(FILTER files INCLUDE REGEX "\\.cuh?$")
    set(c_files ${ARGN})
    list(FILTER c_files INCLUDE REGEX "\\.c$")
    set(words ${ARGN})
    list(FILTER words EXCLUDE REGEX "\\.(c|cuh?)$")
    cmake_parse_arguments(arg "" "PREFIX;HEADER;TUNING" "TARGETS;INCLUDE_DIRECTORIES;DEFINITIONS" ${words})
    if(NOT TARGET ${target})
        message(FATAL_ERROR "cuferry_add_kernels: there is no target ${target}")
    elseif(NOT files OR arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "cuferry_add_kernels(${target}): no kernel file (.cu, .cuh) is named, or not understood: "
            "${arg_UNPARSED_ARGUMENTS}")
    endif()

    list(GET files 0 first)
    if(NOT arg_PREFIX)
        get_filename_component(arg_PREFIX "${first}" NAME_WLE)
    endif()
    if(NOT arg_HEADER)
        set(arg_HEADER "${arg_PREFIX}.h")
    endif()
    # Refuses at configuration what cfcc would refuse during the build.
    if(NOT arg_PREFIX MATCHES "^[A-Za-z][A-Za-z0-9_]*$" OR arg_PREFIX MATCHES "^cf(_|$)")
        message(FATAL_ERROR "cuferry_add_kernels(${target}): C functions cannot begin with '${arg_PREFIX}'; give "
            "another PREFIX")
    endif()
    if(NOT arg_TARGETS)
        get_target_property(arg_TARGETS ${target} CUDA_ARCHITECTURES)
        if(arg_TARGETS MATCHES "NOTFOUND$")
            set(arg_TARGETS "${CMAKE_CUDA_ARCHITECTURES}")
        endif()
    endif()
    string(REPLACE "," ";" arg_TARGETS "${arg_TARGETS}")
    foreach(name IN LISTS arg_TARGETS)
        if(arg_TARGETS AND NOT name MATCHES
           "^(major|all-major|all|native|(sm_)?[0-9][0-9][0-9]?[af]?(-real|-virtual)?|compute_[0-9][0-9][0-9]?[af]?)$")
            message(FATAL_ERROR "cuferry_add_kernels(${target}): '${name}' is no target; they are major, all, native, "
                "or compute capabilities such as 80 90a 100f")
        endif()
    endforeach()
    get_target_property(library Cuferry::cuferry IMPORTED_LOCATION)
    get_filename_component(prefix "${library}/../.." ABSOLUTE)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/cuferry/${target}")
    file(MAKE_DIRECTORY "${folder}")
    set(object "${folder}/${arg_PREFIX}.o")
    set(header "${folder}/${arg_HEADER}")
    set(headers "${header}")
    set(sources)
    foreach(file IN LISTS files c_files)
        get_filename_component(file "${file}" ABSOLUTE)
        list(APPEND sources "${file}")
        # Only operations get a header for C files; a listed output that is never made would always be out of date.
        set(found "${c_files}")
        if(NOT found AND EXISTS "${file}")
            file(STRINGS "${file}" found REGEX "^[ \t]*#[ \t]*pragma[ \t]+cf[ \t]+operation")
        endif()
        if(found)
            string(REGEX REPLACE "\\.h$" "" internal "${header}")
            list(APPEND headers "${internal}_internal.h")
        endif()
    endforeach()
    list(REMOVE_DUPLICATES headers)
    get_target_property(own ${target} INCLUDE_DIRECTORIES)
    set(stems)
    foreach(file IN LISTS files)
        get_filename_component(stem "${file}" NAME_WLE)
        get_filename_component(beside "${file}" DIRECTORY)
        if(stem IN_LIST stems)
            message(FATAL_ERROR "cuferry_add_kernels(${target}): two files are called ${stem}; rename one of them")
        endif()
        list(APPEND stems "${stem}")
        # Searches only these folders; find_file() would also search the system's folders, and cache its result.
        set(theirs)
        foreach(directory IN ITEMS "${beside}" LISTS own arg_INCLUDE_DIRECTORIES)
            get_filename_component(directory "${directory}" ABSOLUTE)
            if(NOT directory STREQUAL folder AND EXISTS "${directory}/${stem}.h")
                set(theirs "${directory}/${stem}.h")
            endif()
        endforeach()
        if(NOT "${folder}/${stem}.h" IN_LIST headers AND NOT theirs)
            # The header begins with "Generated by cfgen", so that cfcc may replace it, for instance after a change of
            # the prefix.
            string(CONCAT text "/* Generated by cfgen and CMake: ${arg_HEADER} declares the functions of ${stem}. */\n"
                "#include \"${arg_HEADER}\"\n")
            file(CONFIGURE OUTPUT "${folder}/${stem}.h" @ONLY CONTENT "${text}")
        endif()
    endforeach()
    set(inputs ${sources})
    set(flags)
    set(runtime Cuferry::cuferry)
    if(TARGET Cuferry::shared AND (NOT DEFINED CUFERRY_SHARED OR CUFERRY_SHARED))
        set(runtime Cuferry::shared)
    endif()
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(SHARED|MODULE)_LIBRARY$")
        set(flags --export)
    endif()
    if(arg_TUNING)
        get_filename_component(arg_TUNING "${arg_TUNING}" ABSOLUTE)
        list(APPEND inputs "${arg_TUNING}")
        list(APPEND flags --tuning "${arg_TUNING}")
    endif()
    cmake_language(EVAL CODE "cmake_language(DEFER CALL _cuferry_check_files [==[${target}]==] [==[${inputs}]==])")
    foreach(directory IN LISTS arg_INCLUDE_DIRECTORIES)
        get_filename_component(directory "${directory}" ABSOLUTE)
        list(APPEND flags "-I${directory}")
    endforeach()
    foreach(definition IN LISTS arg_DEFINITIONS)
        list(APPEND flags "-D${definition}")
    endforeach()
    # Include directories and definitions of the target and of the libraries that it links.
    set(folders "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
    set(macros "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
    if(arg_TARGETS)
        list(JOIN arg_TARGETS "," targets)
        list(APPEND flags "--targets=${targets}")
    endif()

    # The headers are byproducts, because their times stay the same as long as their texts do.
    add_custom_command(
        OUTPUT "${object}"
        BYPRODUCTS ${headers}
        COMMAND "${prefix}/bin/cfcc" --prefix "${arg_PREFIX}" -o "${object}" --header "${header}" -MF "${object}.d"
            ${flags} "$<$<BOOL:${folders}>:-I$<JOIN:${folders},;-I>>" "$<$<BOOL:${macros}>:-D$<JOIN:${macros},;-D>>"
            ${sources}
        DEPENDS ${inputs} "${prefix}/bin/cfcc" "${prefix}/lib/cuferry/cfcc.json"
        DEPFILE "${object}.d"
        COMMENT "Compiling kernels ${arg_PREFIX}"
        COMMAND_EXPAND_LISTS
        VERBATIM)
    set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    target_sources(${target} PRIVATE "${object}")
    if(type STREQUAL OBJECT_LIBRARY)
        target_sources(${target} INTERFACE "${object}")
    endif()
    # As properties, these work with both signatures of target_link_libraries().
    set_property(TARGET ${target} APPEND PROPERTY INCLUDE_DIRECTORIES "${folder}")
    set_property(TARGET ${target} APPEND PROPERTY INTERFACE_INCLUDE_DIRECTORIES "$<BUILD_INTERFACE:${folder}>")
    set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES ${runtime})
    if(type STREQUAL SHARED_LIBRARY AND runtime STREQUAL Cuferry::cuferry)
        # The target contains the runtime, so that only the include directory is part of its interface.
        get_target_property(include Cuferry::cuferry INTERFACE_INCLUDE_DIRECTORIES)
        set_property(TARGET ${target} APPEND PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${include}")
    else()
        set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${runtime})
    endif()
endfunction()
