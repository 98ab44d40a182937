# Text files as arrays of C that end with 0: cmake -DOUT=X.c "-DFILES=name=path;name=path" -P embed.cmake

set(code "/* Made by cmake/embed.cmake. */\n")
foreach(pair IN LISTS FILES)
  string(REGEX MATCH "^([^=]+)=(.+)$" matched "${pair}")
  set(name ${CMAKE_MATCH_1})
  file(READ "${CMAKE_MATCH_2}" bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND code "\nextern const unsigned char ${name}[];\nconst unsigned char ${name}[] = {\n${bytes}\n0};\n")
endforeach()
file(WRITE "${OUT}" "${code}")
