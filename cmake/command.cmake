# The command `filch`: tools/*.c, a user of the library like any other, with public headers only; and of the
# simulator.

# Style and scripts of pages, as strings.
set(filch_page_files sim_replay.js=sim_replay_script sim_gantt.js=sim_gantt_script sim_page.js=sim_page_script
  sim_page.css=sim_page_style)
list(TRANSFORM filch_page_files REPLACE "(.+)=(.+)" "\\2=${PROJECT_SOURCE_DIR}/tools/\\1")
list(TRANSFORM filch_page_files REPLACE ".+=" "" OUTPUT_VARIABLE filch_page_sources)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/sim_page_files.c
  COMMAND ${CMAKE_COMMAND} -DOUT=${PROJECT_BINARY_DIR}/sim_page_files.c "-DFILES=${filch_page_files}"
    -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${filch_page_sources} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  VERBATIM)
add_library(filch_pages OBJECT ${PROJECT_BINARY_DIR}/sim_page_files.c)

file(GLOB filch_tool_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*.c)
if(filch_tool_sources)
  add_executable(filch_command ${filch_tool_sources})
  set_target_properties(filch_command PROPERTIES OUTPUT_NAME filch
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_include_directories(filch_command PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(filch_command PRIVATE filch_sim filch_static filch_pages filch_warnings filch_sanitizer m)
endif()
