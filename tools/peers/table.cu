// table.cu - rows of figures with their targets, of this process or of several.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "peers.h"
#include "table.h"

namespace
{

struct Row {
    std::string part, what, unit;
    std::vector<double> values; // one per process
    Target kind;
    double target;
    std::string why; // reason for having no value
    double value() const
    {
        return median(values);
    }
    bool met() const
    {
        // NaN meets no target
        return kind == Target::none || (kind == Target::at_most ? value() <= target : value() >= target);
    }
};

std::vector<Row> table;
std::string current_part;

constexpr char mark[] = "row\t";

std::vector<std::string> split(const std::string &line)
{
    std::vector<std::string> fields(1);
    for (char letter : line)
        if (letter == '\t')
            fields.emplace_back();
        else
            fields.back() += letter;
    return fields;
}

// Reads a line of print_rows() after its mark; other processes may have the same row.
void add_row(const std::string &line)
{
    const std::vector<std::string> fields = split(line);
    expect(fields.size() == 7, "a row of a process: " + line);
    auto row = std::find_if(table.begin(), table.end(),
                            [&](const Row &other) { return other.part == fields[0] && other.what == fields[1]; });
    if (row == table.end())
        row = table.insert(
            row, {fields[0], fields[1], fields[2], {}, (Target)std::stoi(fields[4]), std::stod(fields[5]), fields[6]});
    if (!fields[6].empty())
        return; // there is no value
    if (!row->why.empty())
        *row = {fields[0], fields[1], fields[2], {}, (Target)std::stoi(fields[4]), std::stod(fields[5]), ""};
    row->values.push_back(std::stod(fields[3]));
}

} // namespace

void begin_part(const char *name)
{
    current_part = name;
}

void figure(const std::string &what, double value, const char *unit, Target kind, double target)
{
    table.push_back({current_part, what, unit, {value}, kind, target, ""});
}

void no_figure(const std::string &what, const std::string &why)
{
    table.push_back({current_part, what, "", {NAN}, Target::none, 0, why});
}

int print_table()
{
    int missed = 0;
    std::printf("\n%-8s %-74s %10s    %-9s\n", "part", "figure", "measured", "target");
    for (const Row &row : table) {
        char target[32] = "", range[64] = "";
        if (!row.why.empty()) {
            std::printf("%-8s %-74s %10s    %s\n", row.part.c_str(), row.what.c_str(), "-", row.why.c_str());
            continue;
        }
        if (row.kind != Target::none)
            std::snprintf(target, sizeof target, "%s %-6g %s", row.kind == Target::at_most ? "<=" : ">=", row.target,
                          row.met() ? "met" : "MISSED");
        if (row.values.size() > 1) {
            auto ends = std::minmax_element(row.values.begin(), row.values.end());
            std::snprintf(range, sizeof range, "%.3f to %.3f in %zu processes", *ends.first, *ends.second,
                          row.values.size());
        }
        std::printf("%-8s %-74s %10.3f %-2s %-17s %s\n", row.part.c_str(), row.what.c_str(), row.value(),
                    row.unit.c_str(), target, range);
        missed += !row.met();
    }
    return missed;
}

void print_rows()
{
    for (const Row &row : table)
        std::printf("%s%s\t%s\t%s\t%.17g\t%d\t%.17g\t%s\n", mark, row.part.c_str(), row.what.c_str(), row.unit.c_str(),
                    row.value(), (int)row.kind, row.target, row.why.c_str());
}

bool run_processes(int count, const std::vector<std::string> &parts)
{
    bool is_right = true;
    std::string command = "'" + own_path() + "' --rows";
    for (const std::string &part : parts)
        command += " " + part;
    for (int i = 0; i < count; i++) {
        std::FILE *output = popen(command.c_str(), "r");
        char line[1024];
        while (output && std::fgets(line, sizeof line, output)) {
            line[std::strcspn(line, "\n")] = '\0';
            if (std::strncmp(line, mark, std::strlen(mark)) == 0)
                add_row(line + std::strlen(mark));
            else
                std::printf("%s\n", line);
        }
        is_right = output && pclose(output) == 0 && is_right;
    }
    return is_right;
}
