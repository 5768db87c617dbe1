// Plugin-files reads, lists and searches files below configured folders, and nothing else.
package main

func main() { newPlugin().Main() }
