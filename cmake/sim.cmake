# libfilch_sim.a: the simulator (src/sim), for the command and its tests. Not installed, not part of libfilch.
# Times are computed in floating point here and there: no contracted multiplications, so that every compiler
# gives the same bits.

file(GLOB filch_sim_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/sim/*.c)
add_library(filch_sim STATIC ${filch_sim_sources})
target_include_directories(filch_sim PUBLIC ${PROJECT_SOURCE_DIR}/src)
target_compile_options(filch_sim PRIVATE -ffp-contract=off -fno-math-errno)
target_link_libraries(filch_sim PUBLIC filch_static PRIVATE filch_warnings filch_sanitizer)
