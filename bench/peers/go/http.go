package main

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
)

const httpAnswer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, world!"

// How many requests end in these bytes; state is how much of the empty line has been seen.
func httpEnds(state *int, bytes []byte) int {
	found, seen := 0, *state
	for _, b := range bytes {
		if b == "\r\n\r\n"[seen] {
			seen++
		} else if b == '\r' {
			seen = 1
		} else {
			seen = 0
		}
		if seen == 4 {
			found++
			seen = 0
		}
	}
	*state = seen
	return found
}

func httpServe(c net.Conn) {
	defer c.Close()
	bytes := make([]byte, 4096)
	answer := []byte(httpAnswer)
	state := 0
	for {
		n, err := c.Read(bytes)
		if err != nil {
			return
		}
		for requests := httpEnds(&state, bytes[:n]); requests > 0; requests-- {
			if _, err := c.Write(answer); err != nil {
				return
			}
		}
	}
}

func httpAccept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go httpServe(c)
	}
}

func wrkRequests(text string) (requests int, err error) {
	at := strings.Index(text, " requests in ")
	if at < 0 {
		return 0, errors.New("wrk cannot be run (is it installed?)")
	}
	if strings.Contains(text, "Non-2xx") || strings.Contains(text, "Socket errors:") &&
		!strings.Contains(text, "connect 0, read 0, write 0,") {
		return 0, errors.New("wrk saw errors")
	}
	words := strings.Fields(text[:at])
	_, err = fmt.Sscan(words[len(words)-1], &requests)
	if err == nil && requests < 1 {
		err = errors.New("no request was answered")
	}
	return
}

func httpCPU(connections int, seconds int) (report, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return report{}, err
	}
	defer l.Close()
	go httpAccept(l)
	cpu := cpuTime()
	out, _ := exec.Command("wrk", "-t1", fmt.Sprintf("-c%d", connections), fmt.Sprintf("-d%ds", seconds),
		fmt.Sprintf("http://%s/", l.Addr())).CombinedOutput()
	cpu = cpuTime() - cpu
	requests, err := wrkRequests(string(out))
	return report{perOp(cpu, requests), fmt.Sprintf(" requests=%d", requests)}, err
}
