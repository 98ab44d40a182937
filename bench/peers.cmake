# The runtimes that filch is compared with. First Go and Tokio, from the distribution's packages and
# without network; each is one program, and its build tool keeps what it needs in the build folder.

# bench_peer(NAME FOLDER BUILT COMMAND...): runs COMMAND in FOLDER, which makes BUILT.
function(bench_peer name folder built)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/peers/${name}/*)
  set(program ${bench_out}/filch-bench-${name})
  add_custom_command(OUTPUT ${program}
    COMMAND ${CMAKE_COMMAND} -E env ${ARGN}
    COMMAND ${CMAKE_COMMAND} -E copy ${built} ${program}
    WORKING_DIRECTORY ${folder} DEPENDS ${sources} VERBATIM COMMENT "Building filch-bench-${name}")
  set(bench_programs ${bench_programs} ${program} PARENT_SCOPE)
endfunction()

find_program(BENCH_GO NAMES go)
if(BENCH_GO AND BENCH_GCC)
  set(go_out ${bench_out}/go)
  bench_peer(go ${CMAKE_CURRENT_SOURCE_DIR}/peers/go ${go_out}/tasks
    GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOCACHE=${go_out}/cache GOPATH=${go_out}
    CGO_ENABLED=1 CC=${BENCH_GCC} ${BENCH_GO} build -trimpath -buildvcs=false -o ${go_out}/tasks .)
else()
  message(STATUS "filch bench will be without go")
endif()

# Debian's cargo and rustc, if they are there, whatever else is in the path.
find_program(BENCH_CARGO NAMES cargo PATHS /usr/bin NO_DEFAULT_PATH)
find_program(BENCH_RUSTC NAMES rustc PATHS /usr/bin NO_DEFAULT_PATH)
find_program(BENCH_CARGO NAMES cargo)
find_program(BENCH_RUSTC NAMES rustc)
set(BENCH_CRATES /usr/share/cargo/registry CACHE PATH "Debian's Rust libraries, Tokio among them")
file(GLOB tokio_crate ${BENCH_CRATES}/tokio-1.*)
if(BENCH_CARGO AND BENCH_RUSTC AND tokio_crate)
  set(tokio_out ${bench_out}/tokio)
  list(GET tokio_crate -1 newest)
  string(REGEX REPLACE ".*/tokio-" "" tokio_version ${newest})
  set(tokio_source ${CMAKE_CURRENT_SOURCE_DIR}/peers/tokio)
  configure_file(peers/tokio/Cargo.toml.in ${tokio_out}/Cargo.toml @ONLY)
  configure_file(peers/tokio/config.toml.in ${tokio_out}/.cargo/config.toml @ONLY)
  bench_peer(tokio ${tokio_out} ${tokio_out}/target/release/tasks
    CARGO_HOME=${tokio_out}/home CARGO_TARGET_DIR=${tokio_out}/target RUSTC=${BENCH_RUSTC}
    TOKIO_VERSION=${tokio_version} ${BENCH_CARGO} build --release --offline --quiet)
else()
  message(STATUS "filch bench will be without tokio")
endif()

# OpenMP tasks: libgomp by gcc, libomp by clang.
file(GLOB omp_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/omp/*.c)
macro(bench_omp name compiler)
  set(objects)
  foreach(source IN LISTS omp_sources)
    bench_object(objects ${name} ${compiler} ${source} ${bench_c} -O3 -fopenmp)
  endforeach()
  bench_program(${name} ${compiler} "${objects};${common}" -fopenmp)
endmacro()
bench_works(gomp "${BENCH_GCC}" c omp.h -fopenmp)
if(gomp)
  bench_omp(gomp ${BENCH_GCC})
endif()
bench_works(omp "${BENCH_CLANG}" c omp.h -fopenmp)
if(omp)
  bench_omp(omp ${BENCH_CLANG})
endif()

# oneTBB task_group.
bench_works(tbb "${BENCH_GXX}" c++ oneapi/tbb/task_group.h -x none -std=c++17 -ltbb)
if(tbb)
  file(GLOB tbb_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/tbb/*.cpp)
  set(objects)
  foreach(source IN LISTS tbb_sources)
    bench_object(objects tbb ${BENCH_GXX} ${source} -std=c++17 ${bench_warnings} -O3)
  endforeach()
  bench_program(tbb ${BENCH_GXX} "${objects};${common}" -ltbb)
endif()
