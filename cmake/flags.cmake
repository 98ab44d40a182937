# Flags, as interface targets: what a target is built with is what it links.

# Everything of ours: warnings and, if asked for, a sanitizer.
add_library(filch_warnings INTERFACE)
target_compile_options(filch_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wshadow;-Wconversion;-Wmissing-prototypes>
  $<$<AND:$<COMPILE_LANGUAGE:C>,$<BOOL:${FILCH_WERROR}>>:-Werror>)

add_library(filch_sanitizer INTERFACE)
if(FILCH_SANITIZE STREQUAL "address")
  set(filch_sanitize_flags -fsanitize=address,undefined)
  target_compile_options(filch_sanitizer INTERFACE ${filch_sanitize_flags}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(filch_sanitizer INTERFACE ${filch_sanitize_flags})
elseif(FILCH_SANITIZE STREQUAL "thread")
  set(filch_sanitize_flags -fsanitize=thread)
  target_compile_options(filch_sanitizer INTERFACE ${filch_sanitize_flags} -fno-omit-frame-pointer)
  target_link_options(filch_sanitizer INTERFACE ${filch_sanitize_flags})
elseif(FILCH_SANITIZE)
  message(FATAL_ERROR "FILCH_SANITIZE is address, thread or empty, not ${FILCH_SANITIZE}")
endif()

# The library only: checks that cost nothing on its slow half. Programs, benchmarks above all, are
# compiled without them. Sanitizers replace both. The rooms on the path of a task do without the stack
# protector (library.cmake): nothing from outside is copied into buffers there.
add_library(filch_hardening INTERFACE)
if(NOT FILCH_SANITIZE)
  target_compile_options(filch_hardening INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-fstack-protector-strong;-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>)
endif()
