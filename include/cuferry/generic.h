/* generic.h - how the type-generic macros of generated headers choose an entry point by the types of its pointers.
 *
 * In C11 alone. An argument whose type tells nothing is a null pointer constant, which fits every instance, or a void *
 * variable, which fits none: memory of another type would be read silently. */
#ifndef CUFERRY_GENERIC_H
#define CUFERRY_GENERIC_H

/* What an untyped pointer points to. */
struct cf_untyped {
    char unused;
};

/* Not functions: calling one is the error that a wrong call gives. One compiler tells the object's name, another the
 * type's, and both say what to do. */
#define CF__WRONG_CALL(name) \
    struct name;             \
    extern const struct name name;
CF__WRONG_CALL(cf_cast_the_pointers_to_their_element_type)
CF__WRONG_CALL(cf_no_instance_takes_these_types)
#undef CF__WRONG_CALL

/* A pointer, or where it is untyped one to struct cf_untyped. */
#define CF__TYPED(pointer) \
    _Generic((pointer),                            \
        void *: (struct cf_untyped *)0,            \
        const void *: (const struct cf_untyped *)0, \
        int: (struct cf_untyped *)0,               \
        default: (pointer))

/* What it points to, as the controlling expression of a _Generic: lvalue conversion drops the qualifiers. */
#define CF__ELEMENT(pointer) *CF__TYPED(pointer)

/* Whether a pointer is one to a type, or untyped. */
#define CF__POINTS(pointer, type) _Generic(CF__ELEMENT((pointer)), type : 1, struct cf_untyped : 1, default : 0)

/* Whether what it points to is as large as a type. */
#define CF__SIZED(pointer, type) \
    _Generic(CF__ELEMENT((pointer)), struct cf_untyped : 1, default : sizeof *CF__TYPED(pointer) == sizeof(type))

/* `selection`, where `condition` holds; else `text` is the first error. What is chosen stays a function's name, whose
 * attributes compilers heed. Through an array's size, since one compiler would print the condition. */
#define CF__FITTING(condition, text, selection)                                                            \
    _Generic(sizeof(struct {                                                                               \
                 int unused;                                                                               \
                 _Static_assert(_Generic((char(*)[1 + (condition)])0, char(*)[2] : 1, default : 0), text); \
             }),                                                                                           \
             default                                                                                       \
             : selection)

/* `null` where the pointer is a null pointer constant, else `other`: of `1 ? p : q` the type is q's where p is such a
 * constant, and void * where it is a void * variable. */
#define CF__IF_NULL(pointer, null, other) \
    _Generic(1 ? (pointer) : CF__TYPED(pointer), struct cf_untyped * : null, default : other)

#endif
