# The runtimes that filch is compared with. First Go, Tokio and Rayon, from the distribution's packages and
# without network; each is one program, and its build tool keeps what it needs in the build folder.

# bench_peer(NAME FOLDER BUILT COPY COMMAND...): runs COMMAND in FOLDER, which makes BUILT.
function(bench_peer name folder built copy)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/peers/${name}/*)
  add_custom_command(OUTPUT ${copy}
    COMMAND ${CMAKE_COMMAND} -E env ${ARGN}
    COMMAND ${CMAKE_COMMAND} -E copy ${built} ${copy}
    WORKING_DIRECTORY ${folder} DEPENDS ${sources} VERBATIM COMMENT "Building the ${name} peer")
endfunction()

find_program(BENCH_GO NAMES go)
if(BENCH_GO AND BENCH_GCC)
  set(go_out ${bench_out}/go)
  bench_peer(go ${CMAKE_CURRENT_SOURCE_DIR}/peers/go ${go_out}/tasks ${bench_out}/filch-bench-go
    GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOCACHE=${go_out}/cache GOPATH=${go_out}
    CGO_ENABLED=1 CC=${BENCH_GCC} ${BENCH_GO} build -trimpath -buildvcs=false -o ${go_out}/tasks .)
  list(APPEND bench_programs ${bench_out}/filch-bench-go)
else()
  message(STATUS "filch bench will be without go")
endif()

# A script: the copy is the program.
find_program(BENCH_PYTHON NAMES python3)
if(BENCH_PYTHON)
  set(python_copy ${bench_out}/filch-bench-sim-python)
  set(python_script ${CMAKE_CURRENT_SOURCE_DIR}/sim/steal.py)
  add_custom_command(OUTPUT ${python_copy} COMMAND ${CMAKE_COMMAND} -E copy ${python_script} ${python_copy}
    DEPENDS ${python_script} VERBATIM COMMENT "Copying the Python peer")
  list(APPEND bench_programs ${python_copy})
else()
  message(STATUS "filch bench will be without python")
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
  bench_peer(tokio ${tokio_out} ${tokio_out}/target/release/tasks ${bench_out}/filch-bench-tokio
    CARGO_HOME=${tokio_out}/home CARGO_TARGET_DIR=${tokio_out}/target RUSTC=${BENCH_RUSTC}
    TOKIO_VERSION=${tokio_version} ${BENCH_CARGO} build --release --offline --quiet)
  list(APPEND bench_programs ${bench_out}/filch-bench-tokio)
else()
  message(STATUS "filch bench will be without tokio")
endif()

# Rayon is a library here: main, inputs and checks are those of the other runtimes.
file(GLOB rayon_crate ${BENCH_CRATES}/rayon-1.*)
if(BENCH_CARGO AND BENCH_RUSTC AND rayon_crate)
  set(rayon_out ${bench_out}/rayon)
  list(GET rayon_crate -1 newest)
  string(REGEX REPLACE ".*/rayon-" "" rayon_version ${newest})
  set(rayon_source ${CMAKE_CURRENT_SOURCE_DIR}/peers/rayon)
  configure_file(peers/rayon/Cargo.toml.in ${rayon_out}/Cargo.toml @ONLY)
  configure_file(peers/tokio/config.toml.in ${rayon_out}/.cargo/config.toml @ONLY)
  set(rayon_library ${bench_out}/objects/librayon-par.a)
  bench_peer(rayon ${rayon_out} ${rayon_out}/target/release/libpar.a ${rayon_library}
    CARGO_HOME=${rayon_out}/home CARGO_TARGET_DIR=${rayon_out}/target RUSTC=${BENCH_RUSTC}
    RAYON_VERSION=${rayon_version} ${BENCH_CARGO} build --release --offline --quiet)
  bench_program(par-rayon ${BENCH_GCC} "${par_common};${rayon_library}" -pthread -ldl -lrt)
else()
  message(STATUS "filch bench will be without rayon")
endif()

# OpenMP: libgomp by gcc, libomp by clang.
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
bench_works(par-gomp "${BENCH_GXX}" c++ parallel/algorithm -x none -std=c++17 -fopenmp)
if(par-gomp)
  bench_par(par-gomp omp ${BENCH_GXX} "${bench_cxx};-fopenmp" -fopenmp)
endif()
bench_works(omp "${BENCH_CLANG}" c omp.h -fopenmp)
if(omp)
  bench_omp(omp ${BENCH_CLANG})
endif()
bench_works(par-omp "${BENCH_CLANGXX}" c++ parallel/algorithm -x none -std=c++17 -fopenmp)
if(par-omp)
  bench_par(par-omp omp ${BENCH_CLANGXX} "${bench_cxx};-fopenmp" -fopenmp)
endif()

# oneTBB: task_group, and its algorithms.
bench_works(tbb "${BENCH_GXX}" c++ oneapi/tbb/task_group.h -x none -std=c++17 -ltbb)
if(tbb)
  file(GLOB tbb_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/tbb/*.cpp)
  set(objects)
  foreach(source IN LISTS tbb_sources)
    bench_object(objects tbb ${BENCH_GXX} ${source} ${bench_cxx} -O3)
  endforeach()
  bench_program(tbb ${BENCH_GXX} "${objects};${common}" -ltbb)
  bench_par(par-tbb tbb ${BENCH_GXX} "${bench_cxx}" -ltbb)
endif()
