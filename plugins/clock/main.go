// Plugin-clock tells the time: in a zone, between zones, between two moments.
package main

import "time"

func main() { newPlugin(time.Now).Main() }
