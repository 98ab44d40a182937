# filch-soak, which `filch soak` starts: the static library with a shaking layer over os.h, put
# between the two by the linker (tools/soak/seam.c).

file(GLOB filch_soak_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/soak/*.c)
add_executable(filch_soak ${filch_soak_sources}
  ${PROJECT_SOURCE_DIR}/tools/json.c ${PROJECT_SOURCE_DIR}/tools/term.c)
set_target_properties(filch_soak PROPERTIES OUTPUT_NAME filch-soak
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_include_directories(filch_soak PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(filch_soak PRIVATE filch_static filch_warnings filch_sanitizer m)
foreach(name self_get self_set pause pause_for clock_ns thread_start thread_yield futex_wait futex_wake membarrier
        membarrier_init alloc alloc_aligned pages_reserve random_seed context_switch)
  target_link_options(filch_soak PRIVATE LINKER:--wrap=os_${name})
endforeach()
if(NOT FILCH_SANITIZE)
  install(TARGETS filch_soak RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/filch)
endif()
