/* test_cuda_driver.c - finding NVIDIA's libraries, and what is said where there are
 * none.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device/cuda_api.h"

#include <string.h>

#include "calibrate/shared_library.h"
#include "tests/fake_cuda/fake_use.h"
#include "tests/support/suite.h"

static void assert_refused(const char *says)
{
    struct fulcrum_cuda_driver driver = {0};
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL(fulcrum_cuda_driver_open(&driver, &err), FULCRUM_ERR_UNSUPPORTED);
    CU_ASSERT_PTR_NULL(driver.library);
    assert_part(err.detail, says);
    assert_part(err.detail, "--learner cpu runs on the CPU");
    CU_ASSERT_PTR_NULL(strchr(err.detail, '\n'));
    CU_ASSERT_EQUAL(strncmp(err.detail, "cuda: ", 6), 0);
}

/* Not there, there and no library, there and another one. */
TEST(test_library_that_cannot_be_loaded_is_named)
{
    static const struct {
        const char *path;
        const char *says;
    } cases[] = {
        {"/no/libcuda.so.1",
            "FULCRUM_CUDA_LIBRARY = /no/libcuda.so.1: not found: no NVIDIA driver"},
        {"tests/support/suite.h", "no NVIDIA driver here"},
        {PLAIN_LIBRARY, "the library has no function cuGetErrorName"},
        {FAKE_CUBLAS, "too old or none"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        fake_set(FULCRUM_CUDA_LIBRARY_VARIABLE, cases[i].path);
        assert_refused(cases[i].says);
    }
}

TEST(test_first_standard_name_is_told_where_none_is_found)
{
    static const char *const names[] = {"libno_such_a.so", "libno_such_b.so", NULL};
    void *library = NULL;
    fake_set("FULCRUM_TEST_LIBRARY", "");
    ASSERT_SAYS(
        fulcrum_shared_library_open(&library, "FULCRUM_TEST_LIBRARY", names, &err),
        FULCRUM_ERR_UNSUPPORTED, "libno_such_a.so not found");
    CU_ASSERT_PTR_NULL(library);
}

TEST(test_later_name_serves_and_a_broken_library_says_why)
{
    static const char *const later[] = {"libno_such_a.so", "libm.so.6", NULL};
    const char *const broken[] = {"libno_such_a.so", "tests/support/suite.h", NULL};
    void *library = NULL;
    fake_set("FULCRUM_TEST_LIBRARY", NULL);
    ASSERT_OK(
        fulcrum_shared_library_open(&library, "FULCRUM_TEST_LIBRARY", later, NULL));
    CU_ASSERT_PTR_NOT_NULL(library);
    fulcrum_shared_library_close(library);
    fulcrum_shared_library_close(NULL);
    ASSERT_FAILS(
        fulcrum_shared_library_open(&library, "FULCRUM_TEST_LIBRARY", broken, &err),
        FULCRUM_ERR_UNSUPPORTED, "tests/support/suite.h");
}

TEST(test_driver_that_does_not_start_is_named)
{
    static const struct {
        const char *variable;
        const char *value;
        const char *says;
    } cases[] = {
        {"FAKE_CUDA_INIT", "100", "does not start: CUDA_ERROR_NO_DEVICE (100)"},
        {"FAKE_CUDA_INIT", "34", "does not start: a result without a name (34)"},
        {"FAKE_CUDA_DEVICES", "0", "the driver shows no GPU"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        fake_use(FAKE_CUDA, FAKE_CUBLAS);
        fake_set(cases[i].variable, cases[i].value);
        assert_refused(cases[i].says);
    }
}

TEST(test_old_driver_opens_and_cannot_divide)
{
    static const struct {
        const char *path;
        int version;
        int divides;
    } cases[] = {{FAKE_CUDA, 13010, 1}, {FAKE_CUDA_OLD, 11040, 0}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_cuda_driver driver = {0};
        fake_use(cases[i].path, NULL);
        ASSERT_OK(fulcrum_cuda_driver_open(&driver, NULL));
        CU_ASSERT_EQUAL(driver.version, cases[i].version);
        CU_ASSERT_EQUAL(fulcrum_cuda_can_divide(&driver), cases[i].divides);
        CU_ASSERT_EQUAL(driver.library_load != NULL, cases[i].divides);
        fulcrum_cuda_driver_close(&driver);
        CU_ASSERT_PTR_NULL(driver.library);
    }
}

TEST(test_results_become_statuses_with_the_call_and_its_name)
{
    struct fulcrum_cuda_driver driver = {0};
    fake_use(FAKE_CUDA, NULL);
    ASSERT_OK(fulcrum_cuda_driver_open(&driver, NULL));
    ASSERT_OK(fulcrum_cuda_check(&driver, 0, "cuX", NULL));
    ASSERT_SAYS(fulcrum_cuda_check(&driver, 700, "cuX", &err), FULCRUM_ERR_UNSUPPORTED,
        "cuda: cuX: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    CU_ASSERT_EQUAL(fulcrum_cuda_check(&driver, 2, "cuX", NULL), FULCRUM_ERR_NO_MEMORY);
    fulcrum_cuda_driver_close(&driver);
}

/* Sizes and places of cuda.h, where drivers since CUDA 12.4 have them. */
TEST(test_resource_has_the_layout_of_the_driver)
{
    CU_ASSERT_EQUAL(sizeof(struct fulcrum_cu_resource), 144);
    CU_ASSERT_EQUAL(offsetof(struct fulcrum_cu_resource, part), 96);
    CU_ASSERT_EQUAL(offsetof(struct fulcrum_cu_resource, part.sm.sm_count), 96);
    CU_ASSERT_EQUAL(sizeof(fulcrum_cu_address), 8);
}

TEST(test_missing_cublas_is_told)
{
    struct fulcrum_cuda_blas blas = {0};
    fake_set(FULCRUM_CUBLAS_LIBRARY_VARIABLE, "/no/libcublas.so");
    ASSERT_FAILS(fulcrum_cuda_blas_open(&blas, &err), FULCRUM_ERR_UNSUPPORTED,
        "/no/libcublas.so");
    fake_set(FULCRUM_CUBLAS_LIBRARY_VARIABLE, PLAIN_LIBRARY);
    ASSERT_SAYS(fulcrum_cuda_blas_open(&blas, &err), FULCRUM_ERR_UNSUPPORTED,
        "the library has no function cublasCreate_v2");
    CU_ASSERT_PTR_NULL(blas.library);
}

TEST(test_cublas_handle_is_for_float32_and_its_sms)
{
    struct fulcrum_cuda_blas blas = {0};
    void *handle = NULL;
    int stream = 0;
    fake_use(FAKE_CUDA, FAKE_CUBLAS);
    ASSERT_OK(fulcrum_cuda_blas_open(&blas, NULL));
    ASSERT_OK(fulcrum_cuda_blas_handle(&blas, &handle, &stream, 24.0, NULL));
    CU_ASSERT_EQUAL(fake_blas_counts(FAKE_CUBLAS)->math_mode, 0);
    CU_ASSERT_EQUAL(fake_blas_counts(FAKE_CUBLAS)->sm_count_target, 24);
    CU_ASSERT_EQUAL(blas.destroy(handle), 0);
    /* A refused setting gives the handle back. */
    ASSERT_SAYS(fulcrum_cuda_blas_handle(&blas, &handle, &stream, -1.0, &err),
        FULCRUM_ERR_UNSUPPORTED,
        "cuda: cublasSetSmCountTarget: CUBLAS_STATUS_INVALID_VALUE (7)");
    CU_ASSERT_EQUAL(fake_blas_counts(FAKE_CUBLAS)->live, 0);
    CU_ASSERT_STRING_EQUAL(fulcrum_cuda_blas_status_name(&blas, 99), "cuBLAS status");
    fulcrum_cuda_blas_close(&blas);
}
