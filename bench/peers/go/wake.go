package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

func wakeAll(n int) (report, error) {
	var (
		waiting int64
		wg      sync.WaitGroup
	)
	wg.Add(n)
	sleepers := make([]chan struct{}, n)
	for i := range sleepers {
		c := make(chan struct{})
		sleepers[i] = c
		go func() {
			atomic.AddInt64(&waiting, 1)
			<-c
			wg.Done()
		}()
	}
	for atomic.LoadInt64(&waiting) < int64(n) {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	start := time.Now()
	for _, c := range sleepers {
		c <- struct{}{}
	}
	wg.Wait()
	return report{nsPerOp: perOp(time.Since(start), n)}, nil
}

// which: 0 median, 1 99th percentile, 2 CPU time.
func timers(n int, which int) (report, error) {
	late := make([]int64, n)
	var wg sync.WaitGroup
	cpu := cpuTime()
	first := time.Now().Add(time.Duration(n) * 4 * time.Microsecond)
	wg.Add(n)
	for i := 0; i < n; i++ {
		place := i * 7919 % n
		go func(i int, deadline time.Time) {
			time.Sleep(time.Until(deadline))
			late[i] = time.Since(deadline).Nanoseconds()
			wg.Done()
		}(i, first.Add(time.Duration(place)*10*time.Microsecond))
	}
	wg.Wait()
	cpu = cpuTime() - cpu
	p50, p99 := percentile(late, 0.5), percentile(late, 0.99)
	if late[0] < 0 {
		return report{}, fmt.Errorf("a task woke before its deadline")
	}
	figures := []float64{float64(p50), float64(p99), perOp(cpu, n)}
	more := fmt.Sprintf(" p50_ns=%d p99_ns=%d cpu_ns=%.1f", p50, p99, figures[2])
	return report{figures[which], more}, nil
}
