/* test_regions.c - kernels with barriers give the same as loops over the threads of a block, one for each region between
 * barriers, and as threads that take turns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry/registry.h>

#include "run_group.h"

#include "regions_kernels.h"

#define COUNT 480

static int set_up(void **state)
{
    (void)state;
    return cf_device_use(CF_HOST);
}

static int tear_down(void **state)
{
    (void)state;
    return cf_shutdown();
}

typedef int call(const float *in, int n, float *out);

static const struct {
    const char *name;
    call *run;
} kernels[] = {
    {"tree", regions_tree},
    {"nested", regions_nested},
    {"early", regions_early},
    {"exchanged", regions_exchanged},
    {"clamped_below", regions_clamped_below},
    {"clamped_narrow", regions_clamped_narrow},
    {"named_narrow", regions_named_narrow},
    {"branches", regions_branches},
    {"types", regions_types},
    {"volume", regions_volume},
    {"dynamic", regions_dynamic},
    {"instance_f_2", regions_instance_f_2},
    {"instance_f_3", regions_instance_f_3},
    {"atomics", regions_atomics},
    {"pointers", regions_pointers},
    {"outside", regions_outside},
    {"changes", regions_changes},
    {"address_turns", regions_address_turns},
    {"guards", regions_guards},
    {"reread", regions_reread},
    {"guarded_turns", regions_guarded_turns},
    {"leaves_turns", regions_leaves_turns},
    {"in_parentheses_turns", regions_in_parentheses_turns},
    {"compared", regions_compared},
    {"taken_turns", regions_taken_turns},
    {"bumped", regions_bumped},
    {"bumped_at_once_turns", regions_bumped_at_once_turns},
    {"assigned_behind_comma", regions_assigned_behind_comma},
    {"any_extent_turns", regions_any_extent_turns},
    {"attribute_turns", regions_attribute_turns},
    {"kept_address_turns", regions_kept_address_turns},
    {"returned_address_turns", regions_returned_address_turns},
    {"number_of_address_turns", regions_number_of_address_turns},
    {"by_function_turns", regions_by_function_turns},
    {"by_value", regions_by_value},
    {"in_brackets_turns", regions_in_brackets_turns},
    {"of_step_turns", regions_of_step_turns},
    {"of_assignment_turns", regions_of_assignment_turns},
    {"of_cast_turns", regions_of_cast_turns},
    {"of_named_cast_turns", regions_of_named_cast_turns},
    {"of_choice_turns", regions_of_choice_turns},
    {"of_comma_turns", regions_of_comma_turns},
    {"of_element_turns", regions_of_element_turns},
    {"of_row_turns", regions_of_row_turns},
    {"of_named_array_turns", regions_of_named_array_turns},
    {"of_named_member_turns", regions_of_named_member_turns},
    {"of_member_turns", regions_of_member_turns},
    {"of_objects_turns", regions_of_objects_turns},
    {"of_reference_turns", regions_of_reference_turns},
    {"own_least_turns", regions_own_least_turns},
    {"least_of_class_turns", regions_least_of_class_turns},
    {"in_lambda_turns", regions_in_lambda_turns},
    {"in_expression_turns", regions_in_expression_turns},
    {"in_cast_turns", regions_in_cast_turns},
    {"in_header_turns", regions_in_header_turns},
    {"data_changes", regions_data_changes},
    {"shared_changes", regions_shared_changes},
    {"read_after_write", regions_read_after_write},
    {"same_names", regions_same_names},
    {"lasting", regions_lasting},
    {"words_turns", regions_words_turns},
    {"declared_late", regions_declared_late},
    {"never", regions_never},
    {"constants", regions_constants},
    {"addresses_turns", regions_addresses_turns},
    {"converted", regions_converted},
    {"named_reference_turns", regions_named_reference_turns},
    {"read_by_operator_turns", regions_read_by_operator_turns},
    {"reread_shared", regions_reread_shared},
    {"pointers_of_all", regions_pointers_of_all},
    {"declared_together", regions_declared_together},
    {"warp_sums", regions_warp_sums},
    {"warp_scans", regions_warp_scans},
    {"warp_ends", regions_warp_ends},
    {"warp_parts", regions_warp_parts},
    {"block_sums", regions_block_sums},
    {"warp_swaps", regions_warp_swaps},
    {"half_mask", regions_half_mask},
    {"in_condition_turns", regions_in_condition_turns},
    {"with_effects_turns", regions_with_effects_turns},
    {"in_order_turns", regions_in_order_turns},
    {"nested_call", regions_nested_call},
    {"steps", regions_steps},
    {"walking", regions_walking},
    {"walking_else", regions_walking_else},
    {"walking_down", regions_walking_down},
    {"walking_on", regions_walking_on},
    {"edges", regions_edges},
    {"columns_to_rows", regions_columns_to_rows},
    {"moving_rows", regions_moving_rows},
    {"numbers_at_ends", regions_numbers_at_ends},
    {"named_twice", regions_named_twice},
    {"one_column", regions_one_column},
    {"one_thread", regions_one_thread},
    {"small_blocks", regions_small_blocks},
    {"moving_range", regions_moving_range},
    {"chosen_indices", regions_chosen_indices},
    {"rows_of_blocks", regions_rows_of_blocks},
    {"moved_on", regions_moved_on},
    {"own_vectors", regions_own_vectors},
    {"renewed", regions_renewed},
    {"ranges", regions_ranges},
    {"begins_anew", regions_begins_anew},
    {"ends", regions_ends},
    {"ends_in_loop", regions_ends_in_loop},
    {"choices", regions_choices},
    {"heat", regions_heat},
    {"paths", regions_paths},
    {"blur", regions_blur},
    {"changed", regions_changed},
    {"holes", regions_holes},
    {"clamps", regions_clamps},
    {"limits", regions_limits},
    {"assigned", regions_assigned},
    {"assigned_hidden", regions_assigned_hidden},
    {"assigned_by_lambda", regions_assigned_by_lambda},
    {"assigned_narrow", regions_assigned_narrow},
    {"kept_bools", regions_kept_bools},
    {"renamed", regions_renamed},
    {"not_renamed", regions_not_renamed},
    {"serial", regions_serial},
    {"serial_rows", regions_serial_rows},
    {"warp_per_row", regions_warp_per_row},
    {"warp_of_row", regions_warp_of_row},
    {"shared_out", regions_shared_out},
    {"not_shared_out", regions_not_shared_out},
    {"advanced", regions_advanced},
    {"walks", regions_walks},
    {"tells_size", regions_tells_size},
    {"tells_row", regions_tells_row},
    {"tells_block", regions_tells_block},
    {"grid_stride", regions_grid_stride},
    {"warp_votes", regions_warp_votes},
    {"warp_votes_of_constant", regions_warp_votes_of_constant},
    {"votes_of_instance_l96", regions_votes_of_instance_l96},
    {"votes_of_instance_l80", regions_votes_of_instance_l80},
    {"warp_guards", regions_warp_guards},
    {"warp_rests", regions_warp_rests},
    {"moved_int", regions_moved_int},
    {"moved_float", regions_moved_float},
    {"moved_double", regions_moved_double},
    {"moved_long", regions_moved_long},
    {"moved_halves", regions_moved_halves},
    {"moved_by_any", regions_moved_by_any},
    {"moved_by_none", regions_moved_by_none},
    {"scanned", regions_scanned},
    {"moved_of_some", regions_moved_of_some},
    {"guarded_while", regions_guarded_while},
    {"ragged", regions_ragged},
    {"last_operation", regions_last_operation},
    {"lacking_ends", regions_lacking_ends},
    {"block_norm", regions_block_norm},
    {"block_most", regions_block_most},
    {"early_turns", regions_early_turns},
    {"either_turns", regions_either_turns},
    {"changed_turns", regions_changed_turns},
    {"instances", regions_instances},
    {"of_templates_f", regions_of_templates_f},
    {"references", regions_references},
    {"converted_turns", regions_converted_turns},
    {"moved_beside_turns", regions_moved_beside_turns},
    {"classes_turns", regions_classes_turns},
    {"of_number_f", regions_of_number_f},
    {"of_some_class_turns_f", regions_of_some_class_turns_f},
    {"of_some_class_turns_s", regions_of_some_class_turns_s},
    {"defaults_turns", regions_defaults_turns},
    {"hidden_turns", regions_hidden_turns},
    {"reads_around_turns", regions_reads_around_turns},
    {"one_argument", regions_one_argument},
    {"incremented_turns", regions_incremented_turns},
    {"assigned_turns", regions_assigned_turns},
    {"shifted_turns", regions_shifted_turns},
    {"structs_of_functions", regions_structs_of_functions},
    {"changed_by_call_turns", regions_changed_by_call_turns},
    {"half_expanded_turns", regions_half_expanded_turns},
    {"whole_expanded", regions_whole_expanded},
    {"one_instance", regions_one_instance},
    {"two_instances", regions_two_instances},
    {"one_scope", regions_one_scope},
    {"overloaded_turns", regions_overloaded_turns},
    {"other_scope_turns", regions_other_scope_turns},
    {"local_type_turns", regions_local_type_turns},
    {"shared_of_scopes", regions_shared_of_scopes},
    {"two_names", regions_two_names},
    {"shared_rows", regions_shared_rows},
    {"parameter_of_shared", regions_parameter_of_shared},
    {"hidden_shared", regions_hidden_shared},
    {"numbered", regions_numbered},
    {"two_of_a_name", regions_two_of_a_name},
    {"changed_by_operator", regions_changed_by_operator},
    {"auto_changed_by_operator", regions_auto_changed_by_operator},
    {"changed_pointer", regions_changed_pointer},
    {"changed_by_capture", regions_changed_by_capture},
    {"named_reference_of_call_turns", regions_named_reference_of_call_turns},
    {"reference_of_lambda_turns", regions_reference_of_lambda_turns},
    {"changed_by_friend_turns", regions_changed_by_friend_turns},
    {"number_changed_by_friend", regions_number_changed_by_friend},
    {"address_kept_by_callee_turns", regions_address_kept_by_callee_turns},
    {"address_in_object_turns", regions_address_in_object_turns},
    {"converted_to_address_turns", regions_converted_to_address_turns},
    {"by_arrow_turns", regions_by_arrow_turns},
    {"by_star_turns", regions_by_star_turns},
    {"shadowed_guard", regions_shadowed_guard},
    {"x_is_no_index", regions_x_is_no_index},
    {"signed_x_is_no_index", regions_signed_x_is_no_index},
    {"rounded_guard", regions_rounded_guard},
    {"narrow_guard", regions_narrow_guard},
    {"below_zero_again", regions_below_zero_again},
    {"rounded_once", regions_rounded_once},
    {"asked_once", regions_asked_once},
    {"wrapped_seed", regions_wrapped_seed},
    {"converted_guards", regions_converted_guards},
    {"parted", regions_parted},
    {"not_parted", regions_not_parted},
    {"gathered", regions_gathered},
    {"not_gathered", regions_not_gathered},
    {"steps_read_first", regions_steps_read_first},
    {"steps_of_floats", regions_steps_of_floats},
    {"steps_elsewhere", regions_steps_elsewhere},
    {"steps_of_extremes", regions_steps_of_extremes},
    {"tree_steps", regions_tree_steps},
    {"tree_with_gaps", regions_tree_with_gaps},
    {"tree_spread", regions_tree_spread},
    {"tree_interrupted", regions_tree_interrupted},
    {"steps_behind_others", regions_steps_behind_others},
    {"fold_pairs", regions_fold_pairs},
    {"fold_to_least", regions_fold_to_least},
    {"fold_by_function_f", regions_fold_by_function_f},
    {"steps_by_function", regions_steps_by_function},
    {"no_steps", regions_no_steps},
    {"no_steps_alone", regions_no_steps_alone},
    {"no_steps_of_some", regions_no_steps_of_some},
    {"steps_of_two_types", regions_steps_of_two_types},
    {"group_of_block", regions_group_of_block},
    {"group_of_volume", regions_group_of_volume},
    {"tile_of_block", regions_tile_of_block},
    {"sum_by_tile_f", regions_sum_by_tile_f},
    {"sum_by_tile_d", regions_sum_by_tile_d},
    {"small_tile_turns", regions_small_tile_turns},
    {"narrow_shuffle_turns", regions_narrow_shuffle_turns},
    {"copied_group", regions_copied_group},
    {"group_under_condition_turns", regions_group_under_condition_turns},
    {"own_group_turns", regions_own_group_turns},
    {"tile_in_loop", regions_tile_in_loop},
    {"two_tiles_turns", regions_two_tiles_turns},
    {"tile_of_local_size_turns", regions_tile_of_local_size_turns},
    {"counters", regions_counters},
    {"last_of_counter_turns", regions_last_of_counter_turns},
    {"steps_of_all", regions_steps_of_all},
    {"steps_of_each_turns", regions_steps_of_each_turns},
    {"limit_by_logarithm", regions_limit_by_logarithm},
    {"limit_by_own_logarithm_turns", regions_limit_by_own_logarithm_turns},
    {"counts_in_parentheses", regions_counts_in_parentheses},
    {"multiples", regions_multiples},
    {"multiples_of_types", regions_multiples_of_types},
    {"undivided", regions_undivided},
    {"powers", regions_powers},
    {"own_trunc_turns", regions_own_trunc_turns},
    {"own_rint_turns", regions_own_rint_turns},
    {"forces", regions_forces},
    {"of_kinds", regions_of_kinds},
    {"of_structs", regions_of_structs},
    {"of_references", regions_of_references},
    {"of_kept_addresses_turns", regions_of_kept_addresses_turns},
    {"of_some", regions_of_some},
    {"of_lanes", regions_of_lanes},
    {"rows_of_lengths", regions_rows_of_lengths},
    {"rows_of_spellings", regions_rows_of_spellings},
    {"rows_compared", regions_rows_compared},
    {"rows_of_32", regions_rows_of_32},
    {"rows_of_12", regions_rows_of_12},
    {"rows_of_40_turns", regions_rows_of_40_turns},
    {"rows_of_products", regions_rows_of_products},
    {"rows_of_any_size", regions_rows_of_any_size},
    {"rows_and_elements", regions_rows_and_elements},
    {"queues", regions_queues},
    {"results_short_ones", regions_results_short_ones},
    {"results_long_ones", regions_results_long_ones},
    {"chosen_elements", regions_chosen_elements},
    {"elements_of_lanes", regions_elements_of_lanes},
    {"masks_of_parts", regions_masks_of_parts},
    {"masks_of_rests", regions_masks_of_rests},
    {"masks_of_length", regions_masks_of_length},
    {"loops_of_some", regions_loops_of_some},
    {"reduced", regions_reduced},
    {"matched", regions_matched},
    {"block_votes", regions_block_votes},
    {"block_votes_of_rest", regions_block_votes_of_rest},
    {"asked", regions_asked},
    {"asked_by_block", regions_asked_by_block},
    {"asked_last_turns", regions_asked_last_turns},
    {"asked_by_changes_turns", regions_asked_by_changes_turns},
    {"small_tiles", regions_small_tiles},
    {"tile_per_row", regions_tile_per_row},
    {"reduced_by_tile_f", regions_reduced_by_tile_f},
    {"reduced_by_tile_d", regions_reduced_by_tile_d},
    {"reduced_by_tile_i", regions_reduced_by_tile_i},
    {"reduced_by_tile_u", regions_reduced_by_tile_u},
    {"reduced_by_tile_l", regions_reduced_by_tile_l},
    {"group_parameters", regions_group_parameters},
    {"norm_of_tile", regions_norm_of_tile},
    {"large_tile_turns", regions_large_tile_turns},
    {"sync_of_parts_turns", regions_sync_of_parts_turns},
    {"rows_beside_groups", regions_rows_beside_groups},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static float in[COUNT], natural[KERNELS][COUNT], turned[KERNELS][COUNT];

static void run_all(float out[KERNELS][COUNT])
{
    for (int i = 0; i < COUNT; i++)
        in[i] = (float)(i * 37 % 101) / 8;
    memset(out, 0, sizeof natural);
    for (int k = 0; k < KERNELS; k++)
        assert_ok(kernels[k].run(in, COUNT, out[k]));
}

static void regions_give_the_same_as_turns(void **state)
{
    static const char *const orders[] = {"reverse", "7"};
    run_all(natural);
    for (int order = 0; order < 2; order++) {
        assert_int_equal(tear_down(state), CF_OK);
        assert_int_equal(setenv("CF_HOST_ORDER", orders[order], 1), 0);
        assert_int_equal(set_up(state), CF_OK);
        run_all(turned);
        assert_int_equal(tear_down(state), CF_OK);
        assert_int_equal(unsetenv("CF_HOST_ORDER"), 0);
        assert_int_equal(set_up(state), CF_OK);
        for (int k = 0; k < KERNELS; k++)
            for (int i = 0; i < COUNT; i++)
                if (natural[k][i] != turned[k][i])
                    fail_msg("%s, order %s: [%d] is %g, not %g", kernels[k].name, orders[order], i,
                             (double)natural[k][i], (double)turned[k][i]);
    }
}

static const float *result_of(const char *name)
{
    for (int k = 0; k < KERNELS; k++)
        if (strcmp(kernels[k].name, name) == 0)
            return natural[k];
    fail_msg("no kernel %s", name);
    return NULL;
}

/* Barriers and early ends, computed here. */
static void regions_give_what_the_source_says(void **state)
{
    (void)state;
    run_all(natural);
    for (int i = 0; i < COUNT; i++) {
        const float *block = in + i / 96 * 96;
        float sums[96];
        for (int t = 0; t < 96; t++)
            sums[t] = block[t];
        for (int k = 64; k > 0; k /= 2)
            for (int t = 0; t < k && t + k < 96; t++)
                sums[t] += sums[t + k];
        assert_true(result_of("tree")[i] == sums[0] + in[i]);
        if (i % 96 % 3 == 1)
            assert_true(result_of("early")[i] == -1.0f);
    }
}

