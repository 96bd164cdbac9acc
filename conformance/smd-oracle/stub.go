package main

import "bufio"

func runGenerate(args []string, out *bufio.Writer) error { return nil }
func runScenario(args []string, out *bufio.Writer) error { return nil }
