# The command `filch`: tools/*.c, a user of the library like any other, with public headers only.

# Style and script of pages, as strings.
set(filch_page_files ${PROJECT_BINARY_DIR}/sim_page_files.c)
add_custom_command(OUTPUT ${filch_page_files}
  COMMAND ${CMAKE_COMMAND} -DOUT=${filch_page_files}
    "-DFILES=sim_page_script=${PROJECT_SOURCE_DIR}/tools/sim_page.js\;sim_page_style=${PROJECT_SOURCE_DIR}/tools/sim_page.css"
    -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${PROJECT_SOURCE_DIR}/tools/sim_page.js ${PROJECT_SOURCE_DIR}/tools/sim_page.css
    ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  VERBATIM)
add_library(filch_pages OBJECT ${filch_page_files})

file(GLOB filch_tool_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*.c)
if(filch_tool_sources)
  add_executable(filch_command ${filch_tool_sources})
  set_target_properties(filch_command PROPERTIES OUTPUT_NAME filch
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_include_directories(filch_command PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(filch_command PRIVATE filch_static filch_pages filch_warnings filch_sanitizer m)
endif()
