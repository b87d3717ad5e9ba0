/* generic.h - how the type-generic macros of generated headers choose an entry point by the types of its pointers.
 *
 * A null pointer constant has no element type: if the other pointers leave several instances, the call does not
 * compile. A void * variable fits no instance: otherwise memory of another type would be read silently. In C99, which
 * has no _Generic, no such call compiles. */
#ifndef CUFERRY_GENERIC_H
#define CUFERRY_GENERIC_H

/* Element type of an untyped pointer. */
struct cf_untyped {
    char unused;
};

/* A wrong call becomes a call of an object that is not a function, which is a compile error. Some compilers print the
 * object's name, others the type's name; both names say what to do. */
#define CF__WRONG_CALL(name) \
    struct name;             \
    extern const struct name name;
CF__WRONG_CALL(cf_cast_the_pointers_to_their_element_type)
CF__WRONG_CALL(cf_no_instance_takes_these_types)
CF__WRONG_CALL(cf_several_instances_take_these_types)
#undef CF__WRONG_CALL

/* The pointer itself; an untyped pointer becomes a pointer to struct cf_untyped. */
#define CF__TYPED(pointer) \
    _Generic((pointer),                            \
        void *: (struct cf_untyped *)0,            \
        const void *: (const struct cf_untyped *)0, \
        int: (struct cf_untyped *)0,               \
        default: (pointer))

/* The pointed-to element as the controlling expression of a _Generic: lvalue conversion drops the qualifiers. */
#define CF__ELEMENT(pointer) *CF__TYPED(pointer)

/* 1 if the pointer points to `type` or is untyped. */
#define CF__POINTS(pointer, type) _Generic(CF__ELEMENT((pointer)), type : 1, struct cf_untyped : 1, default : 0)

/* 1 if the pointed-to element is as large as `type`, or the pointer is untyped. */
#define CF__SIZED(pointer, type) \
    _Generic(CF__ELEMENT((pointer)), struct cf_untyped : 1, default : sizeof *CF__TYPED(pointer) == sizeof(type))

/* The end of the message for wrong types. An array of rows needs this advice, because its elements are rows. */
#define CF__ADVICE "; pass an array a[2][3] as &a[0][0]"

/* `selection` if `condition` holds; otherwise `text` is the first error. The selection stays a function's name, so that
 * its attributes have an effect. The condition is encoded in the size of an array, because one compiler would print the
 * condition itself. */
#define CF__FITTING(condition, text, selection)                                                            \
    _Generic(sizeof(struct {                                                                               \
                 int unused;                                                                               \
                 _Static_assert(_Generic((char(*)[1 + (condition)])0, char(*)[2] : 1, default : 0), text); \
             }),                                                                                           \
             default                                                                                       \
             : selection)

/* `null` if the pointer is a null pointer constant, else `other`. In `1 ? p : q` the type is that of q if p is such a
 * constant, and void * if p is a void * variable. */
#define CF__IF_NULL(pointer, null, other) \
    _Generic(1 ? (pointer) : CF__TYPED(pointer), struct cf_untyped * : null, default : other)

/* The error of a call in C99. */
#define CF__NEEDS_C11(text) CF__PRAGMA(GCC error text) 0
#define CF__PRAGMA(text) _Pragma(#text)

#endif
