local "weather" {
  command = ["bin/plugin"]

  config {
    a = 1
  }
}
