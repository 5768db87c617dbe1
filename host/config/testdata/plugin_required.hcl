local "weather" {
  command = ["bin/plugin"]
}
