# The benchmark programs, build/bench/filch-bench-NAME: one per runtime and compiler, whatever the rest
# is compiled with, so that `filch bench` can compare them. A compiler or a peer that is not installed
# is left out (`make peers` installs them).

set(filch_bench_dir ${PROJECT_BINARY_DIR}/bench)
set(bench ${PROJECT_SOURCE_DIR}/bench)
set(filch_bench_programs)
file(MAKE_DIRECTORY ${filch_bench_dir})
file(GLOB filch_bench_headers CONFIGURE_DEPENDS ${bench}/*/*.h ${PROJECT_SOURCE_DIR}/include/*.h
  ${PROJECT_SOURCE_DIR}/include/filch/*.h)
file(GLOB filch_bench_common CONFIGURE_DEPENDS ${bench}/common/*.c)
list(APPEND filch_bench_common ${PROJECT_SOURCE_DIR}/tools/sha1.c)

set(filch_bench_flags -g -I${PROJECT_SOURCE_DIR}/include -Wall -Wextra)
if(FILCH_WERROR)
  list(APPEND filch_bench_flags -Werror)
endif()

# filch_bench_program(NAME COMPILER [FLAGS ...] [TWICE ...] [C ...] [SOURCES ...] [LIBRARIES ...])
# SOURCES are compiled and linked by COMPILER. TWICE is compiled once more with BENCH_BOUNDED, C by gcc
# for a program of another language; both become one object first.
function(filch_bench_program name compiler)
  cmake_parse_arguments(arg "" "" "FLAGS;TWICE;C;SOURCES;LIBRARIES" ${ARGN})
  find_program(filch_bench_${compiler} ${compiler})
  if(NOT filch_bench_${compiler})
    return()
  endif()
  set(program ${filch_bench_dir}/filch-bench-${name})
  set(command ${compiler} ${arg_FLAGS} ${filch_bench_flags})
  set(objects)
  set(before)
  if(arg_TWICE)
    list(APPEND before COMMAND ${command} -DBENCH_BOUNDED -r -nostdlib ${arg_TWICE} -o ${program}.bounded.o)
    list(APPEND objects ${program}.bounded.o)
  endif()
  if(arg_C)
    list(APPEND before COMMAND gcc -std=gnu11 -O3 ${filch_bench_flags} -r -nostdlib ${arg_C} -o ${program}.c.o)
    list(APPEND objects ${program}.c.o)
  endif()
  add_custom_command(OUTPUT ${program} ${before}
    COMMAND ${command} ${arg_TWICE} ${arg_SOURCES} ${objects} ${arg_LIBRARIES} -lm -o ${program}
    DEPENDS ${arg_TWICE} ${arg_C} ${arg_SOURCES} ${filch_bench_headers} filch_static
    COMMENT "Building benchmark filch-bench-${name}" VERBATIM)
  set(filch_bench_programs ${filch_bench_programs} ${program} PARENT_SCOPE)
endfunction()

file(GLOB serial CONFIGURE_DEPENDS ${bench}/serial/*.c)
file(GLOB omp CONFIGURE_DEPENDS ${bench}/omp/*.c)
file(GLOB tbb CONFIGURE_DEPENDS ${bench}/tbb/*.cpp)
file(GLOB pool CONFIGURE_DEPENDS ${bench}/pool/*.c)
file(GLOB tasks CONFIGURE_DEPENDS ${bench}/filch/*.c)
list(REMOVE_ITEM tasks ${bench}/filch/runtime.c)
set(library $<TARGET_FILE:filch_static> -pthread)
set(gnu11 -std=gnu11)

filch_bench_program(serial gcc FLAGS ${gnu11} -O3 SOURCES ${serial} ${filch_bench_common})
foreach(build gcc-O3 gcc-O2 clang-O3)
  string(REPLACE "-" ";" words ${build})
  list(GET words 0 compiler)
  list(GET words 1 level)
  filch_bench_program(${build} ${compiler} FLAGS ${gnu11} -${level} TWICE ${tasks}
    SOURCES ${bench}/filch/runtime.c ${filch_bench_common} LIBRARIES ${library})
endforeach()
filch_bench_program(pool gcc FLAGS ${gnu11} -O3 SOURCES ${pool} LIBRARIES ${library})

# The peers.
file(WRITE ${filch_bench_dir}/probe.c "#include <omp.h>\nint main(void) { return omp_get_num_threads() - 1; }\n")
function(filch_bench_omp name compiler flag)
  execute_process(COMMAND ${compiler} ${flag} ${filch_bench_dir}/probe.c -o ${filch_bench_dir}/probe
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed STREQUAL "0")
    filch_bench_program(${name} ${compiler} FLAGS ${gnu11} -O3 ${flag} SOURCES ${omp} ${filch_bench_common})
    set(filch_bench_programs ${filch_bench_programs} PARENT_SCOPE)
  endif()
endfunction()
filch_bench_omp(gomp gcc -fopenmp)
filch_bench_omp(omp clang -fopenmp=libomp)
find_path(filch_tbb_include oneapi/tbb/task_group.h NO_CACHE)
if(filch_tbb_include)
  filch_bench_program(tbb g++ FLAGS -std=c++17 -O3 SOURCES ${tbb} C ${filch_bench_common} LIBRARIES -ltbb)
endif()

add_custom_target(filch_bench ALL DEPENDS ${filch_bench_programs})
