/* stencil.h - the computation of one point, for the kernel and the plain loop of main.c. */
#ifndef STENCIL_H
#define STENCIL_H

#define STENCIL(u, at, width) \
    ((u)[at] + (WEIGHT) * ((u)[(at)-1] + (u)[(at) + 1] + (u)[(at) - (width)] + (u)[(at) + (width)] - 4 * (u)[at]))

#endif
