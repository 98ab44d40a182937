/* lambdas.cpp: filch.hpp on a text: counts its words, finds one, and asks some tasks about them.
 * usage: lambdas [WORDS] */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filch.hpp>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

using counts = std::map<std::string, long>;

/* Words of letters that look drawn at random, the same in each run. */
static std::vector<std::string> make_words(std::size_t n)
{
    std::vector<std::string> words(n);
    filch::parallel_for(0, n, [&](std::size_t i) {
        std::size_t x = (i + 1) * 2654435761u % 5000;
        for (; x > 0; x /= 10)
            words[i] += static_cast<char>('a' + x % 10);
    });
    return words;
}

/* Any type can be a sum: here each worker fills a map of its own, and those that meet are put together. */
static counts count(const std::vector<std::string> &words)
{
    auto add = [&](counts &c, std::size_t i) { c[words[i]]++; };
    auto join = [](counts &left, const counts &right) {
        for (auto &[word, n] : right)
            left[word] += n;
    };
    return filch::reduce(0, words.size(), counts(), add, join);
}

/* Both halves at once; the lengths come back as a pair. */
static std::size_t letters(const std::string *words, std::size_t n)
{
    if (n < 1000) {
        std::size_t sum = 0;
        for (std::size_t i = 0; i < n; i++)
            sum += words[i].size();
        return sum;
    }
    auto [left, right] = filch::join([=] { return letters(words, n / 2); },
                                     [=] { return letters(words + n / 2, n - n / 2); });
    return left + right;
}

/* What a body throws arrives at the loop's caller; the rest of the loop is left out. */
static bool all_lower_case(const std::vector<std::string> &words)
{
    try {
        filch::for_each(words, [](const std::string &word) {
            for (char letter : word)
                if (letter < 'a' || letter > 'z')
                    throw std::invalid_argument(word);
        });
    } catch (const std::invalid_argument &) {
        return false;
    }
    return true;
}

/* Tasks that end before the block does, and a channel between them. */
static long longest(const std::vector<std::string> &words)
{
    filch::channel<std::string> found(4);
    filch::scope s;
    s.go("finder", [&] {
        for (std::size_t i = 0; i < words.size(); i += words.size() / 10 + 1)
            found.send(words[i]);
        found.close();
    });
    auto most = filch::spawn([&] {
        long most_letters = 0;
        while (auto word = found.recv())
            most_letters = std::max(most_letters, static_cast<long>(word->size()));
        return most_letters;
    });
    if (s.close() != 0)
        return -1;
    return most.join();
}

int main(int argc, char **argv)
{
    std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100000;
    auto words = make_words(n);
    auto c = count(words);
    auto first = filch::find_first(0, n, [&](std::size_t i) { return words[i].size() == 1; });
    std::printf("%zu words, %zu different, %zu letters\n", n, c.size(), letters(words.data(), n));
    std::printf("lower case: %s\n", all_lower_case(words) ? "yes" : "no");
    std::printf("longest of ten: %ld\n", longest(words));
    if (first)
        std::printf("the first of one letter is number %zu, %s\n", *first, words[*first].c_str());
    long sum = 0;
    for (auto &[word, times] : c)
        sum += times;
    return sum == static_cast<long>(n) ? 0 : 1;
}
