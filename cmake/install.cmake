# What `make install` puts where.

include(CMakePackageConfigHelpers)
set(filch_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/filch)

set(filch_libraries filch_static)
if(TARGET filch_shared)
  list(APPEND filch_libraries filch_shared filch_pic)
endif()
install(TARGETS ${filch_libraries} EXPORT filch-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_SOURCE_DIR}/include/filch.h ${PROJECT_SOURCE_DIR}/include/filch.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/filch DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
if(TARGET filch_command)
  install(TARGETS filch_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(FILES ${PROJECT_SOURCE_DIR}/tools/gdb/filch-gdb.py DESTINATION ${CMAKE_INSTALL_DATADIR}/filch)

install(EXPORT filch-targets NAMESPACE filch:: DESTINATION ${filch_package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/filch-config.cmake.in
  ${PROJECT_BINARY_DIR}/filch-config.cmake INSTALL_DESTINATION ${filch_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/filch-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/filch-config.cmake ${PROJECT_BINARY_DIR}/filch-config-version.cmake
  DESTINATION ${filch_package_dir})

# filch.pc finds its prefix from where it lies, so that a tree that was moved still works.
set(filch_pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(filch_pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(filch_pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
  set(filch_pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH filch_pc_up /p/${filch_pc_dir} /p)
  string(REGEX REPLACE "/$" "" filch_pc_up "${filch_pc_up}")
  set(filch_pc_prefix "\${pcfiledir}/${filch_pc_up}")
  set(filch_pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(filch_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(${PROJECT_SOURCE_DIR}/filch.pc.in ${PROJECT_BINARY_DIR}/filch.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/filch.pc DESTINATION ${filch_pc_dir})

foreach(section 1 3 7)
  file(GLOB filch_man CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.${section})
  if(filch_man)
    install(FILES ${filch_man} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  endif()
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
