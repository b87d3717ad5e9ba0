/* stencil.h - what the kernel and the plain loop of main.c compute for one point. */
#ifndef STENCIL_H
#define STENCIL_H

#define STENCIL(u, at, width) \
    ((u)[at] + (WEIGHT) * ((u)[(at)-1] + (u)[(at) + 1] + (u)[(at) - (width)] + (u)[(at) + (width)] - 4 * (u)[at]))

#endif
