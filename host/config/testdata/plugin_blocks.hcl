local "weather" {
  command = ["bin/plugin"]

  config {
    retry {
      max = 1
    }
    retry {
      max = 2
    }
    retry "x" {}
    site "b" {
      url = "b"
    }
    site "b" {
      url = "c"
    }
    header = []
    header {
      name = "x"
    }
    region = env("NO_SUCH_REGION", "eu")
  }
}
