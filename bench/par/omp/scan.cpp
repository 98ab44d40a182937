/* scan.cpp: OpenMP's own reduction(inscan) is several times slower than serial code by g++ 12, and clang++ 14
 * needs the whole array again on its stack; so by hand: a block more than there are threads, so that nobody
 * is idle in either pass. */
#include "omp_par.h"
#include <omp.h>
#include <vector>

/* First the sums of all blocks but the last, the first one scanned at once; then the other blocks. */
void omp_scan(int32_t *to, const int32_t *from, size_t n)
{
    size_t blocks = static_cast<size_t>(omp_get_max_threads()) + 1;
    std::vector<int32_t> sums(blocks);
    auto edge = [=](size_t block) { return n / blocks * block + n % blocks * block / blocks; };
#pragma omp parallel
    {
#pragma omp for schedule(static, 1)
        for (size_t b = 0; b < blocks - 1; b++)
            sums[b] = b == 0 ? scan_range(0, to, from, 0, edge(1))
                             : fold_range(0, from, edge(b), edge(b + 1));
#pragma omp for schedule(static, 1)
        for (size_t b = 1; b < blocks; b++) {
            int32_t before = 0;
            for (size_t i = 0; i < b; i++)
                before += sums[i];
            scan_range(before, to, from, edge(b), edge(b + 1));
        }
    }
}
