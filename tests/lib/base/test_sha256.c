/* test_sha256.c - checksums of the standard's examples, in one part and in several. */
#include "run_group.h"

#include "base/sha256.h"

static void expect_sum(const char *text, size_t bytes, size_t part, const char *expected)
{
    struct cf__sha256 sum;
    unsigned char digest[CF__SHA256_BYTES];
    char hex[2 * CF__SHA256_BYTES + 1];
    cf__sha256_begin(&sum);
    for (size_t at = 0; at < bytes; at += part)
        cf__sha256_add(&sum, text + at, bytes - at < part ? bytes - at : part);
    cf__sha256_end(&sum, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(hex, expected);
}

TEST(sums_are_those_of_the_standard)
{
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static char million[1000000];
    memset(million, 'a', sizeof million);
    expect_sum("", 0, 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect_sum("abc", 3, 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    for (size_t part = 1; part <= 56; part++)
        expect_sum(two_blocks, 56, part, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    for (size_t part = 50; part <= 130; part += 7)
        expect_sum(million, sizeof million, part, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Lists of texts have different sums even if their texts are equal when they are joined. */
TEST(ends_of_texts_count)
{
    static const char *const lists[][3] = {
        {"ab", "c", NULL}, {"a", "bc", NULL}, {"abc", NULL, NULL}, {"abc", "", NULL}};
    unsigned char digests[4][CF__SHA256_BYTES];
    for (int i = 0; i < 4; i++) {
        struct cf__sha256 sum;
        cf__sha256_begin(&sum);
        for (int k = 0; k < 3; k++)
            cf__sha256_add_text(&sum, lists[i][k]);
        cf__sha256_end(&sum, digests[i]);
        for (int k = 0; k < i; k++)
            assert_memory_not_equal(digests[i], digests[k], CF__SHA256_BYTES);
    }
}

/* The sum of a text covers a byte that says whether the text exists, the text, and its end. */
TEST(sum_of_a_text_is_that_of_its_bytes)
{
    static const struct {
        const char *text, *bytes;
        size_t count;
    } cases[] = {{"abc", "\1abc", 5}, {"", "\1", 2}, {NULL, "", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cf__sha256 sum;
        unsigned char digest[CF__SHA256_BYTES], expected[CF__SHA256_BYTES];
        cf__sha256_begin(&sum);
        cf__sha256_add_text(&sum, cases[i].text);
        cf__sha256_end(&sum, digest);
        cf__sha256_of(cases[i].bytes, cases[i].count, expected);
        assert_memory_equal(digest, expected, CF__SHA256_BYTES);
    }
}

int main(void)
{
    return run_group("tests", all_tests, test_count, NULL, NULL);
}
