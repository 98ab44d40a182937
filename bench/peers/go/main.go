// filch-bench-go CASE WORKERS MODE [SIZE]: the cases of tasks/cases.h in Go. Prints one line of
// key=value. Exit status 0; 1 if a result is wrong; 2 if the request makes no sense.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"syscall"
	"time"
)

const (
	repeatMin    = 2
	repeatMax    = 5
	repeatBudget = time.Second
)

type report struct {
	nsPerOp float64
	more    string // further figures, as " key=value"
}

var cases = map[string]struct {
	size int
	run  func(size int) (report, error)
	once bool
}{
	"spawn":         {1000000, spawnMany, false},
	"spawn_join":    {1000000, spawnJoin, false},
	"skynet":        {1000000, spawnSkynet, false},
	"yield":         {1000000, yieldTwo, false},
	"pingpong":      {500000, chanPingpong, false},
	"chan_1_1":      {2000000, func(n int) (report, error) { return chanStream(n, 1) }, false},
	"chan_4_4":      {2000000, func(n int) (report, error) { return chanStream(n, 4) }, false},
	"mutex":         {2000000, mutexEight, false},
	"wake":          {100000, wakeAll, false},
	"timer_p50":     {100000, func(n int) (report, error) { return timers(n, 0) }, true},
	"timer_p99":     {100000, func(n int) (report, error) { return timers(n, 1) }, true},
	"timer_cpu":     {100000, func(n int) (report, error) { return timers(n, 2) }, true},
	"latency_in":    {10000, latencyIn, false},
	"latency_out":   {10000, latencyOut, false},
	"http_cpu_64":   {3, func(n int) (report, error) { return httpCPU(64, n) }, true},
	"http_cpu_1000": {3, func(n int) (report, error) { return httpCPU(1000, n) }, true},
}

func perOp(d time.Duration, n int) float64 {
	return float64(d.Nanoseconds()) / float64(n)
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Sorts the samples.
func percentile(samples []int64, fraction float64) int64 {
	sort.Slice(samples, func(i, j int) bool { return samples[i] < samples[j] })
	return samples[int(fraction*float64(len(samples)-1))]
}

func checkSum(sum int64, n int64) error {
	if want := n * (n - 1) / 2; sum != want {
		return fmt.Errorf("wrong sum: %d, expected %d", sum, want)
	}
	return nil
}

func refuse(status int, what string) {
	fmt.Fprintln(os.Stderr, what)
	os.Exit(status)
}

func main() {
	if len(os.Args) < 4 || len(os.Args) > 5 {
		refuse(2, "usage: CASE WORKERS MODE [SIZE]")
	}
	c, known := cases[os.Args[1]]
	workers, err := strconv.Atoi(os.Args[2])
	if !known || err != nil || workers < 1 || os.Args[3] != "default" {
		refuse(2, "no such case, number of workers or mode")
	}
	size := c.size
	if len(os.Args) > 4 {
		if size, err = strconv.Atoi(os.Args[4]); err != nil || size < 1 {
			refuse(2, "no such size")
		}
	}
	runtime.GOMAXPROCS(workers)
	var best report
	runs := 0
	end := time.Now().Add(repeatBudget)
	for runs == 0 || !c.once && runs < repeatMax && (runs < repeatMin || time.Now().Before(end)) {
		r, err := c.run(size)
		if err != nil {
			refuse(1, err.Error())
		}
		if runs == 0 || r.nsPerOp < best.nsPerOp {
			best = r
		}
		runs++
	}
	fmt.Printf("ns_per_op=%.4f size=%d repetitions=%d%s runtime_version=%s\n",
		best.nsPerOp, size, runs, best.more, runtime.Version())
}
