# var: tokn=x
# var: count=many
# env: MCPHOST_VAR_list=["a",
variable "token" {
  sensitive = true
}

variable "count" {
  type = number
}

variable "list" {
  type = list(string)
}

variable "wrong" {
  type    = number
  default = "x"
}

variable "wrong" {}

variable "chained" {
  default = var.count
}

plugin "files" {
  command = ["bin/plugin", var.tokn, var.token, path.hom, nothing]

  config {
    key = var.missing
  }
}

local "demo" {
  plugins = ["files"]
}
