package main

/*
void outside_run(int n, long gap_ns);
long outside_clock(void);
*/
import "C"

import (
	"fmt"
	"sync"
	"time"
)

const latencyGap = 20 * time.Microsecond

func latencyReport(ns []int64) report {
	p50 := percentile(ns, 0.5)
	return report{float64(p50), fmt.Sprintf(" p99_ns=%d", percentile(ns, 0.99))}
}

func latencyIn(n int) (report, error) {
	ns := make([]int64, n)
	var wg sync.WaitGroup
	wg.Add(n)
	for i := 0; i < n; i++ {
		now := time.Now()
		go func(i int) {
			ns[i] = time.Since(now).Nanoseconds()
			wg.Done()
		}(i)
		for time.Since(now) < latencyGap {
		}
	}
	wg.Wait()
	return latencyReport(ns), nil
}

// What the thread outside shares with the tasks that it starts.
var outside struct {
	ns     []int64
	wg     sync.WaitGroup
	origin time.Time // when C's clock was at zero
}

// C's and Go's monotonic clocks differ by a constant: read both, as close together as it gets.
func outsideOrigin() time.Time {
	var origin time.Time
	closest := time.Hour
	for i := 0; i < 1000; i++ {
		before := time.Now()
		c := time.Duration(C.outside_clock())
		if d := time.Since(before); d < closest {
			closest = d
			origin = before.Add(d/2 - c)
		}
	}
	return origin
}

// Called by a thread of C, which may not keep anything of Go's.
//
//export outsideSpawn
func outsideSpawn(i C.int, spawned C.long) {
	go func() {
		outside.ns[i] = time.Since(outside.origin).Nanoseconds() - int64(spawned)
		outside.wg.Done()
	}()
}

func latencyOut(n int) (report, error) {
	outside.ns = make([]int64, n)
	outside.wg.Add(n)
	outside.origin = outsideOrigin()
	C.outside_run(C.int(n), C.long(latencyGap.Nanoseconds()))
	outside.wg.Wait()
	return latencyReport(outside.ns), nil
}
