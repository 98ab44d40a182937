package main

import (
	"fmt"
	"sync"
	"time"
)

func chanPingpong(n int) (report, error) {
	ping, pong := make(chan int64), make(chan int64)
	var sum int64
	start := time.Now()
	go func() {
		for i := 0; i < n; i++ {
			pong <- <-ping
		}
	}()
	for i := 0; i < n; i++ {
		ping <- int64(i)
		sum += <-pong
	}
	d := time.Since(start)
	return report{nsPerOp: perOp(d, n)}, checkSum(sum, int64(n))
}

func chanStream(n int, ends int) (report, error) {
	c := make(chan int64, 128)
	share := (n + ends - 1) / ends
	sums := make(chan int64, ends)
	start := time.Now()
	for e := 0; e < ends; e++ {
		go func() {
			var sum int64
			for i := 0; i < share; i++ {
				sum += <-c
			}
			sums <- sum
		}()
		go func(first int64) {
			for i := first; i < first+int64(share); i++ {
				c <- i
			}
		}(int64(e * share))
	}
	var sum int64
	for e := 0; e < ends; e++ {
		sum += <-sums
	}
	d := time.Since(start)
	return report{nsPerOp: perOp(d, share*ends)}, checkSum(sum, int64(share*ends))
}

func mutexEight(n int) (report, error) {
	const lockers = 8
	var (
		mu      sync.Mutex
		counter int
		wg      sync.WaitGroup
	)
	share := (n + lockers - 1) / lockers
	start := time.Now()
	wg.Add(lockers)
	for t := 0; t < lockers; t++ {
		go func() {
			for i := 0; i < share; i++ {
				mu.Lock()
				counter++
				mu.Unlock()
			}
			wg.Done()
		}()
	}
	wg.Wait()
	d := time.Since(start)
	if counter != share*lockers {
		return report{}, fmt.Errorf("wrong count: %d", counter)
	}
	return report{nsPerOp: perOp(d, counter)}, nil
}
