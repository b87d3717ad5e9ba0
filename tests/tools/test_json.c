/* test_json.c - the JSON reader, with which tests read the output of the tools. */
#include "run_group.h"

#include "base/json.h"

static void expect_json(const char *text, int is_good)
{
    struct message message = {""};
    struct json *json = json_read(text, strlen(text), "f", &message);
    if (!json != !is_good)
        fail_msg("%s: %s", text, message.text);
    if (!json)
        assert_memory_equal(message.text, "f:1: ", 5);
    json_free(json);
}

TEST(json_is_what_rfc_8259_says)
{
    static const char *const good[] = {"null",
                                       "true",
                                       " [ ] ",
                                       "{}",
                                       "0",
                                       "-0.5e+3",
                                       "1E-2",
                                       "\"\"",
                                       "[1,2,[3]]",
                                       "{\"a\": {\"b\": []}, \"a\": 2}",
                                       "\"\\u00e9\\ud83d\\ude00\\n\""};
    static const char *const bad[] = {
        "",       "nul", "[",     "[1,]",   "{,}", "{\"a\"}", "{\"a\":}", "01",        "1.",          ".5",
        "+1",     "1e",  "0x10",  "inf",    "NaN", "\"",      "\"\\x\"",  "\"\\u12\"", "\"\\ud800\"", "\"\\u0000\"",
        "\"\t\"", "1 2", "[1 2]", "{1: 2}", "'a'", "\"\\",    "-"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        expect_json(good[i], 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_json(bad[i], 0);
}

TEST(json_that_is_deep_is_refused)
{
    char deep[4096];
    memset(deep, '[', sizeof deep);
    deep[sizeof deep - 1] = 0;
    expect_json(deep, 0);
}

TEST(json_strings_are_utf8)
{
    static const char text[] = "{\"k\": \"\\u00e9\\u20ac\\ud83d\\ude00\\\"\\/\"}";
    struct message message = {""};
    struct json *json = json_read(text, sizeof text - 1, "f", &message);
    const struct json *found = json_get(json, "k");
    assert_non_null(found);
    assert_string_equal(found->text, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"/");
    assert_null(json_get(json, "j"));
    assert_null(json_get(found, "j"));
    json_free(json);
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
