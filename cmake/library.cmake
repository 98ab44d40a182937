# libfilch.a and libfilch.so. Sources are found, not listed: a new file is picked up by the next build.

set(filch_rooms base os obs core fiber par)
set(filch_sources)
foreach(room IN LISTS filch_rooms)
  file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.c)
  list(APPEND filch_sources ${found})
  if(room MATCHES "^(core|fiber)$")
    set_source_files_properties(${found} PROPERTIES COMPILE_OPTIONS -fno-stack-protector)
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

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

function(filch_add_library target kind export_name)
  add_library(${target} ${kind} ${filch_sources})
  add_library(filch::${export_name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME filch EXPORT_NAME ${export_name}
    C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE ${filch_context_define})
  target_link_libraries(${target} PUBLIC Threads::Threads
    PRIVATE $<BUILD_INTERFACE:filch_warnings> $<BUILD_INTERFACE:filch_hardening>
            $<BUILD_INTERFACE:filch_sanitizer>)
endfunction()

filch_add_library(filch_static STATIC filch_static)

# A shared library under a sanitizer has no user: its tests link the static one.
if(NOT FILCH_SANITIZE)
  filch_add_library(filch_shared SHARED filch)
  set(filch_map ${PROJECT_SOURCE_DIR}/src/filch.map)
  set_target_properties(filch_shared PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${filch_map})
  target_compile_options(filch_shared PRIVATE $<$<COMPILE_LANGUAGE:C>:-fno-semantic-interposition>)
  # nodelete: worker threads may outlive a dlclose of the library whose code they run.
  target_link_options(filch_shared PRIVATE -Wl,--version-script=${filch_map}
    -Wl,-z,nodelete,-z,noexecstack,-z,relro,-z,now -Wl,-z,defs)
endif()
