/* tvm_ffi_text.h - the part of a generated file for TVM-FFI that raises errors and spells arguments in their texts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tvm/ffi/c_api.h>

/* Functions of Python's C interface that the next functions use. They are NULL if the process has no Python. */
extern int Py_IsInitialized(void) __attribute__((weak));
extern int PyGILState_Ensure(void) __attribute__((weak));
extern void PyGILState_Release(int) __attribute__((weak));
extern void *PyImport_ImportModule(const char *) __attribute__((weak));
extern void *PyObject_CallMethod(void *, const char *, const char *, ...) __attribute__((weak));
extern void *PyObject_ASCII(void *) __attribute__((weak));
extern void *PyObject_Type(void *) __attribute__((weak));
extern void *PyObject_GetAttrString(void *, const char *) __attribute__((weak));
extern const char *PyUnicode_AsUTF8(void *) __attribute__((weak));
extern void Py_DecRef(void *) __attribute__((weak));
extern void PyErr_Clear(void) __attribute__((weak));
extern void *PyExc_OverflowError __attribute__((weak)), *PyExc_NotImplementedError __attribute__((weak));

/* Registers two of Python's exceptions with the package tvm_ffi, which would raise a RuntimeError in their place. */
static void register_errors(void)
{
    static int is_done; /* atomic, since threads without Python's lock read it */
    if (__atomic_load_n(&is_done, __ATOMIC_ACQUIRE) || !Py_IsInitialized || !PyGILState_Ensure || !PyGILState_Release ||
        !PyImport_ImportModule || !PyObject_CallMethod || !Py_DecRef || !PyErr_Clear || !&PyExc_OverflowError ||
        !&PyExc_NotImplementedError || !Py_IsInitialized())
        return;
    int state = PyGILState_Ensure();
    void *module = __atomic_load_n(&is_done, __ATOMIC_ACQUIRE) ? NULL : PyImport_ImportModule("tvm_ffi");
    if (module) {
        Py_DecRef(PyObject_CallMethod(module, "register_error", "sO", "OverflowError", PyExc_OverflowError));
        Py_DecRef(
            PyObject_CallMethod(module, "register_error", "sO", "NotImplementedError", PyExc_NotImplementedError));
        Py_DecRef(module);
    }
    PyErr_Clear();
    __atomic_store_n(&is_done, 1, __ATOMIC_RELEASE);
    PyGILState_Release(state);
}

static int raise_error(const char *kind, const char *text)
{
    register_errors();
    TVMFFIErrorSetRaisedFromCStr(kind, text);
    return -1;
}

/* Integer of more than 64 bits, in two's complement, with its lowest word first. Older versions of TVM-FFI pass no such
 * integers. */
struct big {
    size_t nwords;
    uint64_t words[];
};

/* Text of a value or of a type's name in a message. */
struct text {
    char text[64];
};

/* Copies a text as one line; if it is too long, it is cut between UTF-8 characters. */
static void copy_text(struct text *text, const char *from, size_t size)
{
    size_t length = 0, i = 0;
    for (; i < size && length < 60; i++) {
        int is_space = strchr(" \t\n\r", from[i]) != NULL;
        if (!is_space || (length && text->text[length - 1] != ' '))
            text->text[length++] = is_space ? ' ' : from[i];
    }
    if (i < size)
        for (length = 57; length && (text->text[length] & 0xc0) == 0x80;)
            length--;
    memcpy(text->text + length, i < size ? "..." : "", i < size ? 4 : 1);
}

