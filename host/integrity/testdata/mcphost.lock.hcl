# This file is maintained by "mcphost lock", which shows what changed before it
# accepts it. Do not edit it by hand: a definition that does not match its digest
# is refused. Keep it with the configuration, under version control.

plugin "clock" {
  version = "1.0"

  sha256 = {
    linux_amd64 = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    plan9_arm   = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
  }

  instructions {
    sha256     = "3d11f51c628c81cc12cbaf2264d15c42d1bdbe3a28069f4a2d3eef1d6e100d96"
    definition = <<-JSON
      {
        "instructions": "Zones are\nIANA names."
      }
    JSON
  }

  tool "hostile" {
    sha256     = "7b6e59d81f7a2710c79eda0cb8e0f8acbee93a5f0a38ba544066d70c43725d6b"
    definition = <<-JSON
      {
        "description": "ends: \"\n    JSON\n}\nplugin \u0024{env(\"HOME\")} \u0025{ if true } $\u0024{x} \u202egnp\u200b \udb40\udc41 e\u0301 \u0007",
        "inputSchema": {
          "type": "object"
        },
        "name": "hostile"
      }
    JSON
  }

  tool "now" {
    sha256     = "6200ee7d4f956270be36ed46ea3ffb87f12e7653c10913379965aadbdefa593f"
    definition = <<-JSON
      {
        "annotations": {
          "readOnlyHint": true
        },
        "description": "The time.",
        "inputSchema": {
          "type": "object"
        },
        "name": "now"
      }
    JSON
  }
}

plugin "files" {
  files = {
    any_other = "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }

  # Its resources come and go: they are not pinned.
  open_resources = true

  resource_template "file:///{path}" {
    sha256     = "d0f0add7237de161c546ea46b3d92e997a8ee4a9b7555dbc2bac52816e19dab9"
    definition = <<-JSON
      {
        "name": "f",
        "uriTemplate": "file:///{path}"
      }
    JSON
  }

  resource_template "odd:///%%{a}/$${b}/$$${c}/é/\u202e/\U000e0041/'" {
    sha256     = "0e1cd7cc090fa60b1b9ea011b4c14b9e9f89d0e1fc9d63db38ec0f3055c7d5d4"
    definition = <<-JSON
      {
        "name": "f",
        "uriTemplate": "odd:///\u0025{a}/\u0024{b}/$\u0024{c}/e\u0301/\u202e/\udb40\udc41/'"
      }
    JSON
  }
}
