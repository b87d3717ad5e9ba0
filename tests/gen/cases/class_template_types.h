/* class_template_types.h - a header of C with a type that only C can show in full. */
struct flags {
    unsigned int a : 3, b : 5;
};

struct base {
    int n;
};
