package plugin_test

const hostVar = "TEST_HOST"

func serveHost(string) int { return 0 }
