/* filch.hpp: filch for C++17: lambdas, results, exceptions. A header over the C API, nothing to link but it.
 *
 *     #include <filch.hpp>
 *     #include <cstdio>
 *     #include <vector>
 *
 *     static long fib(int n)
 *     {
 *         if (n < 20) return n < 2 ? n : fib(n - 1) + fib(n - 2);
 *         auto [a, b] = filch::join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
 *         return a + b;
 *     }
 *     int main()
 *     {
 *         std::vector<double> v(1000000, 2.);
 *         filch::parallel_for(0, v.size(), [&](std::size_t i) { v[i] *= .5; });
 *         double sum = filch::reduce(0, v.size(), 0., [&](std::size_t i) { return v[i]; }, std::plus<>());
 *         std::printf("%g %ld\n", sum, fib(30));
 *     }
 *
 * Exceptions. What a lambda throws is caught where it was called, on whatever thread; the first is kept, what
 * has not begun is left out, and it is thrown again from the call that waits: join, run, parallel_for,
 * for_each, reduce, find, sort, task::join, scope::close. A go() that throws ends the program, as a
 * std::thread would. Errors of the library are thrown as filch::error (a std::system_error), -ECANCELED
 * as its child canceled_error: never is a result returned that is not complete.
 *
 * Threads. Calls that may wait may resume on another thread, and so may the lambdas that they call: join,
 * run, parallel_for, for_each, reduce, reduce_fixed, find_any, find_first, sort, stable_sort, task::wait,
 * task::join, ~task, scope::close, ~scope, channel::send, channel::recv, carry. All others stay where they
 * are. Inside filch::pinned nothing moves. Threads outside every pool never move.
 *
 * Waiting in a catch block, or in a destructor while an exception is on its way. The calls above may be used
 * there: they take along what the language keeps per thread about exceptions. Waits of the C API do not
 * know about it: say filch::carry([&] { return filch_sleep_ns(1000); }) there.
 *
 * Lambdas are called by several threads at once, as they are: what they share is theirs to protect. Small
 * ones that can be called as const and copied as bytes are copied for each piece of a loop, so that the
 * compiler sees what they captured by value.
 */
#ifndef FILCH_HPP
#define FILCH_HPP

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "filch.hpp needs C++17"
#endif

#include <filch/cpp/join.hpp>
#include <filch/cpp/loop.hpp>
#include <filch/cpp/reduce.hpp>
#include <filch/cpp/sort.hpp>
#include <filch/cpp/task.hpp>

#endif /* FILCH_HPP */
