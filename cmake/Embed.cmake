# tidegate_embed(TARGET HEADER NAMESPACE FILES...): compiles text files, also ones that the build
# makes, into the target, so that the binary needs nothing beside it. Each defines a
# `const std::string_view k<Name>` that HEADER declares in NAMESPACE, with <Name> the file's name in
# UpperCamel.
set(TIDEGATE_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/EmbedFiles.cmake")
function(tidegate_embed target header namespace)
  set(path "${CMAKE_CURRENT_BINARY_DIR}/embedded_${target}.cc")
  add_custom_command(OUTPUT "${path}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${path}" "-DHEADER=${header}" "-DNAMESPACE=${namespace}"
      "-DFILES=${ARGN}" -P "${TIDEGATE_EMBED_SCRIPT}"
    DEPENDS ${ARGN} "${TIDEGATE_EMBED_SCRIPT}"
    COMMENT "Embedding files into ${target}" VERBATIM)
  target_sources(${target} PRIVATE "${path}")
endfunction()
