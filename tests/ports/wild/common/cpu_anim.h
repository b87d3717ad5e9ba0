#ifndef __CPU_ANIM_H__
#define __CPU_ANIM_H__
#include "book.h"
#include <iostream>

struct CPUAnimBitmap {
    unsigned char *pixels;
    int width, height;
    void *dataBlock;
    void (*fAnim)(void *, int);
    void (*animExit)(void *);
    int dragStartX, dragStartY;

    CPUAnimBitmap(int w, int h, void *d = NULL) : width(w), height(h), dataBlock(d), animExit()
    {
        pixels = new unsigned char[width * height * 4];
    }
    ~CPUAnimBitmap()
    {
        delete[] pixels;
    }
    unsigned char *get_ptr(void) const
    {
        return pixels;
    }
    long image_size(void) const
    {
        return width * height * 4;
    }
    static CPUAnimBitmap **get_bitmap_ptr(void)
    {
        static CPUAnimBitmap *gBitmap;
        return &gBitmap;
    }
    void anim_and_exit(void (*f)(void *, int), void (*e)(void *))
    {
        CPUAnimBitmap **bitmap = get_bitmap_ptr();
        *bitmap = this;
        fAnim = f;
        animExit = e;
#ifdef HAVE_WINDOW
        int c = 1;
        char *dummy = (char *)"";
        glutInit(&c, &dummy);
        glutInitDisplayMode(GLUT_DOUBLE | GLUT_RGBA);
        glutMainLoop();
#endif
        std::cout << "done" << std::endl;
    }
};
#endif
