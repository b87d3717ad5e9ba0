#pragma cf kernel image("none.cubin") blocks(n) out(y[n])
__global__ void missing(float *y, int n);

#pragma cf kernel image("bad_images_cut.ptx") blocks(n) out(y[n])
__global__ void truncated(float *y, int n);

#pragma cf kernel image("bad_images_open.ptx") blocks(n) out(y[n])
__global__ void truncated_later(float *y, int n);

#pragma cf kernel image("bad_images_param.ptx") blocks(n) out(y[n])
__global__ void damaged(float *y, int n);

#pragma cf kernel image("bad_images_target.ptx") blocks(n) out(y[n])
__global__ void without_target(float *y, int n);

#pragma cf kernel image("adopted.cu") blocks(n) out(y[n])
__global__ void no_ptx(float *y, int n);

#pragma cf kernel image("corpus.txt") blocks(n) out(y[n])
__global__ void no_image(float *y, int n);

#pragma cf kernel image("adopted.ptx") entry("scale_f16") blocks(n) out(y[n])
__global__ void other_entry(float *y, int n);

#pragma cf kernel image("adopted.ptx") blocks(n) out(y[n])
__global__ void triangle(float *y, int n);

#pragma cf kernel image("adopted.ptx") entry("scale_f64") blocks(n) in(x[n]) out(y[n])
__global__ void other_size(const float *x, float *y, float a, int n);

#pragma cf kernel image("adopted.ptx") entry("scale_f64") blocks(n) in(x[n]) out(y[n])
__global__ void other_count(const float *x, float *y, int n);

#pragma cf kernel image("adopted.ptx") entry("scale_{S}") blocks(n) out(y[n])
__global__ void other_name(float *y, int n);

#pragma cf kernel image("adopted.ptx") blocks(n) out(y[n])
__global__ void with_body(float *y, int n) {}

#pragma cf kernel image("adopted.ptx") entry("scale_f32") blocks(n) in(x[n]) out(y[n]) host(grid(n))
__global__ void on_cpu(const float *x, float *y, float a, int n);

#pragma cf kernel entry("scale_f32") blocks(n) out(y[n])
__global__ void without_image(float *y, int n);

#pragma cf kernel image(adopted.ptx) blocks(n) out(y[n])
__global__ void without_quotes(float *y, int n);

#pragma cf kernel image("adopted.ptx") entry() blocks(n) out(y[n])
__global__ void without_name(float *y, int n);

#pragma cf kernel image("adopted.ptx") image("adopted.ptx") blocks(n) out(y[n])
__global__ void twice(float *y, int n);

#pragma cf operation image("adopted.ptx") out(y[n]) uses(missing)
void all(float *y, int n);