/* Sums in steps and by a tree, computed here. */
static void scans_give_what_the_source_says(void **state)
{
    (void)state;
    run_all(natural);
    for (int i = 0; i < COUNT; i++) {
        const int t = i % 96, first = i - t;
        unsigned int sums[96], sum = 0;
        for (int k = 0; k < 96; k++)
            sums[k] = sum += (unsigned int)in[first + k] << 25;
        assert_true(result_of("steps_read_first")[i] ==
                    (float)((int)sums[t] >> 20) + (float)((int)sums[95 - t] % 1000));
        int most = -50, least = 100;
        for (int k = first; k <= i; k++) {
            const int value = (int)(in[k] * 8) - 50;
            most = value > most ? value : most;
            least = 50 - value < least ? 50 - value : least;
        }
        most = most < 0 ? 0 : most;
        assert_true(result_of("steps_of_extremes")[i] == (float)most * 1000.0f + (float)least);
    }
}

/* cf-run --describe prints these words. */
static void regions_are_told_from_turns(void **state)
{
    (void)state;
    static const struct {
        const char *name, *form;
        unsigned int behind; /* lines from the kernel's name to that of the reason, if there is one */
        const char *reason;
    } expected[] = {
        {"tree", "blocks of loops between barriers", 0, ""},
        {"instance_f_2", "blocks of loops between barriers", 0, ""},
        {"serial_rows", "blocks of loops inside serial ones", 0, ""},
        {"warp_per_row", "warps of loops between shuffles", 0, ""},
        {"warp_of_row", "warps of loops between shuffles", 0, ""},
        {"warp_votes", "warps of loops between shuffles", 0, ""},
        {"warp_votes_of_constant", "warps of loops between shuffles", 0, ""},
        {"votes_of_instance_l96", "blocks of loops between barriers", 0, ""},
        {"warp_scans", "blocks of loops between barriers", 0, ""},
        {"moved_by_any", "warps of loops between shuffles", 0, ""},
        {"scanned", "warps of loops between shuffles", 0, ""},
        {"norm_of_tile", "warps of loops between shuffles", 0, ""},
        {"warp_parts", "blocks of loops between barriers", 0, ""},
        {"tile_of_block", "warps of loops between shuffles", 0, ""},
        {"grid_stride", "blocks of loops inside serial ones", 0, ""},
        {"walks", "blocks of loops inside serial ones", 0, ""},
        {"rows_of_32", "blocks of loops between barriers", 0, ""},
        {"rows_of_products", "blocks of loops inside serial ones", 0, ""},
        {"rows_of_any_size", "blocks of loops between barriers", 0, ""},
        {"tells_size", "blocks of loops inside serial ones", 0, ""},
        {"walking_down", "blocks of loops inside serial ones", 0, ""},
        {"walking_on", "blocks of loops inside serial ones", 0, ""},
        {"numbers_at_ends", "blocks of loops between barriers", 0, ""},
        {"one_column", "blocks of loops inside serial ones", 0, ""},
        {"one_thread", "blocks of loops inside serial ones", 0, ""},
        {"small_blocks", "blocks of loops inside serial ones", 0, ""},
        {"moving_range", "blocks of loops inside serial ones", 0, ""},
        {"chosen_indices", "blocks of loops inside serial ones", 0, ""},
        {"rows_of_blocks", "blocks of loops inside serial ones", 0, ""},
        {"guarded_turns", "blocks of fibers: __syncthreads() in line ", 6, " depends on own_index()"},
        {"leaves_turns", "blocks of fibers: if in line ", 7,
         " 'break' from a loop with a barrier depends on threadIdx.x"},
    };
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        const cf_kernel *kernel = cf_kernel_find(&regions_registry, expected[k].name);
        assert_non_null(kernel);
        char form[160], line[12] = "";
        if (*expected[k].reason)
            (void)snprintf(line, sizeof line, "%u", kernel->line + expected[k].behind);
        (void)snprintf(form, sizeof form, "%s%s%s", expected[k].form, line, expected[k].reason);
        assert_string_equal(kernel->cpu_form, form);
    }
    for (int k = 0; k < KERNELS; k++) {
        const cf_kernel *kernel = cf_kernel_find(&regions_registry, kernels[k].name);
        assert_non_null(kernel);
        if (!!strstr(kernel->cpu_form, "fibers") != !!strstr(kernels[k].name, "_turns"))
            fail_msg("%s is %s", kernels[k].name, kernel->cpu_form);
    }
}

