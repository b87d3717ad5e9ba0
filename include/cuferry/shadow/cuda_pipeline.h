/* cuda_pipeline.h - replaces the toolkit's cuda_pipeline.h when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUDA_PIPELINE_H
#define CUFERRY_CUDA_PIPELINE_H

#include "cuda_pipeline_primitives.h"

#endif
