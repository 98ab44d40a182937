# libfilch.a and libfilch.so. Sources are found, not listed: a new file is picked up by the next build.

set(filch_rooms base os obs policy core fiber par)
set(filch_sources)
set(filch_path_sources)
foreach(room IN LISTS filch_rooms)
  file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.c)
  list(APPEND filch_sources ${found})
  if(room MATCHES "^(core|fiber)$")
    set_source_files_properties(${found} PROPERTIES COMPILE_OPTIONS -fno-stack-protector)
    list(APPEND filch_path_sources ${found})
  endif()
endforeach()

# The context switch: one file per CPU, or the portable one.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set(filch_cpu x86_64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(filch_cpu aarch64)
else()
  set(filch_cpu unknown)
endif()
set(filch_context_asm ${PROJECT_SOURCE_DIR}/src/os/context_${filch_cpu}.S)
if(NOT FILCH_UCONTEXT AND EXISTS ${filch_context_asm})
  list(REMOVE_ITEM filch_sources ${PROJECT_SOURCE_DIR}/src/os/context_ucontext.c)
  list(APPEND filch_sources ${filch_context_asm})
  set(filch_context_define)
else()
  set(filch_context_define FILCH_UCONTEXT=1)
endif()
if(NOT filch_sources)
  message(FATAL_ERROR "no sources found below ${PROJECT_SOURCE_DIR}/src")
endif()

# Only in the shared library: in a program that is linked statically there is no other posix_spawn to call.
set(filch_spawn_source ${PROJECT_SOURCE_DIR}/src/os/os_spawn.c)
list(REMOVE_ITEM filch_sources ${filch_spawn_source})

foreach(off config dump look report watch) # the path does not lead through these
  list(REMOVE_ITEM filch_path_sources ${PROJECT_SOURCE_DIR}/src/core/${off}.c)
endforeach()
set(filch_other_sources ${filch_sources})
list(REMOVE_ITEM filch_other_sources ${filch_path_sources})

# A task's path leads through many small functions in several files. clang and gcc's sanitizers do without. The option
# that makes plain code of it came with gcc 9.
string(TOUPPER "${CMAKE_BUILD_TYPE}" filch_build_type)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 9
   AND filch_build_type STREQUAL "RELEASE" AND NOT FILCH_SANITIZE)
  option(FILCH_LTO "Optimise core and fiber as a whole" ON)
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# What the two libraries are built with, and what they are built of.
function(filch_library_flags target)
  set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE ${filch_context_define})
  target_link_libraries(${target} PUBLIC Threads::Threads
    PRIVATE $<BUILD_INTERFACE:filch_warnings> $<BUILD_INTERFACE:filch_hardening>
            $<BUILD_INTERFACE:filch_sanitizer>)
endfunction()

# One object of all the files on the path of a task, in ${target}_path.o: gcc optimises them together, and what comes
# out is code like any other, so that who links the library knows nothing of it.
function(filch_add_path target pic)
  add_library(${target}_path OBJECT ${filch_path_sources})
  filch_library_flags(${target}_path)
  set_target_properties(${target}_path PROPERTIES POSITION_INDEPENDENT_CODE ${pic})
  target_compile_options(${target}_path PRIVATE -flto -fno-fat-lto-objects --param=large-unit-insns=1000000
    $<$<BOOL:${pic}>:-fno-semantic-interposition>)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${filch_build_type}}")
  add_custom_command(OUTPUT ${target}_path.o VERBATIM COMMAND_EXPAND_LISTS
    COMMAND ${CMAKE_C_COMPILER} ${flags} $<$<BOOL:${pic}>:-fPIC> -r -nostdlib -flto=auto -flinker-output=nolto-rel
      -o ${target}_path.o $<TARGET_OBJECTS:${target}_path>
    DEPENDS ${target}_path $<TARGET_OBJECTS:${target}_path>
    COMMENT "Optimising the path of a task as a whole (${target})")
endfunction()

function(filch_add_library target kind export_name pic)
  if(FILCH_LTO)
    filch_add_path(${target} ${pic})
    set(sources ${filch_other_sources} ${CMAKE_CURRENT_BINARY_DIR}/${target}_path.o)
  else()
    set(sources ${filch_sources})
  endif()
  add_library(${target} ${kind} ${sources})
  add_library(filch::${export_name} ALIAS ${target})
  filch_library_flags(${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME filch EXPORT_NAME ${export_name}
    POSITION_INDEPENDENT_CODE ${pic})
endfunction()

filch_add_library(filch_static STATIC filch_static OFF)

# A shared library under a sanitizer has no user: its tests link the static one.
if(NOT FILCH_SANITIZE)
  # libfilch_pic.a, to be linked into a user's shared object. By itself: compiled with -fPIC, a spawn and a join
  # take 3 % more instructions. What it has is hidden, so that two shared objects with a copy each keep to their own.
  filch_add_library(filch_pic STATIC filch_pic ON)
  set_target_properties(filch_pic PROPERTIES OUTPUT_NAME filch_pic)
  foreach(target filch_pic filch_pic_path)
    if(TARGET ${target})
      target_compile_definitions(${target} PRIVATE "FILCH_API=__attribute__((visibility(\"hidden\")))")
    endif()
  endforeach()
  target_compile_options(filch_pic PRIVATE $<$<COMPILE_LANGUAGE:C>:-fno-semantic-interposition>)

  filch_add_library(filch_shared SHARED filch ON)
  target_sources(filch_shared PRIVATE ${filch_spawn_source})
  set(filch_map ${PROJECT_SOURCE_DIR}/src/filch.map)
  set_target_properties(filch_shared PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${filch_map})
  target_compile_options(filch_shared PRIVATE $<$<COMPILE_LANGUAGE:C>:-fno-semantic-interposition>)
  # nodelete: worker threads may outlive a dlclose of the library whose code they run.
  target_link_options(filch_shared PRIVATE -Wl,--version-script=${filch_map}
    -Wl,-z,nodelete,-z,noexecstack,-z,relro,-z,now -Wl,-z,defs)
endif()