/* Sets `text` to Python's text for the class or the value of an object that TVM-FFI does not know, or to "". */
static const char *spell_object(const TVMFFIAny *any, int is_class, struct text *text)
{
    text->text[0] = 0;
    if (any->type_index != kTVMFFIOpaquePyObject || !PyGILState_Ensure || !PyGILState_Release || !PyObject_ASCII ||
        !PyObject_Type || !PyObject_GetAttrString || !PyUnicode_AsUTF8 || !Py_DecRef || !PyErr_Clear)
        return text->text;
    int state = PyGILState_Ensure();
    void *object = ((const TVMFFIOpaqueObjectCell *)(any->v_obj + 1))->handle;
    void *class = is_class ? PyObject_Type(object) : NULL;
    void *found = class ? PyObject_GetAttrString(class, "__name__") : is_class ? NULL : PyObject_ASCII(object);
    const char *spelled = found ? PyUnicode_AsUTF8(found) : NULL;
    copy_text(text, spelled ? spelled : "...", spelled ? strlen(spelled) : 3);
    if (found)
        Py_DecRef(found);
    if (class)
        Py_DecRef(class);
    PyErr_Clear();
    PyGILState_Release(state);
    return text->text;
}

static const char *key_of(const TVMFFIAny *any)
{
    const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(any->type_index);
    return info ? info->type_key.data : "unknown";
}

/* Returns the name of an argument's type in Python, or else in TVM-FFI. `text` is memory for the name. */
static const char *name_type(const TVMFFIAny *any, struct text *text)
{
    switch (any->type_index) {
    case kTVMFFINone:
        return "NoneType";
    case kTVMFFIBool:
        return "bool";
    case kTVMFFIInt:
        return "int";
    case kTVMFFIFloat:
        return "float";
    case kTVMFFIRawStr:
    case kTVMFFISmallStr:
    case kTVMFFIStr:
        return "str";
    default:
        return *spell_object(any, 1, text) ? text->text : key_of(any);
    }
}

static const struct big *find_big(const TVMFFIAny *any)
{
    return any->type_index >= kTVMFFIStaticObjectBegin && strcmp(key_of(any), "ffi.BigInt") == 0
               ? (const struct big *)(any->v_obj + 1)
               : NULL;
}

/* Writes " = " and a float as Python prints it, with the fewest digits that read back as the same value. */
static void spell_float(double value, char *text, size_t size)
{
    int length = 0;
    for (int digits = 1; digits <= 17; digits++) {
        length = snprintf(text, size, " = %.*g", digits, value);
        if (strtod(text + 3, NULL) == value)
            break;
    }
    if (!text[3 + strspn(text + 3, "-0123456789")])
        snprintf(text + length, size - (size_t)length, ".0");
}

/* Writes " = VALUE" for an argument with a short text, otherwise nothing. */
static const char *spell(const TVMFFIAny *any, char *text, size_t size)
{
    TVMFFIByteArray bytes = {NULL, 0};
    const struct big *big = find_big(any);
    struct text value;
    text[0] = 0;
    if (any->type_index == kTVMFFIInt)
        snprintf(text, size, " = %lld", (long long)any->v_int64);
    else if (any->type_index == kTVMFFIBool)
        snprintf(text, size, " = %s", any->v_int64 ? "True" : "False");
    else if (any->type_index == kTVMFFIFloat)
        spell_float(any->v_float64, text, size);
    else if (any->type_index == kTVMFFINone)
        snprintf(text, size, " = None");
    else if (any->type_index == kTVMFFIRawStr)
        bytes = (TVMFFIByteArray){any->v_c_str, strlen(any->v_c_str)};
    else if (any->type_index == kTVMFFISmallStr)
        bytes = (TVMFFIByteArray){any->v_bytes, any->small_str_len};
    else if (any->type_index == kTVMFFIStr)
        bytes = *(const TVMFFIByteArray *)(any->v_obj + 1);
    else if (*spell_object(any, 0, &value))
        snprintf(text, size, " = %s", value.text);
    else if (big)
        snprintf(text, size, ", an integer of more than %zu bits,", 64 * (big->nwords - 1) - 1);
    if (bytes.data) {
        copy_text(&value, bytes.data, bytes.size);
        snprintf(text, size, " = '%s'", value.text);
    }
    return text;
}
