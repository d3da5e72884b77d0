# SPDX-License-Identifier: GPL-3.0-or-later
# Fails where a library calls what it must not. PURE: what the model must not: input and
# output, clocks, the environment, libc's random numbers, the end of the process. QUIET:
# what no library may: words on the terminal, the end of the process.
# cmake -DNM=... -DLIBRARY=... -DRULE=PURE|QUIET -P check_pure.cmake
cmake_minimum_required(VERSION 3.20)

# stdout itself is allowed: "-" names it as the file to write.
set(QUIET printf vprintf puts putchar perror stderr exit _exit _Exit quick_exit system)
set(PURE
  printf vprintf fprintf vfprintf puts putchar fputs fputc fwrite fread fopen fdopen
  freopen fclose fflush open close read write stdin stdout stderr perror
  scanf fscanf getc getchar fgets fgetc getline
  getenv secure_getenv setenv putenv environ
  time clock clock_gettime gettimeofday localtime gmtime nanosleep usleep sleep
  rand srand random srandom rand_r drand48 getrandom
  exit _exit _Exit quick_exit abort atexit signal raise system fork
  gsl_rng_env_setup gsl_stream_printf)

execute_process(COMMAND ${NM} -u ${LIBRARY} OUTPUT_VARIABLE output RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${NM} cannot read ${LIBRARY}")
endif()
string(REGEX MATCHALL "U [A-Za-z_0-9]+" symbols "${output}")
list(LENGTH symbols count)
if(count EQUAL 0)
  message(FATAL_ERROR "${LIBRARY} has no undefined symbol: not what was meant")
endif()

set(faults "")
foreach(symbol IN LISTS symbols)
  string(SUBSTRING "${symbol}" 2 -1 name)
  # Fortified forms stand for the plain ones: __printf_chk.
  string(REGEX REPLACE "^__(isoc99_)?([a-z]+)(_chk)?$" "\\2" plain "${name}")
  if(name IN_LIST ${RULE} OR plain IN_LIST ${RULE})
    list(APPEND faults ${name})
  endif()
endforeach()
list(REMOVE_DUPLICATES faults)
if(faults)
  list(JOIN faults ", " names)
  message(FATAL_ERROR "${LIBRARY} calls ${names}")
endif()
message(STATUS "${count} references to other libraries, none forbidden")
