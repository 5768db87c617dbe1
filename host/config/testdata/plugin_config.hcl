variable "pin" {
  sensitive = true
  default   = "hunter2"
}

local "weather" {
  command = ["bin/plugin"]

  config {
    endpoint  = "http://api.example.com"
    timeout_s = 9000
    retires   = 3
    password  = "hunter3"
    pin       = var.pin
    retry {
      max     = "4"
      backoff = "expo"
    }
    header {
      name = "X-A"
    }
    header {
      valu = "b"
    }
    labels = {
      team = "core"
      prio = [1, 2]
    }
    site "a" {
      url = 3
    }
    site "b" {
      url = "b"
    }
    mode = { kind = "x" }
  }
}