/* The value of another lane of a warp that has `lanes` lanes. */
static float lane_of(const float *values, int lane, int lanes)
{
    return lane < lanes ? values[lane] : 0;
}

/* Divisions of indices that are no warp's number, and loops that threads share out, computed here. */
static void warps_give_what_the_source_says(void **state)
{
    (void)state;
    run_all(natural);
    for (int i = 0; i < COUNT; i++) {
        const int row = i / 32, lane = i % 32;
        float sum = 0, most = 0;
        for (int k = (int)in[row]; k < (int)in[row + 1] + 50; k++)
            sum += in[k] * 2;
        for (int k = 0; k < 32; k++)
            most = in[row * 32 + k] > most ? in[row * 32 + k] : most;
        for (int k = 0; k < 40 && row % 2 == 0; k++)
            most = in[k * 3 + row] > most ? in[k * 3 + row] : most;
        if (row % 2)
            most = in[i];
        const int ends = row >= 13 || (int)in[row] % 5 == 4;
        assert_true(result_of("warp_per_row")[i] == (ends ? -1 : lane == 0 ? sum : most + (float)lane));
    }
}

/* Shuffles and votes, computed here. */
static void shuffles_give_what_the_source_says(void **state)
{
    (void)state;
    run_all(natural);
    for (int first = 0; first < COUNT; first += 32) {
        float sum = 0, most = 0;
        for (int lane = 0; lane < 32; lane++) {
            sum += in[first + lane];
            most = in[first + lane] > most ? in[first + lane] : most;
        }
        for (int lane = 0; lane < 32; lane++)
            assert_true(result_of("warp_sums")[first + lane] == sum + most * 1000);
    }
    for (int first = 0; first < COUNT; first += first % 80 == 64 ? 16 : 32) {
        const int lanes = first % 80 == 64 ? 16 : 32;
        const float *own = in + first;
        float sums[32];
        int votes = 0, all = 1;
        for (int i = 0; i < lanes; i++) {
            const int t = first % 80 + i, other = (31 - t) & 31;
            sums[i] = own[i] + lane_of(own, i ^ 16, lanes) + 2 * (i + 17 < 32 ? lane_of(own, i + 17, lanes) : own[i]) +
                      4 * lane_of(own, other, lanes);
            votes |= ((int)sums[i] % 2 != 0) << i;
            all &= (int)sums[i] != 0;
        }
        for (int i = 0; i < lanes; i++)
            assert_true(result_of("warp_parts")[first + i] == sums[i] + (float)((votes & 0xffff) + all));
    }
}

