package mcp

type pages struct{}
