int double_all(int *x, int n);
int plugin(int *x, int n);

int plugin(int *x, int n)
{
    return double_all(x, n) || double_all(x, n);
}
