plugin "files" {
  command = ["bin/plugin"
}
