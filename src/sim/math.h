/* math.h: log, exp and the normal distribution from + - * / alone.
 *
 * libm may give other bits with each version, and a compiler may contract a * b + c. What becomes a time
 * or a printed figure is computed here, in a fixed order, in files compiled with -ffp-contract=off: then
 * gcc and clang give the same bits at every level.
 */
#ifndef FILCH_SIM_MATH_H
#define FILCH_SIM_MATH_H

#define SIM_PI 3.14159265358979323846
#define SIM_INFINITY __builtin_inf()
#define SIM_NAN __builtin_nan("")

/* IEEE 754 makes this one exact to the last bit. */
static inline double sim_sqrt(double x)
{
    return __builtin_sqrt(x);
}

double sim_log(double x);           /* within 1 ulp; -inf for 0, NaN below */
double sim_log1p(double x);         /* log(1 + x), within 4 ulp */
double sim_exp(double x);           /* within 1 ulp; inf above 709.78, 0 below -745.14 */
double sim_pow(double x, double y); /* x >= 0, as exp(y log x): relative error (1 + |y log x|) * 2^-52 */

double sim_normal_cdf(double x);      /* relative error below 2e-13 for x > -37 */
double sim_normal_quantile(double p); /* relative error below 1e-14; -inf for 0, inf for 1, NaN outside */

#endif
