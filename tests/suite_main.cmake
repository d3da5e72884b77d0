# SPDX-License-Identifier: GPL-3.0-or-later
# Writes the main of a file of tests: its TEST() and WHAT_TEST() cases in their order.
# usage: cmake -DNAME=suite -DSOURCE=test_suite.c -DOUT=main.c -P suite_main.cmake
file(STRINGS ${SOURCE} lines REGEX "^(([A-Z]+_)?TEST\\([a-z0-9_]+\\)|SUITE_SETUP)$")
set(declarations "")
set(cases "")
set(setup "")
foreach(line IN LISTS lines)
  if(line STREQUAL "SUITE_SETUP")
    string(APPEND declarations "int suite_setup(void);\n")
    set(setup "    int status = suite_setup();\n    if (status != 0) {\n        return status;\n    }\n")
  else()
    string(REGEX REPLACE "^.*\\((.*)\\)$" "\\1" case ${line})
    string(APPEND declarations "void ${case}(void);\n")
    string(APPEND cases "        SUITE_CASE(${case}),\n")
  endif()
endforeach()
file(WRITE ${OUT} "#include \"tests/support/suite.h\"\n${declarations}
int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
${cases}    };
${setup}    return suite_run(\"${NAME}\", cases, LENGTH(cases), argc, argv);
}
")