static void warps_that_lack_lanes_fail(void **state)
{
    (void)state;
    static const char lacking[] = "a warp operation without some lanes of its mask";
    static const char others[] = "a warp operation whose mask leaves its own lane out";
    static const struct {
        const char *name, *error;
        call *run;
    } waits[] = {
        {"warp_waits", lacking, regions_warp_waits},    {"warp_meets", lacking, regions_warp_meets},
        {"warp_syncs", lacking, regions_warp_syncs},    {"mask_of_others", others, regions_mask_of_others},
        {"mask_of_none", others, regions_mask_of_none}, {"masks_that_differ", lacking, regions_masks_that_differ},
    };
    for (size_t k = 0; k < sizeof waits / sizeof *waits; k++) {
        const cf_kernel *kernel = cf_kernel_find(&regions_registry, waits[k].name);
        assert_non_null(kernel);
        assert_null(strstr(kernel->cpu_form, "fibers"));
        static float out[COUNT];
        assert_int_not_equal(waits[k].run(in, COUNT, out), CF_OK);
        assert_non_null(strstr(cf_last_error(), waits[k].error));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_are_told_from_turns),       cmocka_unit_test(regions_give_the_same_as_turns),
        cmocka_unit_test(regions_give_what_the_source_says), cmocka_unit_test(shuffles_give_what_the_source_says),
        cmocka_unit_test(warps_give_what_the_source_says),   cmocka_unit_test(warps_that_lack_lanes_fail),
        cmocka_unit_test(scans_give_what_the_source_says),
    };
    return RUN_ON_DRIVER(tests, set_up, tear_down);
}
