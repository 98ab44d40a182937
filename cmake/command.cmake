# The command `filch`: tools/*.c, a user of the library like any other, with public headers only.

file(GLOB filch_tool_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*.c)
if(filch_tool_sources)
  add_executable(filch_command ${filch_tool_sources})
  set_target_properties(filch_command PROPERTIES OUTPUT_NAME filch
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_include_directories(filch_command PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(filch_command PRIVATE filch_static filch_warnings filch_sanitizer m)
endif()
